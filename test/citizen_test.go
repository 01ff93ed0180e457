package test

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"postrider/platform/db/dbtest"
)

// code is what a verb ended with.
func code(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

func TestTheExitCodeTellsWhatKindOfFailureItWas(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), "wrong") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer refusing.Close()
	send := []string{"send", "--from", "a@acme.test", "--to", "b@example.net", "--subject", "Hi", "--text", "Hi", "--url", refusing.URL, "--key"}
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, 0},
		{[]string{"--help"}, 0},
		{[]string{"help", "serve"}, 0},
		{[]string{"nonsense"}, 2},
		{[]string{"serve", "--nonsense"}, 2},
		{[]string{"serve", "--domain", "https://mail.example.org"}, 2},
		{append(send, "wrong"), 3},
		{append(send, "right"), 1},
		{[]string{"health", "--admin", "127.0.0.1:1"}, 1},
		{[]string{"health", "--admin", refusing.Listener.Addr().String()}, 1},
		{[]string{"listen", "--forward", refusing.URL, "--key", "k", "--url", "mail.example.org"}, 2},
		{[]string{"listen", "--forward", "nonsense", "--key", "wrong", "--url", refusing.URL}, 2},
		{[]string{"mcp", "--key", "wrong", "--url", refusing.URL}, 3},
		{[]string{"mcp", "--key", "right", "--url", refusing.URL}, 1},
		{[]string{"mcp", "--key", "right", "--url", "mail.example.org"}, 2},
		{[]string{"migrate", "--from", "/nowhere", "--to", "/nowhere"}, 2},
	} {
		if _, stderr, err := run(t, c.args...); code(err) != c.want {
			t.Errorf("%v ended with %d, want %d: %s", c.args, code(err), c.want, stderr)
		}
	}
}

func TestARefusalIsToldInTheWordsOfTheServer(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"401": `{"error":{"code":"invalid_api_key","request_id":"req_1"},"message":"The API key is not valid."}`,
		"403": `{"error":{"code":"invalid_from_address","request_id":"req_2"},"message":"The sender's domain is not registered in this workspace."}`,
		"404": `<html>nothing here</html>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		status, _ := strconv.Atoi(cmp.Or(key, "404"))
		w.WriteHeader(status)
		io.WriteString(w, answers[cmp.Or(key, "404")])
	}))
	defer server.Close()
	send := []string{"send", "--from", "a@acme.test", "--to", "b@example.net", "--subject", "Hi", "--text", "Hi", "--url", server.URL, "--key"}
	listen := []string{"listen", "--forward", server.URL, "--url", server.URL, "--key"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(send, "401"), "not allowed: the server refused the key of --key or POSTRIDER_API_KEY: The API key is not valid. (401 invalid_api_key, request req_1)"},
		{append(listen, "401"), "not allowed: the server refused the key of --key or POSTRIDER_API_KEY: The API key is not valid. (401 invalid_api_key, request req_1)"},
		{append(send, "403"), "not allowed: the server refused: The sender's domain is not registered in this workspace. (403 invalid_from_address, request req_2)"},
		{append(send, "404"), "the server refused: 404 Not Found; is --url or POSTRIDER_URL the address of a Postrider?"},
		{append(listen, "404"), "the server refused: 404 Not Found; is --url or POSTRIDER_URL the address of a Postrider?"},
		{[]string{"health", "--admin", server.Listener.Addr().String()}, "answers 404 Not Found to /readyz, which no Postrider does; is --admin the address of its admin door?"},
	} {
		if _, stderr, _ := run(t, c.args...); !strings.Contains(stderr, c.want) {
			t.Errorf("%v: %q, want %q", c.args, stderr, c.want)
		}
	}
}

// noDoor cannot be opened, so that a program which ought to have refused earlier ends all the same.
const noDoor = "127.0.0.1:no-such-port"

func TestAWrongConfigurationNamesTheKeyTheValueAndTheFix(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`domian = "mail.example.org"`:            "the key domian is not known; did you mean domain?",
		`smtp-port = "twenty-five"`:              `smtp-port = "twenty-five": must be a whole number, without quotes`,
		`customer-hosts = "yes"`:                 `customer-hosts = "yes": must be true or false, without quotes`,
		`http = 8025`:                            "http = 8025: must be a text in quotes",
		`roles = ["api", "wroker"]`:              "roles = [api wroker]: each must be one of api, smtp, mx, worker",
		`spam-engine = "clever"`:                 `spam-engine = "clever": must be one of builtin, rspamd, spamassassin`,
		"domain = \"mail.example.org\"\nhttp = ": "line 2",
		`domain = "http://mail.example.org"`:     "--domain http://mail.example.org: must be a host name",
		`proxies = ["10.0.0.0"]`:                 "--proxies 10.0.0.0: must be a network such as 10.0.0.0/8",
		`some_thing = "b"`:                       "the key some_thing is not known",
		"base-url = \"https://a.example\"\nbase_url = \"https://b.example\"\n": "the keys base-url and base_url are the same; keep one of them",
		`base-url = "mail.example.org"`:                                        "--base-url mail.example.org: must be an address without a path, such as https://mail.example.org",
		`base-url = "https://mail.example.org#a"`:                              "--base-url https://mail.example.org#a: must be an address without a path",
	} {
		file := filepath.Join(t.TempDir(), "postrider.toml")
		if err := os.WriteFile(file, []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, err := run(t, "serve", "--data", t.TempDir(), "--config", file, "--mx", noDoor)
		if code(err) != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: ended with %d and %q, want %q", content, code(err), stderr, want)
		}
	}
}

func TestAPortInUseIsNamedWithItsDoor(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, door := range []string{"--http", "--https", "--submission", "--submissions", "--mx", "--admin"} {
		_, stderr, err := run(t, "serve", "--data", t.TempDir(), "--http", "127.0.0.1:0", door, taken.Addr().String(), "--insecure-test-network")
		if code(err) != 1 || !strings.Contains(stderr, door+" "+taken.Addr().String()+": another program uses this address") {
			t.Errorf("%s: %d %q", door, code(err), stderr)
		}
	}
}

func TestADatabaseOfANewerProgramIsRefused(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, engine)
			tomorrow(t, url)
			args := []string{"serve", "--http", "127.0.0.1:0", "--mx", noDoor, "--insecure-test-network", "--secret", "a secret of thirty-two or more letters", "--data"}
			if engine == "sqlite" {
				args = append(args, filepath.Dir(url))
			} else {
				args = append(args, t.TempDir(), "--database-url", url)
			}
			_, stderr, err := run(t, args...)
			if code(err) != 1 || !strings.Contains(stderr, "newer postrider than this one (it knows 9999_tomorrow.sql, this one does not)") {
				t.Errorf("%d %q", code(err), stderr)
			}
		})
	}
}

// verbs returns every verb that the help of the program lists.
func verbs(t *testing.T) []string {
	t.Helper()
	help, _, err := run(t, "--help")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(help, "Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var all []string
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)?)`).FindAllStringSubmatch(list, -1) {
		all = append(all, match[1])
	}
	return all
}

