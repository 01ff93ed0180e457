package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

type sendCommand struct {
	clientFlags
	From    string   `help:"Sender." required:""`
	To      []string `help:"Recipients." required:""`
	Subject string   `help:"Subject." required:""`
	Text    string   `help:"Text; standard input if absent."`
}

// Run sends one email and prints the server's answer.
func (c sendCommand) Run(ctx context.Context) error {
	if c.Text == "" {
		raw, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		c.Text = string(raw)
	}
	answer, err := c.call(ctx, http.MethodPost, "/emails", map[string]any{"from": c.From, "to": c.To, "subject": c.Subject, "text": c.Text})
	if err != nil {
		return err
	}
	fmt.Println(string(bytes.TrimSpace(answer)))
	return nil
}
