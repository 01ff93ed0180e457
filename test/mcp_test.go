package test

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The reference client speaks to the built program, as an assistant would.
func TestAnAssistantSendsAnEmailAndAsksWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	p := dev(t)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(path, "mcp", "--key", p.APIKey, "--url", p.HTTP)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) < 8 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	ask := func(tool string, arguments map[string]any) (answer map[string]any, failed bool) {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		_ = json.Unmarshal([]byte(text), &answer) // a refusal is a sentence
		return answer, result.IsError
	}
	sent, failed := ask("send_email", map[string]any{"from": "hello@acme.test", "to": []string{"ann@example.net"}, "subject": "Hi", "text": "Hello"})
	if failed {
		t.Fatalf("%v", sent)
	}
	id := sent["id"].(string)
	until(t, deliveredWithin, "delivery", func() bool {
		email, _ := ask("get_email", map[string]any{"id": id})
		return email["status"] == "delivered"
	})
	if list, _ := ask("list_emails", map[string]any{"search": "ann@example.net", "limit": 5}); len(list["data"].([]any)) != 1 {
		t.Errorf("list is %v", list)
	}
	if _, failed := ask("send_email", map[string]any{"from": "x@elsewhere.test", "to": []string{"a@example.net"}, "subject": "x", "text": "x"}); !failed {
		t.Error("mail from a domain of nobody was taken")
	}
}
