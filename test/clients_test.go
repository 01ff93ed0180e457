package test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/resend/resend-go/v3"

	"postrider/bench/measure"
)

// need skips the test, with one line, where a program of others is not installed.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed; scripts/setup installs it where it may", program)
		}
	}
}

// needNode skips the test where there is no Node, or where the packages have not been installed.
func needNode(t *testing.T) {
	t.Helper()
	need(t, "node")
	if _, err := os.Stat("clients/node_modules"); err != nil {
		t.Skip("the npm packages are not installed; scripts/setup installs them where it may")
	}
}

// dev starts the program as a newcomer does, with all its doors.
func dev(t *testing.T) *process {
	t.Helper()
	return start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0", "--submission", "127.0.0.1:0", "--submissions", "127.0.0.1:0")
}

// script runs a program that checks by itself, and fails the test if that fails.
func (p *process) script(name string, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Env = append(os.Environ(), "BASE="+p.HTTP+"/v1", "KEY="+p.APIKey, "SANDBOX="+p.Sandbox, "SUBMISSION="+p.Submission,
		"SUBMISSIONS="+p.Submissions, "DNS="+p.DNS, "NODE_NO_WARNINGS=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// arrived waits for the newest message to an address.
func (p *process) arrived(to string) received {
	p.t.Helper()
	var found received
	until(p.t, deliveredWithin, "mail to "+to, func() bool {
		for _, m := range p.mailbox() {
			if slices.Contains(m.Envelope.To, to) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func TestResendsNodeSDKWorksUnchanged(t *testing.T) {
	t.Parallel()
	needNode(t)
	dev(t).script("node", "clients/resend.mjs")
}

func TestResendsGoSDKWorksUnchanged(t *testing.T) {
	t.Parallel()
	p := dev(t)
	client := resend.NewClient(p.APIKey)
	base, err := client.BaseURL.Parse(p.HTTP + "/v1/")
	if err != nil {
		t.Fatal(err)
	}
	client.BaseURL = base
	request := &resend.SendEmailRequest{From: "Acme <hello@acme.test>", To: []string{"go@example.net"}, Subject: "Go", Html: "<p>Go</p>",
		Attachments: []*resend.Attachment{{Filename: "a.txt", Content: []byte("from Go")}}, Tags: []resend.Tag{{Name: "lang", Value: "go"}}}
	sent, err := client.Emails.SendWithOptions(t.Context(), request, &resend.SendEmailOptions{IdempotencyKey: "go-sdk-0001"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.Emails.SendWithOptions(t.Context(), request, &resend.SendEmailOptions{IdempotencyKey: "go-sdk-0001"})
	if err != nil || again.Id != sent.Id {
		t.Fatalf("second send is %v, %v; first %v", again, err, sent)
	}
	if m := p.arrived("go@example.net"); m.Authentication["dkim"] != "pass" {
		t.Errorf("authentication is %v", m.Authentication)
	}
	got, err := client.Emails.Get(sent.Id)
	if err != nil || got.Subject != "Go" || got.Html != "<p>Go</p>" || !slices.Equal(got.To, []string{"go@example.net"}) {
		t.Errorf("email is %+v, %v", got, err)
	}
	batch, err := client.Batch.Send([]*resend.SendEmailRequest{
		{From: "hello@acme.test", To: []string{"go1@example.net"}, Subject: "1", Text: "1"},
		{From: "hello@acme.test", To: []string{"go2@example.net"}, Subject: "2", Text: "2"}})
	if err != nil || len(batch.Data) != 2 {
		t.Errorf("batch is %+v, %v", batch, err)
	}
	later, err := client.Emails.Send(&resend.SendEmailRequest{From: "hello@acme.test", To: []string{"go3@example.net"}, Subject: "3", Text: "3",
		ScheduledAt: time.Now().Add(time.Hour).Format(time.RFC3339)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Emails.Cancel(later.Id); err != nil {
		t.Error(err)
	}
	files, err := client.Emails.ListAttachments(sent.Id)
	if err != nil || len(files.Data) != 1 || files.Data[0].Filename != "a.txt" {
		t.Errorf("attachments are %+v, %v", files, err)
	}
	if _, err := client.Emails.Get("0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("unknown email: %v", err)
	}
}

func TestNodemailerHandsInAnythingAndASignatureSurvives(t *testing.T) {
	t.Parallel()
	needNode(t)
	dev(t).script("node", "clients/nodemailer.mjs")
}

func TestPythonsMailLibraryHandsIn(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	p := dev(t)
	p.script("python3", "clients/smtp_client.py")
	for _, to := range []string{"smtplib@example.net", "smtplibs@example.net"} {
		if m := p.arrived(to); m.Authentication["dkim"] != "pass" || m.Subject != "Prüfung" {
			t.Errorf("%s got %+v", to, m)
		}
	}
}

func TestSwaksHandsIn(t *testing.T) {
	t.Parallel()
	need(t, "swaks")
	p := dev(t)
	host, port, err := net.SplitHostPort(p.Submission)
	if err != nil {
		t.Fatal(err)
	}
	base := []string{"--server", host, "--port", port, "--to", "swaks@example.net", "--auth-user", "postrider"}
	send := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "swaks", append(slices.Clone(base), args...)...).CombinedOutput()
		return string(out), err
	}
	if out, err := send("--tls", "--auth", "PLAIN", "--auth-password", p.APIKey, "--from", "hello@acme.test"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := send("--tls", "--auth", "LOGIN", "--auth-password", p.APIKey, "--from", "hello@acme.test", "--pipeline"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.arrived("swaks@example.net")
	for name, args := range map[string][]string{
		"no TLS":         {"--auth", "PLAIN", "--auth-password", p.APIKey, "--from", "hello@acme.test"},
		"wrong key":      {"--tls", "--auth", "PLAIN", "--auth-password", p.APIKey + "x", "--from", "hello@acme.test"},
		"foreign domain": {"--tls", "--auth", "PLAIN", "--auth-password", p.APIKey, "--from", "hello@elsewhere.test"},
		"foreign header": {"--tls", "--auth", "PLAIN", "--auth-password", p.APIKey, "--from", "hello@acme.test", "--h-From", "x@elsewhere.test"},
	} {
		if out, err := send(args...); err == nil {
			t.Errorf("%s: accepted\n%s", name, out)
		}
	}
}

func TestCurlHandsIn(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	p := dev(t)
	mail := filepath.Join(t.TempDir(), "mail.txt")
	write(t, mail, "From: hello@acme.test\r\nTo: curl@example.net\r\nSubject: curl\r\n\r\nHello\r\n")
	for _, url := range []string{"smtp://" + p.Submission, "smtps://" + p.Submissions} {
		p.script("curl", "-sS", "--ssl-reqd", "--insecure", "--url", url, "--user", "postrider:"+p.APIKey, "--mail-from", "hello@acme.test",
			"--mail-rcpt", "curl@example.net", "--upload-file", mail)
	}
	if m := p.arrived("curl@example.net"); m.Subject != "curl" || m.Authentication["dkim"] != "pass" {
		t.Errorf("received %+v", m)
	}
}

// The same messages in front of verifiers that others wrote. All must agree with the sandbox's own.
func TestOtherPeoplesVerifiersAgree(t *testing.T) {
	t.Parallel()
	p := dev(t)
	letters := map[string]map[string]any{
		"plain":    {"text": "Hello there"},
		"eight":    {"html": "<p>Grüße 😀</p>", "subject": "Größe ✓"},
		"long":     {"text": strings.Repeat("x", 5000) + "\n\n\n\n"},
		"dots":     {"text": ".\n..\nFrom here\n \n"},
		"attached": {"text": "x", "attachments": []map[string]any{{"filename": "ü.txt", "content": "YWJj"}}},
		"empty":    {"text": " "},
		"headed":   {"text": "x", "headers": map[string]string{"List-Unsubscribe": "<https://acme.test/u>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}},
	}
	dir := t.TempDir()
	for name, letter := range letters {
		body := map[string]any{"from": "Acme ✓ <hello@acme.test>", "to": name + "@example.net", "subject": "Hello"}
		for field, value := range letter {
			body[field] = value
		}
		if status, answer, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/emails", body); err != nil || status != http.StatusAccepted {
			t.Fatalf("%s: %d %v %v", name, status, answer, err)
		}
	}
	want := map[string]string{}
	returnPath := p.arrived("plain@example.net").Envelope.From
	for name := range letters {
		m := p.arrived(name + "@example.net")
		write(t, filepath.Join(dir, name), m.Raw)
		want[name] = "pass"
	}
	for _, field := range []string{"Subject: Forged", "From: forged@acme.test", "To: forged@example.net", "Content-Type: text/html"} {
		name, _, _ := strings.Cut("second-"+field, ":")
		write(t, filepath.Join(dir, name), field+"\r\n"+p.arrived("plain@example.net").Raw)
		want[name] = "fail"
	}
	for name, raw := range p.throughPostfix(letters) {
		write(t, filepath.Join(dir, name), raw)
		want[name] = "pass"
	}
	t.Run("mailauth", func(t *testing.T) {
		needNode(t)
		for name, result := range want {
			var found struct {
				DKIM  []struct{ Result, Algorithm string }
				SPF   string
				DMARC string
			}
			out := p.script("node", "clients/verify.mjs", filepath.Join(dir, name), returnPath)
			if err := json.Unmarshal([]byte(out), &found); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if len(found.DKIM) != 2 || found.DKIM[0].Result != result || found.DKIM[1].Result != result || result == "pass" && (found.SPF != "pass" || found.DMARC != "pass") {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
	t.Run("dkimpy", func(t *testing.T) {
		if out, err := exec.Command("/usr/bin/python3", "-c", "import dkim, dns.resolver").CombinedOutput(); err != nil {
			t.Skipf("dkimpy is not installed; scripts/setup installs it where it may (%s)", strings.TrimSpace(string(out)))
		}
		for name, result := range want {
			if out := p.script("/usr/bin/python3", "clients/dkim_verify.py", filepath.Join(dir, name), p.DNS); strings.TrimSpace(out) != result+" "+result {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
	t.Run("opendkim", func(t *testing.T) {
		need(t, "/usr/sbin/opendkim")
		keys, config := filepath.Join(dir, "keys"), filepath.Join(dir, "config")
		write(t, keys, p.publishedKeys())
		write(t, config, "Mode v\nTestDNSData "+keys+"\n")
		for name, result := range want {
			out := p.script("/usr/sbin/opendkim", "-x", config, "-vv", "-t", filepath.Join(dir, name))
			if strings.Count(out, "dkim="+result) != 2 {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
}

// throughPostfix returns the letters as they arrive after a Postfix has passed them on; none where there is no Postfix.
func (p *process) throughPostfix(letters map[string]map[string]any) map[string]string {
	p.t.Helper()
	passed := map[string]string{}
	if !measure.HasPostfix() {
		return passed
	}
	_, port, _ := strings.Cut(p.SandboxSMTP, ":")
	postfix, err := measure.StartPostfix(p.t.Context(), fmt.Sprintf("relayhost = [127.0.0.1]:%s\n", port))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { postfix.Stop() })
	for name := range letters {
		m, to := p.arrived(name+"@example.net"), "passed-"+name+"@example.net"
		if err := smtp.SendMail(postfix.Address, nil, m.Envelope.From, []string{to}, []byte(m.Raw)); err != nil {
			p.t.Fatal(err)
		}
		passed["passed-"+name] = p.arrived(to).Raw
	}
	return passed
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// publishedKeys returns the DKIM keys of the sandbox's name server, one on a line, as opendkim reads them.
func (p *process) publishedKeys() string {
	p.t.Helper()
	_, zone, err := call("", http.MethodGet, p.Sandbox+"/dns", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	var lines strings.Builder
	for _, row := range zone["data"].([]any) {
		record := row.(map[string]any)
		name := strings.TrimSuffix(record["name"].(string), ".")
		if !strings.Contains(name, "._domainkey.") {
			continue
		}
		for _, value := range record["values"].([]any) {
			lines.WriteString(name + " " + value.(string) + "\n")
		}
	}
	return lines.String()
}
