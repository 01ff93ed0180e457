package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGuidesDoWhatTheySay types what the guides tell a reader to type, from the first line to the last, and compares what they show with
// what comes.
func TestGuidesDoWhatTheySay(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine", tool)
		}
	}
	files, err := filepath.Glob("../docs/guides/*.md")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d guides, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			typed := snippets(string(raw))
			if len(typed) < 3 {
				t.Fatalf("%d snippets: the test reads them wrongly", len(typed))
			}
			p := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
			s := openShell(t, "POSTRIDER_URL="+p.HTTP, "POSTRIDER_API_KEY="+p.APIKey, "SANDBOX_URL="+p.Sandbox)
			for _, one := range typed {
				s.follow(one)
			}
		})
	}
}

// typing is what a reader types, and what the guide says comes of it; empty if it says nothing.
type typing struct {
	line          int
	command, want string
}

// snippets are the fenced blocks of a guide: each sh is typed, and a json behind it is the answer.
func snippets(guide string) (found []typing) {
	var fence string
	var body []string
	for i, line := range strings.Split(guide, "\n") {
		language, fenced := strings.CutPrefix(line, "```")
		switch {
		case !fenced:
			body = append(body, line)
		case fence == "":
			fence, body = language, nil
		case fence == "sh":
			found = append(found, typing{line: i + 1 - len(body), command: strings.Join(body, "\n")})
			fence = ""
		default:
			if fence == "json" && len(found) > 0 {
				found[len(found)-1].want = strings.Join(body, "\n")
			}
			fence = ""
		}
	}
	return found
}

// shell is a reader's shell, which remembers what was typed before.
type shell struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func openShell(t *testing.T, environment ...string) *shell {
	t.Helper()
	bash := exec.CommandContext(t.Context(), "bash", "--norc")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	bash.Env, bash.Dir = append(append(os.Environ(), "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH")), environment...), t.TempDir()
	in, err := bash.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := bash.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	bash.Stderr = bash.Stdout
	if err := bash.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = bash.Wait() // what it said is known
	})
	fmt.Fprintln(in, "set -o pipefail; trap 'failed=1' ERR")
	return &shell{t: t, in: in, out: bufio.NewReader(out)}
}

// spoken is how the shell says that it is done.
const spoken = "\x1e"

func (s *shell) typed(command string) (output string, failed bool) {
	s.t.Helper()
	fmt.Fprintf(s.in, "failed=0\n%s\necho; echo %s$failed\n", command, spoken)
	var said strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the shell has gone: %v\n%s", err, said.String())
		}
		if code, done := strings.CutPrefix(line, spoken); done {
			return strings.TrimSpace(said.String()), strings.TrimSpace(code) != "0"
		}
		said.WriteString(line)
	}
}

// changes are the methods that must not be tried again.
var changes = regexp.MustCompile(`POST|PATCH|PUT|DELETE`)

// follow types a snippet. One that only asks is asked again until the answer is there: readers do that, too.
func (s *shell) follow(one typing) {
	s.t.Helper()
	var output, wrong string
	right := func() bool {
		var failed bool
		if output, failed = s.typed(one.command); failed {
			wrong = "failed"
		} else {
			wrong = unlike(s.t, one, output)
		}
		return wrong == ""
	}
	defer func() {
		if s.t.Failed() {
			s.t.Logf("line %d: %s\n%s\n%s", one.line, wrong, one.command, output)
		}
	}()
	if !changes.MatchString(one.command) {
		until(s.t, 2*startWithin, "what the guide shows", right)
	} else if !right() {
		s.t.FailNow()
	}
}

// unlike tells what is wrong with an output; nothing if the guide shows none.
func unlike(t *testing.T, one typing, output string) string {
	t.Helper()
	if one.want == "" {
		return ""
	}
	var want, got any
	if err := json.Unmarshal([]byte(one.want), &want); err != nil {
		t.Fatalf("line %d: what the guide shows is no JSON: %v", one.line, err)
	}
	if err := json.Unmarshal([]byte(output), &got); err != nil {
		return err.Error()
	}
	return difference("", want, got)
}

// difference tells where an answer is not what the guide shows. Guides leave things out: fields, and with … the rest of a text.
func difference(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v", at, got)
		}
		for name, value := range w {
			have, there := g[name]
			if !there {
				return at + "." + name + " is not there"
			}
			if d := difference(at+"."+name, value, have); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s is %v", at, got)
		}
		for i := range w {
			if d := difference(at+"["+strconv.Itoa(i)+"]", w[i], g[i]); d != "" {
				return d
			}
		}
		return ""
	case string:
		if text, ok := got.(string); ok {
			begins, ends, open := strings.Cut(w, "…")
			if text == w || open && strings.HasPrefix(text, begins) && strings.HasSuffix(text, ends) {
				return ""
			}
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v, the guide shows %v", at, got, want)
}
