package test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The master secret is changed: first the previous one is named beside the new one, and then it is left out.
func TestTheSecretIsChangedAndNothingIsLost(t *testing.T) {
	t.Parallel()
	const before, after = "the secret of the first year (long enough)", "the secret of the second year (long enough)"
	internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	_, port, err := net.SplitHostPort(internet.SandboxSMTP)
	if err != nil {
		t.Fatal(err)
	}
	data, said := t.TempDir(), filepath.Join(t.TempDir(), "log")
	serve := func(secrets ...string) *process {
		t.Helper()
		return startWith(t, []string{"sh", "-c", `exec "$@" 2>"` + said + `"`, "sh"}, append([]string{"serve", "--data", data, "--domain", "mail.postrider.test",
			"--http", "127.0.0.1:0", "--insecure-test-network", "--resolver", internet.DNS, "--smtp-port", port}, secrets...)...)
	}
	stop := func(p *process) {
		t.Helper()
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
	}
	p := serve("--secret", before)
	key := p.shop(t, internet, "", []string{"--data", data, "--secret", before})
	stop(p)

	for _, verb := range [][]string{{"serve", "--http", "127.0.0.1:0"}, {"workspace", "create", "--name", "Other", "--owner-email", "eve@other.test", "--owner-password", "long enough, too"}} {
		_, stderr, err := run(t, append(verb, "--data", data, "--secret", after)...)
		if code(err) != 2 || !strings.Contains(stderr, "not the one that this database is sealed with") || !strings.Contains(stderr, "POSTRIDER_PREVIOUS_SECRETS") {
			t.Errorf("%s with another secret ended with %d: %q", verb[0], code(err), stderr)
		}
	}

	p = serve("--secret", after, "--previous-secrets", before)
	until(t, startWithin, "everything to be sealed again", func() bool {
		text, err := os.ReadFile(said)
		return err == nil && strings.Contains(string(text), "everything stored is sealed with the current secret")
	})
	stop(p)

	p = serve("--secret", after)
	p.APIKey = key
	status, sent, err := call(key, http.MethodPost, p.HTTP+"/v1/emails", map[string]any{"from": "olga@shop.test", "to": "ann@example.net", "subject": "Order", "text": "Thanks"})
	if err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %v %v", status, sent, err)
	}
	until(t, deliveredWithin, "delivery", func() bool { return p.status(sent["id"].(string)) == "delivered" })
	if got := internet.mailbox(); len(got) != 1 || got[0].Authentication["dkim"] != "pass" {
		t.Fatalf("received %+v", got)
	}
}
