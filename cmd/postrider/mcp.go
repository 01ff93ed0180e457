package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCommand lets an assistant use the API: it speaks the Model Context Protocol on standard input and output, and every tool is
// one call with the rights of the key.
type mcpCommand struct{ clientFlags }

// Run serves until the other side hangs up.
func (c mcpCommand) Run(ctx context.Context) error { return c.server().Run(ctx, &mcp.StdioTransport{}) }

func (c mcpCommand) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "postrider", Title: "Postrider", Version: "1"}, nil)
	addTool(server, c, "send_email", "Send an email from a verified domain. Returns the id to ask for its status by.",
		func(in sendArgs) call { return call{http.MethodPost, "/emails", in} })
	addTool(server, c, "get_email", "Get an email with its status, its recipients and the timeline of what became of it.",
		func(in idArgs) call { return call{http.MethodGet, "/emails/" + url.PathEscape(in.ID), nil} })
	addTool(server, c, "list_emails", "List emails, newest first, filtered by words, status or recipient.",
		func(in listArgs) call { return call{http.MethodGet, "/emails?" + in.query(), nil} })
	addTool(server, c, "list_attempts", "List the delivery attempts of an email with the answers of the recipients' servers.",
		func(in idArgs) call {
			return call{http.MethodGet, "/emails/" + url.PathEscape(in.ID) + "/attempts", nil}
		})
	addTool(server, c, "reschedule_email", "Move a scheduled email to another time.",
		func(in rescheduleArgs) call {
			return call{http.MethodPatch, "/emails/" + url.PathEscape(in.ID), map[string]string{"scheduled_at": in.ScheduledAt}}
		})
	addTool(server, c, "cancel_email", "Cancel a scheduled email. It will not be sent.",
		func(in idArgs) call {
			return call{http.MethodPost, "/emails/" + url.PathEscape(in.ID) + "/cancel", nil}
		})
	addTool(server, c, "check_spam", "Find out how much a draft looks like spam and what to change. Nothing is sent.",
		func(in spamArgs) call { return call{http.MethodPost, "/emails/spam-check", in} })
	addTool(server, c, "list_domains", "List sending domains and whether they are verified.",
		func(noArgs) call { return call{http.MethodGet, "/domains", nil} })
	addTool(server, c, "get_domain", "Get a sending domain with the DNS records it needs and what was found.",
		func(in idArgs) call { return call{http.MethodGet, "/domains/" + url.PathEscape(in.ID), nil} })
	addTool(server, c, "verify_domain", "Look at the DNS records of a domain again.",
		func(in idArgs) call {
			return call{http.MethodPost, "/domains/" + url.PathEscape(in.ID) + "/verify", nil}
		})
	return server
}

// call is what a tool asks of the API.
type call struct {
	method, path string
	body         any
}

type noArgs struct{}

type idArgs struct {
	ID string `json:"id" jsonschema:"id of the email or domain"`
}

type sendArgs struct {
	From           string   `json:"from" jsonschema:"sender, plain or as Name <address>"`
	To             []string `json:"to" jsonschema:"recipients"`
	Cc             []string `json:"cc,omitempty"`
	Bcc            []string `json:"bcc,omitempty"`
	ReplyTo        []string `json:"reply_to,omitempty"`
	Subject        string   `json:"subject"`
	Text           string   `json:"text,omitempty" jsonschema:"plain text; one of text and html is needed"`
	HTML           string   `json:"html,omitempty"`
	ScheduledAt    string   `json:"scheduled_at,omitempty" jsonschema:"RFC 3339, or like 'in 10 minutes'"`
	IdempotencyKey string   `json:"idempotency_key,omitempty" jsonschema:"8 to 128 characters; the same key sends once"`
}

type listArgs struct {
	Search string `json:"search,omitempty" jsonschema:"words in the subject, addresses or id"`
	Status string `json:"status,omitempty" jsonschema:"such as delivered, bounced, scheduled"`
	To     string `json:"to,omitempty" jsonschema:"part of a recipient's address"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most 200"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

func (a listArgs) query() string {
	values := url.Values{}
	for name, value := range map[string]string{"search": a.Search, "status": a.Status, "to": a.To, "cursor": a.Cursor} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if a.Limit > 0 {
		values.Set("limit", strconv.Itoa(a.Limit))
	}
	return values.Encode()
}

type rescheduleArgs struct {
	ID          string `json:"id" jsonschema:"id of the email"`
	ScheduledAt string `json:"scheduled_at" jsonschema:"RFC 3339, or like 'in 10 minutes'"`
}

type spamArgs struct {
	From    string `json:"from"`
	Subject string `json:"subject"`
	Text    string `json:"text,omitempty"`
	HTML    string `json:"html,omitempty"`
}

// addTool offers one call. What the server refuses is told to the assistant, which can mend it.
func addTool[In any](server *mcp.Server, c mcpCommand, name, description string, of func(In) call) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description}, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		what := of(in)
		answer, err := c.call(ctx, what.method, what.path, what.body)
		if err != nil {
			return nil, nil, err
		}
		var value any
		if err := json.Unmarshal(answer, &value); err != nil {
			return nil, nil, err
		}
		return nil, value, nil
	})
}
