package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

type sendCommand struct {
	From    string   `help:"Sender." required:""`
	To      []string `help:"Recipients." required:""`
	Subject string   `help:"Subject." required:""`
	Text    string   `help:"Text; standard input if absent."`
	Key     string   `help:"API key." required:"" env:"POSTRIDER_API_KEY"`
	URL     string   `name:"url" help:"Address of the server." default:"http://127.0.0.1:8025" env:"POSTRIDER_URL"`
}

// sendTimeout is how long the server may take to accept one email.
const sendTimeout = 30 * time.Second

// Run sends one email and prints the server's answer.
func (c sendCommand) Run(ctx context.Context) error {
	if c.Text == "" {
		raw, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		c.Text = string(raw)
	}
	body, err := json.Marshal(map[string]any{"from": c.From, "to": c.To, "subject": c.Subject, "text": c.Text})
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, sendTimeout)
	defer done()
	base := strings.TrimSuffix(strings.TrimRight(c.URL, "/"), "/v1")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/emails", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the server refused (%d): %s", answer.StatusCode, raw)
	}
	fmt.Println(string(raw))
	return nil
}
