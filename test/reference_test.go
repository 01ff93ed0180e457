package test

import (
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var callOfReference = regexp.MustCompile(`(?s)<section class="card operation" id="(\w+)">.*?</section>`)

var listing = regexp.MustCompile(`(?s)<pre class="code" tabindex="0">(curl .*?)</pre>`)

// callsOfReference are the calls that a page of the reference shows, by the names of the endpoints.
func callsOfReference(t *testing.T, url string) map[string]string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", url, answer.Status, err)
	}
	calls := map[string]string{}
	for _, section := range callOfReference.FindAllSubmatch(page, -1) {
		if code := listing.FindSubmatch(section[0]); code != nil {
			calls[string(section[1])] = html.UnescapeString(string(code[1]))
		}
	}
	return calls
}

// Those that speak of nothing which a new installation does not have, in the order in which they are made.
func TestTheCallsOfTheReferenceRunAsTheyStand(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	p := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	for family, names := range map[string][]string{
		"emails":          {"batchEmails", "spamCheckEmails", "listEmails"},
		"templates":       {"createTemplate", "renderTemplates", "listTemplates"},
		"webhooks":        {"createWebhook", "listWebhooks"},
		"managed-tenants": {"createManagedTenant", "getManagedTenantsByExternalId"},
		"events":          {"createEvent", "sendEvent"},
		"suppressions":    {"createSuppression", "batchAddSuppressions"},
	} {
		calls := callsOfReference(t, p.HTTP+"/docs/api/"+family)
		for _, name := range names {
			call, ok := calls[name]
			if !ok {
				t.Errorf("%s: no call of %s", family, name)
				continue
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.Replace(call, "curl ", "curl --fail-with-body -sS ", 1))
			cmd.Env = append(os.Environ(), "POSTRIDER_API_KEY="+p.APIKey)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%.400s", name, err, call, out)
			}
		}
	}
}
