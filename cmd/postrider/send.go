package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	JSON    bool     `name:"json" help:"Print the server's answer as it is."`
}

// Run sends one email and says under which id it was accepted.
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
	if c.JSON {
		fmt.Println(string(bytes.TrimSpace(answer)))
		return nil
	}
	var accepted struct{ ID, Status string }
	if err := json.Unmarshal(answer, &accepted); err != nil {
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	fmt.Printf("Accepted as %s (%s).\n", accepted.ID, accepted.Status)
	return nil
}
