package test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type setupReport struct {
	Hostname, Domain string
	Records          []struct {
		Type, Name, Value, Status string
		Required                  bool
	}
	Complete bool `json:"records_complete"`
	Files    []struct {
		Path    string
		Written bool
	}
	Workspace struct {
		APIKey        string `json:"api_key"`
		OwnerPassword string `json:"owner_password"`
	}
	Next []string
}

func setup(t *testing.T, args ...string) (setupReport, string, error) {
	t.Helper()
	out, stderr, err := run(t, append([]string{"setup", "--json"}, args...)...)
	var report setupReport
	if err == nil {
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return report, stderr, err
}

func TestASetUpServerServes(t *testing.T) {
	t.Parallel()
	internet, dir := dev(t), t.TempDir()
	file, unit, data := filepath.Join(dir, "etc", "postrider.toml"), filepath.Join(dir, "postrider.service"), filepath.Join(dir, "data")
	args := []string{"--hostname", "mail.postrider.test", "--address", "127.0.0.1", "--resolver", internet.DNS, "--file", file, "--unit", unit, "--data", data, "--user", "nobody-at-all"}
	report, stderr, err := setup(t, append(args, "--owner-email", "olga@postrider.test")...)
	if err != nil {
		t.Fatalf("%v %s", err, stderr)
	}
	if report.Workspace.APIKey == "" || report.Workspace.OwnerPassword == "" || len(report.Next) == 0 || len(report.Files) != 2 || !report.Files[0].Written {
		t.Errorf("%+v", report)
	}
	for _, r := range report.Records {
		if r.Type == "PTR" && (r.Status != "published" || r.Value != "mx1.mail.postrider.test") {
			t.Errorf("%+v", r)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("everybody may read the configuration: %v %v", info, err)
	}

	// The file is a configuration that serve understands; only the ports are those of the test.
	p := start(t, "serve", "--config", file, "--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--submission", "127.0.0.1:0", "--submissions", "127.0.0.1:0", "--mx", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--acme-ca", "https://127.0.0.1:1/nobody", "--insecure-test-network", "--resolver", internet.DNS)
	if out, stderr, err := run(t, "health", "--admin", p.Admin, "--json"); err != nil || strings.TrimSpace(out) != `{"ok":true}` {
		t.Errorf("%s %s %v", out, stderr, err)
	}

	// Again, the files stay; with another address they are not replaced unless that is said.
	again, stderr, err := setup(t, args...)
	if err != nil || again.Files[0].Written || again.Files[1].Written {
		t.Errorf("%+v %s %v", again.Files, stderr, err)
	}
	before, _ := os.ReadFile(file)
	if _, stderr, err := setup(t, append(args, "--hello", "mx2.mail.postrider.test")...); err == nil || !strings.Contains(stderr, "--force") {
		t.Errorf("%s %v", stderr, err)
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Error("the configuration was replaced")
	}
	if forced, stderr, err := setup(t, append(args, "--hello", "mx2.mail.postrider.test", "--force")...); err != nil || !forced.Files[0].Written {
		t.Errorf("%+v %s %v", forced.Files, stderr, err)
	}
}

func TestSetupSaysWhichRecordsAreMissing(t *testing.T) {
	t.Parallel()
	internet, dir := dev(t), t.TempDir()
	args := []string{"--check", "--hostname", "mail.postrider.test", "--resolver", internet.DNS, "--file", filepath.Join(dir, "postrider.toml"), "--unit", "", "--address", "203.0.113.7"}
	report, stderr, err := setup(t, args...)
	if err != nil || report.Complete {
		t.Fatalf("%v %s", err, stderr)
	}
	states := map[string]string{}
	for _, r := range report.Records {
		states[r.Type+" "+r.Name] = r.Status
	}
	for record, want := range map[string]string{"A mx1.mail.postrider.test": "different", "TXT spf.mail.postrider.test": "different", "MX bounces.mail.postrider.test": "published",
		"TXT _mta-sts.mail.postrider.test": "missing"} {
		if states[record] != want {
			t.Errorf("%s is %q, want %q", record, states[record], want)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("a look has written: %v %v", files, err)
	}
	text, _, err := run(t, append([]string{"setup"}, args...)...)
	if err != nil || !strings.Contains(text, "mx1.mail.postrider.test. A 203.0.113.7\n           there is: 127.0.0.1") || !strings.Contains(text, "Next\n\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestSetupAsksForNothingWithoutATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--yes"}, {"--yes", "--hostname", "localhost"}, {"--yes", "--hostname", "https://mail.example.org"}, {"--yes", "--hostname", "mail.example.org", "--address", "here"}} {
		_, stderr, err := run(t, append([]string{"setup", "--unit", "", "--file", filepath.Join(t.TempDir(), "x")}, args...)...)
		if code(err) != 2 || !strings.Contains(stderr, fmt.Sprintf("--%s", strings.TrimPrefix(lastFlag(args), "--"))) {
			t.Errorf("%v: %d %q", args, code(err), stderr)
		}
	}
}

// lastFlag is what the complaint must be about; without one, the missing host name.
func lastFlag(args []string) string {
	if i := slices.IndexFunc(args, func(a string) bool { return a == "--address" }); i >= 0 {
		return args[i]
	}
	return "--hostname"
}
