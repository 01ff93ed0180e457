package spam_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"postrider/mail/spam"
	"postrider/world"
)

// These tests talk to the daemons that Debian ships (packages rspamd and spamd), each a child of the test with its own directory.

const (
	startWithin = 12 * time.Second
	// busyMachine is how long a daemon may take beside all the other tests.
	busyMachine = time.Minute
)

// gtube is the text that every filter takes for spam.
const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"

// program returns the path of a daemon, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name, "/usr/bin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Skipf("skipped: %s is not installed", name)
	return ""
}

// freePort returns a port of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// launch runs a daemon until the end of the test and returns when it takes connections on the ports.
func launch(t *testing.T, command *exec.Cmd, ports ...string) {
	t.Helper()
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			command.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", command.Path, log.String())
		}
	})
	late := time.After(startWithin)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for len(ports) > 0 {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+ports[0]); err == nil {
			conn.Close()
			ports = ports[1:]
			continue
		}
		select {
		case <-ended:
			t.Fatalf("%s ended at once:\n%s", command.Path, log.String())
		case <-late:
			t.Fatalf("%s does not listen after %v", command.Path, startWithin)
		case <-tick.C:
		}
	}
}

// openDir returns a directory that a daemon which gives up its rights can write to.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// startRspamd returns the ports of a normal and of a controller worker, whose password is q1secret.
func startRspamd(t *testing.T) (normal, controller string) {
	t.Helper()
	binary := program(t, "rspamd")
	dir := openDir(t)
	normal, controller = freePort(t), freePort(t)
	write(t, filepath.Join(dir, "tld"), "com\nnet\norg\nde\ninfo\nexample\n")
	config, err := filepath.Abs("testdata/rspamd/rspamd.conf")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--no-fork", "--config", config, "--var", "DIR=" + dir, "--var", "NORMAL=" + normal, "--var", "CONTROLLER=" + controller}
	if os.Getuid() == 0 {
		args = append(args, "--insecure", "--user", "root")
	}
	launch(t, exec.Command(binary, args...), normal, controller)
	return normal, controller
}

// startSpamd returns the port of a spamd with the shipped rules that asks no network.
func startSpamd(t *testing.T) string {
	t.Helper()
	binary := program(t, "spamd")
	plugins, err := filepath.Glob("/etc/spamassassin/*.pre")
	if err != nil || len(plugins) == 0 {
		t.Skip("skipped: SpamAssassin is not installed completely")
	}
	site, home := openDir(t), openDir(t)
	for _, path := range plugins {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(site, filepath.Base(path)), string(text))
	}
	write(t, filepath.Join(site, "local.cf"), "use_bayes 0\ndns_available no\n")
	port := freePort(t)
	args := []string{"--local", "--nouser-config", "--max-children=1", "--min-children=1", "--listen=127.0.0.1", "--port=" + port, "--syslog=stderr",
		"--siteconfigpath=" + site, "--configpath=/usr/share/spamassassin", "--helper-home-dir=" + home}
	if os.Getuid() == 0 {
		args = append(args, "--username=nobody")
	}
	command := exec.Command(binary, args...)
	command.Env = append(os.Environ(), "LC_ALL=C")
	launch(t, command, port)
	return port
}

func has(r spam.Result, id string) bool {
	return slices.ContainsFunc(r.Rules, func(h spam.Hit) bool { return h.ID == id })
}

// judgeSamples has an engine check honest mail and spam.
func judgeSamples(t *testing.T, engine spam.Engine, spamID string) {
	t.Helper()
	check := func(m spam.Message) spam.Result {
		t.Helper()
		result, err := engine.Check(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	receipt := check(readSample(t, "testdata/good/receipt.eml"))
	if receipt.Verdict == spam.Spam || !receipt.Sendable {
		t.Errorf("receipt: %+v", receipt)
	}
	letter := check(readSample(t, "testdata/spam/advance-fee.eml"))
	if letter.Score <= receipt.Score || !has(letter, spamID) || len(letter.Recommendations) == 0 {
		t.Errorf("advance fee: %+v", letter)
	}
	for _, h := range letter.Rules {
		if h.Category == spam.CategoryEngine && (h.Score == 0 || h.Description == "" || h.Severity == "") {
			t.Errorf("rule %+v", h)
		}
	}
	composed := ordinary()
	if result := check(composed); result.Verdict == spam.Spam || result.EngineVersion == "" || result.Authentication != composed.Authentication {
		t.Errorf("composed: %+v", result)
	}
	composed.Text, composed.HTML = plain+"\n"+gtube+"\n", ""
	if result := check(composed); result.Verdict != spam.Spam || result.Score < spam.Threshold || result.Sendable {
		t.Errorf("gtube: %+v", result)
	}
}

func TestRealRspamdJudgesMail(t *testing.T) {
	t.Parallel()
	normal, controller := startRspamd(t)
	real := world.New(nil)

	judgeSamples(t, spam.Rspamd{Address: "127.0.0.1:" + normal, Timeout: busyMachine, Dialer: real.Dialer, Clock: real.Clock}, "SUBJ_ALL_CAPS")

	guarded := spam.Rspamd{Address: "127.0.0.1:" + controller, Password: "q1secret", Dialer: real.Dialer, Clock: real.Clock}
	if result, err := guarded.Check(context.Background(), ordinary()); err != nil || result.Engine != "rspamd" {
		t.Errorf("with the password: %+v, %v", result, err)
	}
	guarded.Password = "wrong"
	if _, err := guarded.Check(context.Background(), ordinary()); !errors.Is(err, spam.ErrDaemon) || !strings.Contains(err.Error(), "401") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestRealSpamAssassinJudgesMail(t *testing.T) {
	t.Parallel()
	port := startSpamd(t)
	real := world.New(nil)

	judgeSamples(t, &spam.SpamAssassin{Address: "127.0.0.1:" + port, Timeout: busyMachine, Dialer: real.Dialer, Clock: real.Clock}, "DEAR_FRIEND")
}
