package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const deliveredWithin = 60 * time.Second

func TestANewcomerSendsTheFirstEmail(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	id, status, err := p.send("you@example.net")
	if err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %v", status, err)
	}
	until(t, deliveredWithin, "delivery", func() bool { return p.status(id) == "delivered" })
	got := p.mailbox()
	if len(got) != 1 || got[0].Authentication["dkim"] != "pass" || got[0].Authentication["spf"] != "pass" || got[0].Subject != "Hello" {
		t.Fatalf("received %+v", got)
	}
	if err := p.stop(); err != nil {
		t.Fatalf("SIGTERM ended with %v\n%s", err, p.stderr.String())
	}
	for _, line := range []string{p.HTTP + "/v1", p.Sandbox, p.APIKey, "curl " + p.HTTP + "/v1/emails"} {
		if !strings.Contains(p.greeting(), line) {
			t.Errorf("the greeting does not say %q:\n%s", line, p.greeting())
		}
	}

	again := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	if again.APIKey != p.APIKey || again.WorkspaceID != p.WorkspaceID || len(again.mailbox()) != 1 || again.status(id) != "delivered" {
		t.Fatal("after a restart something was not as before")
	}
}

func TestTheCurlLineWorksAsPrinted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	p := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	line := ""
	until(t, startWithin, "the curl line", func() bool {
		_, rest, _ := strings.Cut(p.greeting(), "  curl ")
		var found bool
		line, _, found = strings.Cut(rest, "\n\n")
		return found
	})
	out, err := exec.Command("sh", "-c", "curl -sS "+line).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"status":"queued"`) {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestKilledInTheMiddleOfAThousandSendsEveryPromiseIsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	const total, senders = 1000, 16
	var mu sync.Mutex
	accepted := map[string]string{} // recipient by id
	half := make(chan struct{})
	var once sync.Once
	var all sync.WaitGroup
	next := make(chan int)
	go func() {
		for n := range total {
			next <- n
		}
		close(next)
	}()
	for range senders {
		all.Go(func() {
			for n := range next {
				to := fmt.Sprintf("user%d@example.net", n)
				id, status, err := p.send(to)
				if err != nil || status != http.StatusAccepted {
					continue // the process is gone: nothing was promised
				}
				mu.Lock()
				accepted[id] = to
				reached := len(accepted) >= total/2
				mu.Unlock()
				if reached {
					once.Do(func() { close(half) })
				}
			}
		})
	}
	<-half
	p.kill()
	all.Wait()

	again := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	for id := range accepted {
		until(t, deliveredWithin, "delivery of "+id, func() bool { return again.status(id) == "delivered" })
	}
	copies := map[string]int{}
	for _, m := range again.mailbox() {
		copies[m.Envelope.To[0]]++
	}
	doubled := 0
	for id, to := range accepted {
		switch {
		case copies[to] == 0:
			t.Errorf("%s was promised to %s and never arrived", id, to)
		case copies[to] > 2:
			t.Errorf("%s arrived %d times", to, copies[to])
		case copies[to] == 2:
			doubled++
		}
	}
	t.Logf("%d promised before the kill, all arrived; %d of them twice, because their answer was lost with the process", len(accepted), doubled)
}

func TestAFullDiskIsRefusedHonestly(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	seeded := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	key := seeded.APIKey
	if err := seeded.stop(); err != nil {
		t.Fatal(err)
	}
	// No file may grow beyond 3 MB: the log of the database soon wants to.
	p := startWith(t, []string{"sh", "-c", `ulimit -f 6000; exec "$0" "$@"`}, "serve", "--data", data, "--domain", "mail.postrider.test", "--roles", "api", "--http", "127.0.0.1:0")
	p.APIKey = key
	accepted := map[string]bool{}
	refused := 0
	for range 20_000 {
		id, status, err := p.send("ann@example.net")
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusAccepted {
			accepted[id] = true
			continue
		}
		if status != http.StatusServiceUnavailable {
			t.Fatalf("answered with %d", status)
		}
		if refused++; refused == 20 {
			break
		}
	}
	if refused == 0 {
		t.Fatal("the disk never filled up")
	}
	p.kill()

	healed := start(t, "serve", "--data", data, "--domain", "mail.postrider.test", "--roles", "api", "--http", "127.0.0.1:0")
	healed.APIKey = key
	stored, cursor := 0, ""
	for {
		_, page, err := call(key, http.MethodGet, healed.HTTP+"/v1/emails?limit=200&cursor="+cursor, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := page["data"].([]any)
		for _, row := range rows {
			stored++
			if id := row.(map[string]any)["id"].(string); !accepted[id] {
				t.Errorf("%s is stored and was never promised", id)
			}
		}
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if stored != len(accepted) {
		t.Fatalf("%d promised, %d stored", len(accepted), stored)
	}
	t.Logf("%d promised before the disk was full, all stored; %d refused with 503", stored, refused)
}

func TestASecondServerOnTheSameDataRefusesInOneLine(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	_, stderr, err := run(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	if err == nil || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "another postrider is running") {
		t.Fatalf("%v: %q", err, stderr)
	}
}

func TestTheSandboxTakesNoMailOfAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if _, stderr, err := run(t, "workspace", "create", "--data", data, "--name", "Shop", "--owner-email", "olga@shop.test", "--owner-password", "correct horse battery"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if _, stderr, err := run(t, "dev", "--data", data, "--http", "127.0.0.1:0"); err == nil || !strings.Contains(stderr, "name another with --data") {
		t.Fatalf("%v: %q", err, stderr)
	}
	if err := os.Mkdir(filepath.Join(data, "sandbox"), 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
}

func TestAFirstRunOfDevThatWasKilledIsGoneOnWith(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	// What is left of one that was killed when the workspace was made and not yet noted.
	if err := errors.Join(os.Mkdir(filepath.Join(data, "sandbox"), 0o700),
		os.WriteFile(filepath.Join(data, "dev.json"), []byte(`{"owner":{"email":"owner@acme.test","password":"correct horse battery"}}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := run(t, "workspace", "create", "--data", data, "--name", "Acme", "--owner-email", "owner@acme.test", "--owner-password", "correct horse battery"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	p := start(t, "dev", "--data", data, "--http", "127.0.0.1:0")
	if _, status, err := p.send("ann@example.net"); status != http.StatusAccepted || p.Owner.Password != "correct horse battery" {
		t.Errorf("%d %v, signs in with %q", status, err, p.Owner.Password)
	}
}

func TestOperatorVerbsWorkBesideARunningServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	_, port, err := net.SplitHostPort(internet.SandboxSMTP)
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "serve", "--data", data, "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--submission", "127.0.0.1:0", "--submissions", "127.0.0.1:0",
		"--mx", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--insecure-test-network", "--resolver", internet.DNS, "--smtp-port", port)
	for name, address := range map[string]string{"submission": p.Submission, "submissions": p.Submissions, "mx": p.MX, "admin": p.Admin} {
		if _, _, err := net.SplitHostPort(address); err != nil {
			t.Errorf("ready file: %s = %q", name, address)
		}
	}
	stdout, stderr, err := run(t, "workspace", "create", "--data", data, "--name", "Shop", "--plan", "free", "--owner-email", "olga@shop.test",
		"--owner-password", "correct horse battery", "--json")
	var created struct {
		WorkspaceID string `json:"workspace_id"`
		OwnerID     string `json:"owner_id"`
		APIKey      string `json:"api_key"`
	}
	if err != nil || json.Unmarshal([]byte(stdout), &created) != nil || created.OwnerID == "" {
		t.Fatalf("%v: %q %q", err, stdout, stderr)
	}
	p.APIKey = created.APIKey

	status, registered, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/domains", map[string]any{"domain": "shop.test"})
	if err != nil || status != http.StatusCreated {
		t.Fatalf("%d %v %v", status, registered, err)
	}
	if status, refused, _ := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/domains", map[string]any{"domain": "shop2.test"}); status != http.StatusPaymentRequired {
		t.Fatalf("a second domain on the free plan: %d %v", status, refused)
	}
	if _, stderr, err := run(t, "plan", "set", "--data", data, "--workspace", created.WorkspaceID, "--plan", "pro"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	until(t, 5*time.Second, "the new plan", func() bool {
		status, _, _ := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/domains", map[string]any{"domain": "shop2.test"})
		return status == http.StatusCreated
	})

	publish(t, internet, registered)
	status, verified, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/domains/"+registered["id"].(string)+"/verify", nil)
	if err != nil || status != http.StatusOK || verified["verified"] != true {
		t.Fatalf("%d %v %v", status, verified, err)
	}
	status, sent, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/emails", map[string]any{"from": "olga@shop.test", "to": "ann@example.net", "subject": "Order", "text": "Thanks"})
	if err != nil || status != http.StatusAccepted {
		t.Fatalf("%d %v %v", status, sent, err)
	}
	until(t, deliveredWithin, "delivery", func() bool { return p.status(sent["id"].(string)) == "delivered" })
	if got := internet.mailbox(); len(got) != 1 || got[0].Authentication["dkim"] != "pass" {
		t.Fatalf("received %+v", got)
	}
	checkDoors(t, p)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
}

// publish does what a person would do at the registrar, in the sandbox of another process.
func publish(t *testing.T, internet *process, registered map[string]any) {
	t.Helper()
	records, _ := registered["records"].([]any)
	for _, item := range records {
		record, _ := item.(map[string]any)
		if record["type"] == "MX" {
			continue
		}
		status, answer, err := call("", http.MethodPut, internet.Sandbox+"/dns", map[string]any{"name": record["name"], "type": record["type"], "values": []any{record["value"]}})
		if err != nil || status/100 != 2 {
			t.Fatalf("publish %v: %d %v %v", record["name"], status, answer, err)
		}
	}
}

func checkDoors(t *testing.T, p *process) {
	t.Helper()
	for url, want := range map[string]int{
		p.HTTP + "/healthz": 200, p.HTTP + "/readyz": 200, "http://" + p.Admin + "/healthz": 200, "http://" + p.Admin + "/metrics": 200,
		p.HTTP + "/metrics": 404, p.HTTP + "/debug/pprof/": 404, p.HTTP + "/sandbox": 404, p.HTTP + "/.env": 404, p.HTTP + "/": 200,
	} {
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", url, answer.StatusCode, want)
		}
	}
}

func TestTimeCanBeMovedInTestsOnly(t *testing.T) {
	t.Parallel()
	clock := filepath.Join(t.TempDir(), "clock")
	if err := os.WriteFile(clock, []byte("+0s"), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	refused := exec.Command(path, "serve", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	refused.Env = append(os.Environ(), "POSTRIDER_CLOCK_FILE="+clock)
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "--insecure-test-clock") {
		t.Fatalf("%v: %s", err, out)
	}

	p := startWith(t, []string{"env", "POSTRIDER_CLOCK_FILE=" + clock}, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	status, sent, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/emails",
		map[string]any{"from": "hello@acme.test", "to": "ann@example.net", "subject": "Later", "text": "Hello", "scheduled_at": "in 1 day"})
	if err != nil || status != http.StatusAccepted || sent["status"] != "scheduled" {
		t.Fatalf("%d %v %v", status, sent, err)
	}
	if err := os.WriteFile(clock, []byte("+26h"), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, deliveredWithin, "delivery tomorrow", func() bool { return p.status(sent["id"].(string)) == "delivered" })
}
