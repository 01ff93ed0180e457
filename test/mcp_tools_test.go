package test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// assistant is the reference client, connected to the built program.
type assistant struct {
	t       *testing.T
	session *mcp.ClientSession
}

func newAssistant(t *testing.T, p *process, key string) *assistant {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: exec.Command(path, "mcp", "--key", key, "--url", p.HTTP)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &assistant{t, session}
}

func (a *assistant) tools() map[string]*mcp.Tool {
	a.t.Helper()
	list, err := a.session.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	named := map[string]*mcp.Tool{}
	for _, t := range list.Tools {
		named[t.Name] = t
	}
	return named
}

// ask returns the answer of a tool, or the sentence of a refusal.
func (a *assistant) ask(tool string, arguments map[string]any) (answer map[string]any, refusal string) {
	a.t.Helper()
	result, err := a.session.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return nil, text
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		a.t.Fatalf("%s answered %q", tool, text)
	}
	return answer, ""
}

// must asks for something that has to work.
func (a *assistant) must(tool string, arguments map[string]any) map[string]any {
	a.t.Helper()
	answer, refusal := a.ask(tool, arguments)
	if refusal != "" {
		a.t.Fatalf("%s: %s", tool, refusal)
	}
	return answer
}

type given = map[string]any

func byID(answer given) given { return given{"id": answer["id"]} }

func TestAnAssistantCanUseEveryTool(t *testing.T) {
	t.Parallel()
	p := dev(t)
	a := newAssistant(t, p, p.APIKey)
	used := map[string]bool{}
	do := func(tool string, arguments given) given {
		t.Helper()
		used[tool] = true
		return a.must(tool, arguments)
	}
	sent := do("send_email", given{"from": "hello@acme.test", "to": []string{"ann@example.net"}, "subject": "Hi", "text": "Hello", "scheduled_at": "in 1 hour", "idempotency_key": "mcp-0001"})
	do("get_email", byID(sent))
	do("list_attempts", byID(sent))
	do("reschedule_email", given{"id": sent["id"], "scheduled_at": "in 2 hours"})
	do("cancel_email", byID(sent))
	do("list_emails", given{"status": "cancelled", "limit": 5})
	do("check_spam", given{"from": "hello@acme.test", "subject": "Hi", "text": "Hello"})
	message := p.post("/emails/receiving", given{"from": "ann@example.net", "to": "support@acme.test", "subject": "Question", "text": "Hi"})
	do("list_received", nil)
	do("get_received", byID(message))
	do("reply_to_received", given{"id": message["id"], "text": "Answer"})
	domain := do("add_domain", given{"name": "assistant.test"})
	do("list_domains", given{"search": "assistant"})
	do("get_domain", byID(domain))
	do("verify_domain", byID(domain))
	made := do("create_template", given{"name": "Welcome", "alias": "welcome", "subject": "Hi {{name}}", "html": "<p>Hi {{name}}</p>"})
	do("list_templates", nil)
	do("get_template", given{"id": "welcome"})
	do("update_template", given{"id": made["id"], "subject": "Hello {{name}}"})
	if preview := do("preview_template", given{"id": "welcome", "variables": given{"name": "Ann"}}); preview["subject"] != "Hello Ann" {
		t.Errorf("%v", preview)
	}
	do("save_contact", given{"email": "ann@example.net", "first_name": "Ann"})
	do("list_contacts", given{"search": "ann"})
	do("get_contact", given{"email": "ann@example.net"})
	do("delete_contact", given{"email": "ann@example.net"})
	do("suppress_address", given{"email": "gone@example.net"})
	do("get_suppression", given{"email": "gone@example.net"})
	do("unsuppress_address", given{"email": "gone@example.net"})
	segment := p.post("/segments", given{"name": "All"})
	broadcast := p.post("/broadcasts", given{"segment_id": segment["id"], "from": "hello@acme.test", "subject": "News", "text": "News"})
	do("get_broadcast_stats", byID(broadcast))
	hook := do("create_webhook", given{"url": "https://hooks.example.com/mcp", "events": []string{"email.delivered"}})
	do("list_webhook_deliveries", byID(hook))
	do("test_webhook", byID(hook))
	do("delete_webhook", byID(hook))
	entries := do("list_logs", given{"limit": 1})["data"].([]any)
	do("get_log", byID(entries[0].(given)))
	for _, tool := range []string{"list_segments", "list_topics", "list_suppressions", "list_broadcasts", "get_overview", "get_daily_stats", "get_deliverability", "get_limits", "list_webhooks", "list_webhook_events"} {
		do(tool, nil)
	}
	for name, tool := range a.tools() {
		if !used[name] {
			t.Errorf("%s is offered, but was not tried", name)
		}
		reads := strings.HasPrefix(name, "get_") || strings.HasPrefix(name, "list_")
		if len(tool.Description) < 20 || tool.Annotations.ReadOnlyHint != reads {
			t.Errorf("%s: %q, only reads: %v", name, tool.Description, tool.Annotations.ReadOnlyHint)
		}
	}
}

func TestAnAssistantSeesOnlyWhatItsKeyMayDo(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, "dev", "--data", data, "--http", "127.0.0.1:0", "--submission", "127.0.0.1:0", "--submissions", "127.0.0.1:0")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	keyOf := func(preset string) string {
		out, err := exec.CommandContext(t.Context(), path, "key", "create", "--data", data, "--workspace", p.WorkspaceID, "--preset", preset, "--json").Output()
		var made struct {
			Key string `json:"api_key"`
		}
		if err != nil || json.Unmarshal(out, &made) != nil {
			t.Fatalf("%v %s", err, out)
		}
		return made.Key
	}
	reader := newAssistant(t, p, keyOf("read_only")).tools()
	for name := range reader {
		if !strings.HasPrefix(name, "get_") && !strings.HasPrefix(name, "list_") {
			t.Errorf("a reader is offered %s", name)
		}
	}
	if reader["list_emails"] == nil || reader["list_logs"] == nil {
		t.Errorf("a reader is offered only %d tools", len(reader))
	}
	sender := newAssistant(t, p, keyOf("sending_access")).tools()
	if sender["send_email"] == nil || sender["create_webhook"] != nil || sender["list_contacts"] != nil {
		t.Errorf("a sender is offered %d tools", len(sender))
	}
}

func TestAnAssistantIsToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := dev(t)
	a := newAssistant(t, p, p.APIKey)
	_, refusal := a.ask("send_email", given{"from": "hello@acme.test", "to": []string{"nobody"}, "subject": "x", "text": "x"})
	if !strings.Contains(refusal, "to[0]") || !strings.Contains(refusal, "validation_error") || strings.Contains(refusal, "{") {
		t.Errorf("says %q", refusal)
	}
	if _, refusal := a.ask("get_email", given{"id": ""}); refusal != "the id is empty" {
		t.Errorf("says %q", refusal)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startWithin)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "mcp", "--key", "pr_wrong", "--url", p.HTTP).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "key is not valid") {
		t.Errorf("with a wrong key: %v %s", err, out)
	}
}
