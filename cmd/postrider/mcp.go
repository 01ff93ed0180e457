package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"postrider/client"
)

// mcpCommand lets an assistant use the API: it speaks the Model Context Protocol on standard input and output, and every tool is
// one call with the rights of the key.
type mcpCommand struct{ clientFlags }

// Run serves until the other side hangs up.
func (c mcpCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	server, err := c.server(ctx)
	if err != nil {
		return err
	}
	return server.Run(ctx, &mcp.StdioTransport{})
}

const mcpInstructions = "Postrider sends and receives email. Send only from a domain that list_domains says is verified. " +
	"Mail is delivered after send_email has answered: ask get_email what became of it, and list_attempts why it did not arrive. " +
	"Give send_email an idempotency_key whenever you might call it twice for the same message."

// server offers the tools that the key may use.
func (c mcpCommand) server(ctx context.Context) (*mcp.Server, error) {
	api := client.New(c.URL, c.Key, client.WithUserAgent("postrider-mcp"))
	rights, err := learnRights(ctx, api)
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "postrider", Title: "Postrider", Version: "1"}, &mcp.ServerOptions{Instructions: mcpInstructions})
	for _, t := range slices.Concat(mailTools(), domainTools(), templateTools(), audienceTools(), insightTools(), webhookTools()) {
		if rights.allow(t.route) {
			t.add(server, api)
		}
	}
	return server, nil
}

// rights are what a key may do.
type rights struct {
	// needs are the scopes of each route, such as "GET /emails/{id}".
	needs map[string][]string
	lacks map[string]bool
}

func (r rights) allow(route string) bool {
	return !slices.ContainsFunc(r.needs[route], func(scope string) bool { return r.lacks[scope] })
}

// signedIn stands among the needs of routes for what no key has.
const signedIn = "a session of the dashboard"

// nobody is an id that nothing has: what is asked of it cannot be done, but whether one may ask is told.
const nobody = "00000000-0000-7000-8000-000000000000"

// learnRights finds out which scopes the key has. The server does not list them, so one route of each scope is asked about nobody:
// a key without the scope is told so before anything is looked for.
func learnRights(ctx context.Context, api *client.Client) (rights, error) {
	r := rights{needs: map[string][]string{}, lacks: map[string]bool{signedIn: true}}
	if _, err := api.Limits.Get(ctx); err != nil && client.CodeOf(err) != "insufficient_scope" {
		var refused *client.Error
		if errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden) {
			err = fmt.Errorf("%w: %w", errUnauthorized, err)
		}
		return r, fmt.Errorf("ask the server whether the key is good: %w", err)
	}
	raw, err := api.Openapi.Get(ctx)
	if err != nil {
		return r, fmt.Errorf("read what the server offers: %w", err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			Scopes   []string         `json:"x-scopes"`
			Security []map[string]any `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(*raw, &document); err != nil {
		return r, fmt.Errorf("read what the server offers: %w", err)
	}
	probes := map[string]probe{}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			asked, op := probe{strings.ToUpper(method), path}, document.Paths[path][method]
			scopes := op.Scopes
			if !slices.ContainsFunc(op.Security, func(way map[string]any) bool { return way["key"] != nil }) {
				scopes = append([]string{signedIn}, scopes...)
			}
			r.needs[asked.method+" "+strings.TrimPrefix(path, "/v1")] = scopes
			if len(scopes) == 1 && scopes[0] != signedIn && strings.Contains(path, "{") && asked.gentler(probes[scopes[0]]) {
				probes[scopes[0]] = asked
			}
		}
	}
	for scope, asked := range probes {
		_, err := api.Call(ctx, asked.method, ofNobody(asked.path), nil)
		r.lacks[scope] = client.CodeOf(err) == "insufficient_scope"
	}
	return r, nil
}

// probe is a request that asks about nobody.
type probe struct{ method, path string }

// gentler prefers to read, and otherwise what comes first.
func (p probe) gentler(than probe) bool {
	return than.method == "" || p.method == http.MethodGet && than.method != http.MethodGet
}

// ofNobody puts nobody into all parameters of a path.
func ofNobody(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = nobody
		}
	}
	return strings.Join(parts, "/")
}

// tool is one thing an assistant can do: a name, a sentence, and the route behind it, without the /v1.
type tool struct {
	route string
	add   func(*mcp.Server, *client.Client)
}

// request is what a tool asks of the API: the parameters of the path in order, the query and the body.
type request struct {
	path  []string
	query url.Values
	body  any
}

// offer describes a tool. What the server refuses is told to the assistant, which can mend it.
func offer[In any](name, route, description string, of func(In) request) tool {
	method, path, _ := strings.Cut(route, " ")
	hints := &mcp.ToolAnnotations{ReadOnlyHint: method == http.MethodGet, DestructiveHint: new(method == http.MethodDelete), OpenWorldHint: new(method != http.MethodGet)}
	return tool{route, func(server *mcp.Server, api *client.Client) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: description, Annotations: hints}, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			asked := of(in)
			if slices.Contains(asked.path, "") {
				return nil, nil, errors.New("the id is empty")
			}
			target := "/v1" + filled(path, asked.path)
			if len(asked.query) > 0 {
				target += "?" + asked.query.Encode()
			}
			raw, err := api.Call(ctx, method, target, asked.body)
			if err != nil {
				return nil, nil, err
			}
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return nil, nil, fmt.Errorf("the answer is no JSON: %w", err)
			}
			return nil, value, nil
		})
	}}
}

// filled puts values into the parameters of a path.
func filled(path string, values []string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") && len(values) > 0 {
			parts[i], values = url.PathEscape(values[0]), values[1:]
		}
	}
	return strings.Join(parts, "/")
}