func TestEveryVerbTeachesByExampleAndSpeaksJSON(t *testing.T) {
	t.Parallel()
	// These print no result: one logs in JSON and says nothing else, one speaks a protocol that is JSON, one prints a script.
	silent := map[string]bool{"serve": true, "mcp": true, "completion": true}
	all := verbs(t)
	if len(all) < 12 {
		t.Fatalf("only %v", all)
	}
	for _, verb := range all {
		help, _, err := run(t, append(strings.Fields(verb), "--help")...)
		if err != nil || !strings.Contains(help, "Examples:\n  ") {
			t.Errorf("%s has no example", verb)
		}
		if !silent[verb] && !strings.Contains(help, "--json") {
			t.Errorf("%s does not speak JSON", verb)
		}
	}
}

func TestVersionIsToldInBothForms(t *testing.T) {
	t.Parallel()
	text, _, err := run(t, "version")
	if err != nil || !strings.HasPrefix(text, "postrider ") {
		t.Errorf("%q %v", text, err)
	}
	out, _, err := run(t, "version", "--json")
	var told struct{ Version, Go, Platform string }
	if err != nil || json.Unmarshal([]byte(out), &told) != nil || told.Version == "" || !strings.HasPrefix(told.Go, "go1") || told.Platform == "" {
		t.Errorf("%q %v", out, err)
	}
}

func TestShellsCompleteVerbsAndFlags(t *testing.T) {
	t.Parallel()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for shell, lines := range map[string]map[string]string{
		"bash": {`COMP_WORDS=(postrider doc); COMP_CWORD=1; _postrider; echo "${COMPREPLY[@]}"`: "doctor",
			`COMP_WORDS=(postrider key create --works); COMP_CWORD=3; _postrider; echo "${COMPREPLY[@]}"`: "--workspace",
			`COMP_WORDS=(postrider serve --acme-e); COMP_CWORD=2; _postrider; echo "${COMPREPLY[@]}"`:     "--acme-email"},
		"fish": {`complete -C 'postrider doc'`: "doctor", `complete -C 'postrider key create --works'`: "--workspace"},
		"zsh":  {`whence -w _postrider`: "_postrider: function"},
	} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		script := filepath.Join(t.TempDir(), "completion")
		out, _, err := run(t, "completion", shell)
		if err != nil || os.WriteFile(script, []byte(out), 0o600) != nil {
			t.Fatal(err)
		}
		for line, want := range lines {
			begin := "source " + script + "; "
			if shell == "zsh" {
				begin = "autoload -U compinit; compinit -D; " + begin
			}
			cmd := exec.CommandContext(t.Context(), shell, "-c", begin+line)
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"))
			answer, err := cmd.CombinedOutput()
			if first, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\t"); err != nil || first != want {
				t.Errorf("%s: %s: %q %v", shell, line, answer, err)
			}
		}
	}
}

func TestOnlyTerminalsSeeColours(t *testing.T) {
	t.Parallel()
	p := dev(t)
	args := []string{"doctor", "--data", t.TempDir(), "--domain", "mail.postrider.test", "--resolver", p.DNS, "--probe", ""}
	if out, stderr, _ := run(t, args...); strings.Contains(out+stderr, "\x1b") || out == "" {
		t.Errorf("a pipe was painted: %q %q", out, stderr)
	}
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("script, which plays a terminal, is not installed")
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	shown := func(env ...string) string {
		cmd := exec.CommandContext(t.Context(), script, "-qec", path+" '"+strings.Join(args, "' '")+"'", "/dev/null")
		cmd.Env = append(append(os.Environ(), "TERM=xterm"), env...)
		out, _ := cmd.Output() // the doctor may well find something
		return string(out)
	}
	if out := shown("NO_COLOR="); !strings.Contains(out, "\x1b[32m") {
		t.Errorf("a terminal was not painted: %q", out)
	}
	if out := shown("NO_COLOR=1"); strings.Contains(out, "\x1b[32m") || out == "" {
		t.Errorf("painted against the wish: %q", out)
	}
}
