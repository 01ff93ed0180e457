package test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// printed runs a verb that speaks JSON, and reads the one line that it prints.
func printed(t *testing.T, args ...string) map[string]any {
	t.Helper()
	out, stderr, err := run(t, append(args, "--json")...)
	var result map[string]any
	if err != nil || strings.Count(out, "\n") != 1 || json.Unmarshal([]byte(out), &result) != nil {
		t.Fatalf("%v: %q %q %v", args, out, stderr, err)
	}
	return result
}

func TestBackupRestoreAndMigrateTellInJSONWhatTheyDid(t *testing.T) {
	t.Parallel()
	data, out, restored, moved := t.TempDir(), filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored"), filepath.Join(t.TempDir(), "moved")
	if result := printed(t, "migrate", "--data", data); result["up_to_date"] != true {
		t.Errorf("migrate: %v", result)
	}
	made := printed(t, "workspace", "create", "--data", data, "--name", "Acme", "--owner-email", "you@example.org", "--owner-password", "correct horse battery")
	if made["api_key"] == nil {
		t.Errorf("workspace: %v", made)
	}
	backup := printed(t, "backup", "--data", data, "--out", out)
	if rows, _ := backup["rows"].(map[string]any); backup["out"] != out || backup["engine"] != "sqlite" || backup["secret_kept"] != true || rows["account_workspace"] != 1.0 {
		t.Errorf("backup: %v", backup)
	}
	if result := printed(t, "backup", "--data", data, "--out", out+".db"); result["database_only"] != true || result["out"] != out+".db" {
		t.Errorf("backup of the database alone: %v", result)
	}
	if result := printed(t, "restore", "--from", out, "--data", restored); result["from"] != out || result["sha256"] != backup["sha256"] {
		t.Errorf("restore: %v", result)
	}
	if result := printed(t, "migrate", "--from", restored, "--to", moved); result["rows"].(float64) < 1 || result["tables"].(float64) < 10 {
		t.Errorf("move: %v", result)
	}
}

func TestSendSaysTheIdInWordsOrTheAnswerInJSON(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"id":"0193","status":"queued"}`))
	}))
	defer server.Close()
	send := []string{"send", "--from", "a@acme.test", "--to", "b@example.net", "--subject", "Hi", "--text", "Hi", "--url", server.URL, "--key", "k"}
	if out, _, err := run(t, send...); err != nil || out != "Accepted as 0193 (queued).\n" {
		t.Errorf("%q %v", out, err)
	}
	if result := printed(t, send...); result["id"] != "0193" {
		t.Errorf("%v", result)
	}
}
