package smtp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"postrider/mail/smtp"
)

// A script is a dialogue, one step per line:
//
//	config: auth max-errors=3   settings of the server, before the first step
//	C: EHLO client.test         the client sends a line; neighbouring lines leave in one write
//	C> \x00\n                   the client sends bytes as they are written here, with Go's escapes
//	S: 250 2.0.0 Ok             the server must answer with this line
//	S.                          the server must close
//	accepted: 1                 at the end, how many messages were taken
func TestScriptedDialoguesGoAsWritten(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			runScript(t, strings.Split(strings.TrimSpace(string(raw)), "\n"))
		})
	}
}

func runScript(t *testing.T, lines []string) {
	var d desk
	var config smtp.Config
	for strings.HasPrefix(lines[0], "#") {
		lines = lines[1:]
	}
	if words, ok := strings.CutPrefix(lines[0], "config:"); ok {
		config = scriptConfig(t, words)
		lines = lines[1:]
	}
	_, address := startServer(t, &d, config)
	p := connect(t, address)
	var pending string
	for number, line := range lines {
		if len(line) < 2 || line[0] == '#' {
			continue
		}
		content := strings.TrimPrefix(line[2:], " ")
		if pending != "" && line[0] != 'C' {
			p.send(pending)
			pending = ""
		}
		switch line[:2] {
		case "C:":
			pending += content + "\r\n"
		case "C>":
			raw, err := strconv.Unquote(`"` + content + `"`)
			if err != nil {
				t.Fatalf("step %d: %v", number, err)
			}
			pending += raw
		case "S:":
			if got := p.line(); got != content {
				t.Fatalf("step %d: server said %q, want %q", number, got, content)
			}
		case "S.":
			p.closed()
		case "ac":
			if got := fmt.Sprintf("accepted: %d", len(d.accepted())); got != line {
				t.Errorf("%s, want %s", got, line)
			}
		default:
			t.Fatalf("step %d: unknown %q", number, line)
		}
	}
	if pending != "" {
		t.Fatal("script ends with the client speaking")
	}
}

func scriptConfig(t *testing.T, words string) (config smtp.Config) {
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, "=")
		number, _ := strconv.Atoi(value)
		switch name {
		case "auth":
			config.Auth = true
		case "require-auth":
			config.Auth, config.RequireAuth = true, true
		case "require-tls":
			config.TLS, _ = certificate(t)
			config.RequireTLS = true
		case "max-errors":
			config.MaxErrors = number
		case "max-recipients":
			config.MaxRecipients = number
		case "max-message-bytes":
			config.MaxMessageBytes = int64(number)
		case "max-text-line-bytes":
			config.MaxTextLineBytes = number
		default:
			t.Fatalf("unknown setting %q", word)
		}
	}
	return config
}
