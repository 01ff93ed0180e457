package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"postrider/product/webhook"
)

// listenCommand gives a developer live, signed events without a public address.
type listenCommand struct {
	clientFlags
	Forward string   `help:"Address to post events to, such as http://localhost:3000/hook." required:""`
	Events  []string `help:"Names of events, or families such as email.*; all if absent."`
	JSON    bool     `name:"json" help:"Print a line of JSON for each event and for what happens to the connection."`
}

// say tells of one thing that happened: in words for people, as a line of JSON for programs.
func (c listenCommand) say(facts map[string]any, words string, args ...any) {
	if c.JSON {
		_ = printJSON(facts) // whoever reads it has gone
		return
	}
	fmt.Printf(words+"\n", args...)
}

const (
	// reconnectAfter is how long to wait before a lost stream is opened again.
	reconnectAfter = 2 * time.Second
	// forwardWithin is how long the developer's program may take, as a webhook's may.
	forwardWithin = 15 * time.Second
	// maxEventLine is more than any event has.
	maxEventLine = 1 << 20
)

// Run forwards until it is interrupted. After a break it goes on where it was.
func (c listenCommand) Run(ctx context.Context) error {
	if target, err := url.Parse(c.Forward); err != nil || !isAddress(target) {
		return mistake("forward", c.Forward, "must be an address, such as http://localhost:3000/hook")
	}
	forwarder := webhook.NewForwarder(quietWorld())
	c.say(map[string]any{"forward": c.Forward, "secret": forwarder.Secret()}, "Forwarding events to %s\nSigned with the secret %s\n", c.Forward, forwarder.Secret())
	last := ""
	for {
		err := c.follow(ctx, forwarder, &last)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, errRefused), exitCode(err) == exitUsage:
			return err
		}
		c.say(map[string]any{"lost": fmt.Sprint(err)}, "connection lost (%v), trying again", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reconnectAfter):
		}
	}
}

// follow reads one stream to its end.
func (c listenCommand) follow(ctx context.Context, forwarder webhook.Forwarder, last *string) error {
	request, err := c.request(ctx, http.MethodGet, "/events/stream?"+url.Values{"type": c.Events}.Encode(), nil)
	if err != nil {
		return err
	}
	if *last != "" {
		request.Header.Set("Last-Event-ID", *last)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 == 4 && answer.StatusCode != http.StatusTooManyRequests {
		raw, _ := io.ReadAll(io.LimitReader(answer.Body, maxEventLine))
		return refusal(answer.StatusCode, raw)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxEventLine)
	id := ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "":
			if value == "listening" {
				c.say(map[string]any{"listening": true}, "Listening.")
			}
		case "id":
			id = value
		case "data":
			c.forward(ctx, forwarder, value)
			*last = id
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}

// forward posts one event and says how it went. There is no second try: the developer is watching.
func (c listenCommand) forward(ctx context.Context, forwarder webhook.Forwarder, body string) {
	var event struct{ ID, Type string }
	if err := json.Unmarshal([]byte(body), &event); err != nil {
		c.say(map[string]any{"error": err.Error()}, "an event that cannot be read: %v", err)
		return
	}
	ctx, done := context.WithTimeout(ctx, forwardWithin)
	defer done()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Forward, strings.NewReader(body))
	if err != nil {
		c.say(map[string]any{"type": event.Type, "id": event.ID, "error": err.Error()}, "%v", err)
		return
	}
	start := time.Now()
	request.Header = forwarder.Header(event.Type, event.ID, start, body)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.say(map[string]any{"type": event.Type, "id": event.ID, "error": err.Error()}, "%s  %s  %v", start.Format(time.TimeOnly), event.Type, err)
		return
	}
	answer.Body.Close()
	took := time.Since(start).Milliseconds()
	c.say(map[string]any{"type": event.Type, "id": event.ID, "status": answer.StatusCode, "took_ms": took},
		"%s  %s  %s  %s  %d ms", start.Format(time.TimeOnly), event.Type, event.ID, answer.Status, took)
}
