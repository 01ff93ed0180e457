package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestDocumentationIsReadable(t *testing.T) {
	t.Parallel()
	o := begin(t)
	for _, page := range []string{"", "/quickstart", "/concepts", "/api", "/api/emails", "/performance", "/migrating/resend", "/guides/templates", "/guides/webhooks"} {
		o.lookAt("docs", "/docs"+page)
	}
	o.Visit("/docs/nowhere")
	o.See("There is no such page in the documentation.")
}

var idForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// TestEverySnippetOfTheQuickStartSends runs the files that the documentation shows, as a newcomer would.
func TestEverySnippetOfTheQuickStartSends(t *testing.T) {
	t.Parallel()
	ready := install(t)
	for file, command := range map[string][]string{"send.sh": {"sh"}, "send.mjs": {"node"}, "send.py": {"python3"}, "send.go": {"go", "run"}, "client.go": {"go", "run"}, "send.php": {"php"}, "resend.mjs": {"node"}} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("no %s on this machine", command[0])
			}
			path, err := filepath.Abs(filepath.Join("..", "..", "docs", "quickstart", file))
			if err != nil {
				t.Fatal(err)
			}
			if file == "resend.mjs" { // npm's packages are found from where the script stands
				path = beside(t, path)
			}
			run := exec.CommandContext(t.Context(), command[0], append(command[1:], path)...)
			run.Env = append(os.Environ(), "POSTRIDER_URL="+ready.HTTP, "POSTRIDER_API_KEY="+ready.APIKey, "RESEND_BASE_URL="+ready.HTTP+"/v1")
			out, err := run.CombinedOutput()
			id := idForm.FindString(string(out))
			if err != nil || id == "" {
				t.Fatalf("%v: %s", err, out)
			}
			delivered(t, ready.HTTP, ready.APIKey, id)
		})
	}
}

// beside copies a script to where the npm packages of the tests are.
func beside(t *testing.T, path string) string {
	t.Helper()
	modules := filepath.Join("..", "clients", "node_modules", "resend")
	if _, err := os.Stat(modules); err != nil {
		t.Skip("the npm packages of the tests are not installed")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.CreateTemp(filepath.Join("..", "clients"), "*.mjs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(copied.Name()) })
	if _, err := copied.Write(raw); err != nil {
		t.Fatal(err)
	}
	return copied.Name()
}

// delivered waits until an email has arrived.
func delivered(t *testing.T, base, key, id string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/v1/emails/%s", base, id), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var email struct{ Status string }
		err = json.NewDecoder(response.Body).Decode(&email)
		response.Body.Close()
		if err == nil && email.Status == "delivered" {
			return
		}
	}
	t.Fatalf("%s was not delivered", id)
}
