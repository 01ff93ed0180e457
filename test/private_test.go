package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// open makes every file that does not say otherwise one for everybody.
var open = []string{"sh", "-c", `umask 0; exec "$0" "$@"`}

func TestFilesOfAnInstallationAreNobodyElses(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	p := startWith(t, open, "dev", "--data", data, "--http", "127.0.0.1:0")
	if _, status, err := p.send("ada@example.net"); err != nil || status != http.StatusAccepted {
		t.Fatal(status, err)
	}
	seen := 0
	check := func(path string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := file.Info()
		if err != nil {
			return err
		}
		if seen++; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		return nil
	}
	p.kill() // files come and go while it runs
	for _, path := range []string{data, p.readyFile} {
		if err := filepath.WalkDir(path, check); err != nil {
			t.Error(err)
		}
	}
	if seen < 5 {
		t.Errorf("only %d files", seen)
	}
}

func TestTheLogHasALineForEachThingAndNoSecrets(t *testing.T) {
	t.Parallel()
	p := start(t, "serve", "--verbose", "--data", t.TempDir(), "--http", "127.0.0.1:0", "--submission", "127.0.0.1:0", "--mx", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	const secret, escape = "Hush-hush-12345", "\x1b[31m\n{}"
	for _, ask := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/auth/signup", map[string]string{"email": "ann@example.net", "password": secret, "name": "Ann", "workspace_name": "Acme"}},
		{http.MethodPost, "/auth/login", map[string]string{"email": "ann" + escape + "@example.net", "password": secret}},
		{http.MethodPost, "/auth/login", map[string]string{"email": "ann@example.net", "password": secret + "6"}},
		{http.MethodPost, "/auth/password/reset", map[string]string{"token": secret, "password": secret}},
		{http.MethodGet, "/v1/unsubscribe/v1." + secret, nil},
		{http.MethodGet, "/v1/emails%1b%5b31m%0a%7b%7d?token=" + secret, nil},
		{http.MethodGet, "/reset?token=" + secret, nil},
	} {
		if _, _, err := call("pr_live_"+secret, ask.method, p.HTTP+ask.path, ask.body); err != nil && strings.HasPrefix(ask.path, "/auth") {
			t.Errorf("%s: %v", ask.path, err)
		}
	}
	for _, door := range []string{p.Submission, p.MX} {
		line, err := net.Dial("tcp", door)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(line, "EHLO \x1b[31m{}\r\nEHLO {\"a\":1}\r\nEHLO there.test\r\nMAIL FROM:<%s@example.net>\r\nRCPT TO:<%s@example.net>\r\nAUTH PLAIN %s\r\nQUIT\r\n", secret, secret, secret)
		for lines := bufio.NewScanner(line); lines.Scan(); {
		}
		line.Close()
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	log := p.stderr.String() + p.greeting()
	if strings.Contains(log, "Hush-hush") || strings.Contains(log, "\x1b") {
		t.Errorf("%s", log)
	}
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for _, line := range lines {
		var entry struct{ Time, Level, Msg string }
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Time == "" || entry.Level == "" || entry.Msg == "" {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(log, "/auth/login") || !strings.Contains(log, "there.test") {
		t.Errorf("nothing was told: %s", log)
	}
}
