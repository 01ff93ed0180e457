// Package test runs the built program from outside, as its users do.
package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program builds postrider once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "postrider-test")
	if err != nil {
		return "", err
	}
	for _, district := range []string{"app", "cmd", "mail", "platform", "product", "sandbox", "web", "world"} {
		if err := lookThrough(filepath.Join("..", district)); err != nil {
			return "", err
		}
	}
	path := filepath.Join(dir, "postrider")
	build := exec.Command("go", "build", "-o", path, "postrider/cmd/postrider")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// lookThrough opens every directory below one. What a test has opened counts when go looks whether its last result still holds; what
// the compiler reads for it does not.
func lookThrough(dir string) error {
	return filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error { return err })
}

func TestMain(m *testing.M) {
	if ports := os.Getenv(relayTo); ports != "" {
		runRelay(ports)
	}
	code := m.Run()
	if path, err := program(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// ready is what the program writes into its ready file.
type ready struct {
	HTTP        string `json:"http"`
	Submission  string `json:"submission"`
	Submissions string `json:"submissions"`
	MX          string `json:"mx"`
	Admin       string `json:"admin"`
	APIKey      string `json:"api_key"`
	WorkspaceID string `json:"workspace_id"`
	Owner       struct{ Email, Password string }
	Domain      string `json:"domain"`
	Sandbox     string `json:"sandbox"`
	DNS         string `json:"dns"`
	SandboxSMTP string `json:"sandbox_smtp"`
}

// process is a running postrider.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	exited chan error
	stdout *os.File
	stderr bytes.Buffer // may be read once the process has exited

	readyFile string
	ready
}

const (
	startWithin = 30 * time.Second
	lookEvery   = 5 * time.Millisecond
)

// start runs postrider with the arguments and waits until it says that it is ready.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith runs postrider behind another command, such as one that limits what it may use.
func startWith(t *testing.T, wrapper []string, args ...string) *process {
	t.Helper()
	p := launch(t, wrapper, args...)
	if !p.comesUp() {
		t.Fatalf("ended before it was ready: %s", p.stderr.String())
	}
	return p
}

// launch runs postrider and does not wait for it.
func launch(t *testing.T, wrapper []string, args ...string) *process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ready.json")
	line := append(append([]string{}, wrapper...), append(append([]string{path}, args...), "--ready-file", file)...)
	p := &process{t: t, cmd: exec.Command(line[0], line[1:]...), exited: make(chan error, 1), readyFile: file}
	if p.stdout, err = os.Create(filepath.Join(t.TempDir(), "stdout")); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(p.kill)
	return p
}

// comesUp waits until the process is ready, and tells whether it lived to be.
func (p *process) comesUp() (up bool) {
	p.t.Helper()
	until(p.t, startWithin, "ready file", func() bool {
		select {
		case err := <-p.exited:
			p.exited <- err
			return true
		default:
		}
		raw, err := os.ReadFile(p.readyFile)
		up = err == nil && json.Unmarshal(raw, &p.ready) == nil
		return up
	})
	return up
}

// until waits for something another process does. There is no event to wait for, so it looks again and again, within a bound.
func until(t *testing.T, within time.Duration, what string, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for !happened() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not come within %s", what, within)
		case <-ticker.C:
		}
	}
}

// greeting is what the process has printed so far.
func (p *process) greeting() string {
	p.t.Helper()
	raw, err := os.ReadFile(p.stdout.Name())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(raw)
}

// kill ends the process without a word, as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
	p.exited <- nil
}

// stop asks the process to end and returns how it did.
func (p *process) stop() error {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := <-p.exited
	p.exited <- err
	return err
}

// call makes a request to the API with a key and returns the status and the decoded answer.
func call(key, method, url string, body any) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, err
	}
	var decoded map[string]any
	return answer.StatusCode, decoded, json.Unmarshal(text, &decoded)
}

// send sends one email and returns its id if it was accepted.
func (p *process) send(to string) (id string, status int, err error) {
	status, answer, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/emails",
		map[string]any{"from": "hello@acme.test", "to": to, "subject": "Hello", "text": "Hello there"})
	id, _ = answer["id"].(string)
	return id, status, err
}

func (p *process) status(id string) string {
	p.t.Helper()
	status, answer, err := call(p.APIKey, http.MethodGet, p.HTTP+"/v1/emails/"+id, nil)
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("email %s: %d %v %v", id, status, answer, err)
	}
	text, _ := answer["status"].(string)
	return text
}

type received struct {
	Envelope struct {
		From string   `json:"mail_from"`
		To   []string `json:"rcpt_to"`
	} `json:"envelope"`
	Raw            string            `json:"raw"`
	Subject        string            `json:"subject"`
	Authentication map[string]string `json:"authentication"`
}

func (p *process) mailbox() []received {
	p.t.Helper()
	answer, err := http.Get(p.Sandbox + "/messages?limit=1000")
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	var page struct {
		Data []received `json:"data"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&page); err != nil {
		p.t.Fatal(err)
	}
	return page.Data
}

// run runs a verb of postrider to its end and returns what it printed.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return runBy(t, nil, args...)
}

// runBy is run behind another command.
func runBy(t *testing.T, wrapper []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	line := append(append(append([]string{}, wrapper...), path), args...)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}
