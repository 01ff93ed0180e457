package test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A workspace whose plan the operator has taken out of the file could not send; that is said when the server starts, not mail by mail.
func TestAServerWithoutAPlanInUseDoesNotStart(t *testing.T) {
	t.Parallel()
	data, plans := t.TempDir(), filepath.Join(t.TempDir(), "plans.toml")
	if err := os.WriteFile(plans, []byte("[gold.limits]\nemails_per_month = -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := run(t, "workspace", "create", "--data", data, "--plans", plans, "--name", "Shop", "--plan", "gold",
		"--owner-email", "olga@shop.test", "--owner-password", "correct horse battery", "--json")
	var created struct {
		WorkspaceID string `json:"workspace_id"`
	}
	if err != nil || json.Unmarshal([]byte(stdout), &created) != nil {
		t.Fatalf("%v: %q %q", err, stdout, stderr)
	}
	serve := []string{"serve", "--data", data, "--http", "127.0.0.1:0", "--insecure-test-network"}

	refused := launch(t, nil, serve...)
	if refused.comesUp() {
		t.Fatal("it started without the plan gold")
	}
	advice := "postrider plan set --workspace " + created.WorkspaceID
	if said := refused.stderr.String(); !strings.Contains(said, `"gold"`) || !strings.Contains(said, advice) {
		t.Fatalf("it does not say what to do: %s", said)
	}

	if err := start(t, append(serve, "--plans", plans)...).stop(); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := run(t, "plan", "set", "--data", data, "--workspace", created.WorkspaceID, "--plan", "pro"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	start(t, serve...)
}
