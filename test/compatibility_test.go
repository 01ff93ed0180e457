package test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"postrider/client"
)

var update = flag.Bool("update", false, "rewrite docs/compatibility.md")

// outcome is what came of one method of an SDK.
type outcome struct {
	Method  string `json:"method"`
	Error   string `json:"error"`
	Unknown bool   `json:"unknown"`
}

// exception is a method that does not work, by the beginning of its name, and why. An exception that works after all fails the
// test, because the table has to say so.
type exception struct{ prefix, verdict, reason string }

const (
	works      = "works"
	differs    = "differs"
	notOffered = "not offered"
)

// exceptions hold for all SDKs; names are compared without their upper case and dots.
var exceptions = []exception{
	{"apikeys.update", notOffered, "keys are made and changed in the dashboard"},
	{"apikeys", differs, "keys are made and revoked in the dashboard, by a person who is signed in; a key cannot make keys"},
	{"domains.remove", differs, "a domain is removed in the dashboard, by a person who is signed in; a key cannot"},
	{"domains.claims", notOffered, "an installation has one owner of a domain; there is nothing to claim"},
	{"domainclaims", notOffered, "an installation has one owner of a domain; there is nothing to claim"},
	{"emails.metrics", notOffered, "use `GET /v1/stats/overview` and `/v1/stats/timeseries`"},
	{"inboxes", notOffered, "received mail is read with `emails.receiving`; threads, labels and drafts are kept by a mail program"},
	{"oauthgrants", notOffered, "there is no OAuth; a key has scopes"},
	{"usage", notOffered, "use `GET /v1/limits`"},
	{"webhooks.events", notOffered, "use `GET /v1/webhooks/{id}/deliveries` and `POST /v1/webhook-deliveries/{id}/replay`"},
	{"webhooks.rotatesigningsecret", notOffered, "use `POST /v1/webhooks/{id}/rotate-secret`"},
}

// verdictOn says in a cell of the table what came of a method.
func verdictOn(t *testing.T, sdk string, o outcome) string {
	t.Helper()
	name := strings.ToLower(o.Method)
	at := slices.IndexFunc(exceptions, func(e exception) bool { return name == e.prefix || strings.HasPrefix(name, e.prefix+".") })
	switch {
	case o.Unknown:
		t.Errorf("%s: %s is new: give it a call and look at what comes of it", sdk, o.Method)
	case o.Error == "" && at >= 0:
		t.Errorf("%s: %s works, but is known as %q", sdk, o.Method, exceptions[at].verdict)
	case o.Error == "":
		return works
	case at < 0 || !refused(exceptions[at].verdict, o.Error):
		t.Errorf("%s: %s: %s", sdk, o.Method, o.Error)
	default:
		return exceptions[at].verdict + ": " + exceptions[at].reason
	}
	return "unknown"
}

// refused tells whether an error is the server's, and the one that a verdict is about.
func refused(verdict, problem string) bool {
	if verdict == differs {
		return strings.Contains(problem, "dashboard session")
	}
	return strings.Contains(problem, "was not found") || strings.Contains(problem, "method is not allowed") || strings.Contains(problem, "dashboard session")
}

// Every method of Resend's SDKs is called against the program, and the table of docs/compatibility.md says what came of it.
func TestTheTableOfCompatibilityIsTrue(t *testing.T) {
	t.Parallel()
	needNode(t)
	p := dev(t)
	var node []outcome
	if err := json.Unmarshal([]byte(p.script("node", "clients/compatibility.mjs")), &node); err != nil {
		t.Fatal(err)
	}
	if len(node) < 100 {
		t.Fatalf("%d methods of the npm package: the script looks at the wrong place", len(node))
	}
	prepare := &preparer{t: t, c: client.New(p.HTTP, p.APIKey), process: p}
	page := "# Compatibility with Resend's SDKs\n\n" +
		"A program that uses one of these SDKs changes the address and the key. Written by a test that finds every method of each SDK and calls it\n" +
		"against the built program (`go test ./test -run TableOfCompatibility -update`): *works* means that the call is answered without an error and with\n" +
		"something in it; what the answers say is looked at by the other tests in `test`.\n"
	page += compatibilityTable(t, "npm `resend` "+npmVersion(t, "resend"), node)
	page += compatibilityTable(t, "`resend-go/v3` "+moduleVersion(t, "github.com/resend/resend-go/v3"), goOutcomes(prepare, sdkV3(t, p)))
	page += compatibilityTable(t, "`resend-go/v2` "+moduleVersion(t, "github.com/resend/resend-go/v2"), goOutcomes(prepare, sdkV2(t, p)))
	const file = "../docs/compatibility.md"
	if *update && !t.Failed() {
		write(t, file, page)
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != page {
		t.Errorf("%s is not what came of the calls (%v); write it again with -update and look at the difference", file, err)
	}
}

func compatibilityTable(t *testing.T, sdk string, outcomes []outcome) string {
	t.Helper()
	slices.SortFunc(outcomes, func(a, b outcome) int { return cmp.Compare(a.Method, b.Method) })
	counts := map[string]int{}
	var rows strings.Builder
	for _, o := range outcomes {
		said := verdictOn(t, sdk, o)
		kind, _, _ := strings.Cut(said, ":")
		counts[kind]++
		fmt.Fprintf(&rows, "| `%s` | %s |\n", o.Method, said)
	}
	return fmt.Sprintf("\n## %s\n\n%d methods: %d work, %d differ, %d are not offered.\n\n| method | verdict |\n|---|---|\n%s", sdk, len(outcomes), counts[works], counts[differs], counts[notOffered], rows.String())
}

func npmVersion(t *testing.T, name string) string {
	t.Helper()
	var manifest struct {
		Version string `json:"version"`
	}
	raw, err := os.ReadFile("clients/node_modules/" + name + "/package.json")
	if err == nil {
		err = json.Unmarshal(raw, &manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Version
}

func moduleVersion(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
}
