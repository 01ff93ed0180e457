package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/resend/resend-go/v3"

	"postrider/bench/measure"
)

// get makes a request to the API and fails the test unless it is answered well.
func (p *process) get(path string) map[string]any {
	p.t.Helper()
	status, answer, err := call(p.APIKey, http.MethodGet, p.HTTP+"/v1"+path, nil)
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("%s: %d %v %v", path, status, answer, err)
	}
	return answer
}

func (p *process) post(path string, body any) map[string]any {
	p.t.Helper()
	status, answer, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1"+path, body)
	if err != nil || status >= 300 {
		p.t.Fatalf("%s: %d %v %v", path, status, answer, err)
	}
	return answer
}

// came waits until a message with the subject has come and was checked, and returns it.
func (p *process) came(subject string) map[string]any {
	p.t.Helper()
	var found map[string]any
	until(p.t, deliveredWithin, "mail with subject "+subject, func() bool {
		rows, _ := p.get("/emails/receiving?search=" + url.QueryEscape(subject))["data"].([]any)
		for _, row := range rows {
			if m := row.(map[string]any); m["subject"] == subject && m["authentication"] != nil {
				found = m
			}
		}
		return found != nil
	})
	return p.get("/emails/receiving/" + found["id"].(string))
}

// fetch follows a signed link, without a key, into a file.
func (p *process) fetch(link any) string {
	p.t.Helper()
	answer, err := http.Get(link.(string))
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	path := filepath.Join(p.t.TempDir(), "file")
	if err == nil {
		err = os.WriteFile(path, raw, 0o600)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%d %v", answer.StatusCode, err)
	}
	return path
}

func TestMailFromSwaksAppearsIsForwardedAndAnswered(t *testing.T) {
	t.Parallel()
	need(t, "swaks")
	p := dev(t)
	p.post("/emails/receiving/forwarding", map[string]any{"address": "support@acme.test", "forward_to": []string{"team@example.org"}, "mode": "passthrough"})
	p.script("swaks", "--server", p.MX, "--tls", "--from", "ann@example.net", "--to", "support@acme.test", "--h-Subject", "Question", "--h-From", "Ann <ann@example.net>",
		"--add-header", "Message-Id: <swaks@example.net>", "--body", "How do I begin?", "--attach", "@clients/package.json")
	m := p.came("Question")
	files, _ := m["attachments"].([]any)
	if m["from"] != "Ann <ann@example.net>" || !strings.Contains(m["text"].(string), "How do I begin?") || len(files) != 1 {
		t.Errorf("%v", m)
	}
	forwarded := p.arrived("team@example.org")
	if !strings.HasPrefix(forwarded.Envelope.From, "SRS0=") || !strings.Contains(forwarded.Raw, "ARC-Seal: i=1") {
		t.Errorf("%+v", forwarded)
	}
	answer := p.post("/emails/receiving/"+m["id"].(string)+"/reply", map[string]any{"text": "With the first line."})
	sent := p.arrived("ann@example.net")
	if !strings.Contains(sent.Raw, "In-Reply-To: "+m["message_id"].(string)) || sent.Authentication["dmarc"] != "pass" {
		t.Errorf("%s", sent.Raw)
	}
	// Ann answers by her own provider, which finds our server by its MX record.
	id := p.get("/emails/" + answer["id"].(string))["message_id"].(string)
	p.script("swaks", "--server", p.SandboxSMTP, "--from", "ann@example.net", "--to", "support@acme.test", "--h-Subject", "Thanks", "--add-header", "In-Reply-To: "+id, "--body", "Thanks!")
	if again := p.came("Thanks"); again["in_reply_to_email_id"] != answer["id"] || again["thread_id"] != m["thread_id"] {
		t.Errorf("%v", again)
	}
}

func TestMailauthBelievesWhatWePassOn(t *testing.T) {
	t.Parallel()
	needNode(t)
	p := dev(t)
	p.post("/emails/receiving/forwarding", map[string]any{"address": "pass@acme.test", "forward_to": []string{"passed@example.org"}, "mode": "passthrough"})
	p.post("/emails/receiving/forwarding", map[string]any{"address": "rewrite@acme.test", "forward_to": []string{"rewritten@example.org"}})
	// Mail of our own, so that it comes with signatures.
	p.post("/emails", map[string]any{"from": "Acme <hello@acme.test>", "to": []string{"pass@acme.test", "rewrite@acme.test"}, "subject": "Signed", "text": "Grüße", "html": "<p>Grüße</p>"})
	for _, to := range []string{"passed@example.org", "rewritten@example.org"} {
		m := p.arrived(to)
		path := filepath.Join(t.TempDir(), "message.eml")
		if err := os.WriteFile(path, []byte(m.Raw), 0o600); err != nil {
			t.Fatal(err)
		}
		var found struct {
			ARC      string `json:"arc"`
			Instance int    `json:"instance"`
			SPF      string `json:"spf"`
			DKIM     []struct{ Result, Domain string }
		}
		if err := json.Unmarshal([]byte(p.script("node", "clients/arc.mjs", path, m.Envelope.From)), &found); err != nil {
			t.Fatal(err)
		}
		if to == "passed@example.org" && (found.ARC != "pass" || found.Instance != 1) {
			t.Errorf("%s: %+v", to, found)
		}
		if found.SPF != "pass" || len(found.DKIM) == 0 || slices.ContainsFunc(found.DKIM, func(d struct{ Result, Domain string }) bool { return d.Result != "pass" }) {
			t.Errorf("%s: %+v", to, found)
		}
	}
}

func TestPythonReadsWhatWeRead(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	p := dev(t)
	message := "From: =?utf-8?q?J=C3=B6rg?= <joerg@example.net>\r\nTo: support@acme.test\r\nSubject: =?iso-8859-1?Q?=DCber?= alles\r\nMessage-ID: <py@example.net>\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=\"m\"\r\n\r\n--m\r\nContent-Type: multipart/alternative; boundary=\"a\"\r\n\r\n--a\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
		"Gr=FC=DFe\r\n--a\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPHA+R3LDvMOfZTwvcD4=\r\n--a--\r\n--m\r\nContent-Type: application/pdf\r\n" +
		"Content-Disposition: attachment; filename*=utf-8''%C3%BC.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQK\r\n--m--\r\n"
	if err := handOver(p.MX, message); err != nil {
		t.Fatal(err)
	}
	m := p.came("Über alles")
	var read struct {
		From, Subject, Text, HTML string
		MessageID                 string `json:"message_id"`
		Files                     []struct {
			Filename, SHA256 string
			ContentType      string `json:"content_type"`
		}
	}
	if err := json.Unmarshal([]byte(p.script("python3", "clients/read_mail.py", p.fetch(m["raw"].(map[string]any)["download_url"]))), &read); err != nil {
		t.Fatal(err)
	}
	file := p.get("/emails/receiving/" + m["id"].(string) + "/attachments")["data"].([]any)[0].(map[string]any)
	if read.Subject != m["subject"] || !strings.Contains(m["from"].(string), read.From) || read.MessageID != m["message_id"] || read.Text != strings.TrimSpace(m["text"].(string)) ||
		read.HTML != strings.TrimSpace(m["html"].(string)) || len(read.Files) != 1 || read.Files[0].Filename != file["filename"] || read.Files[0].SHA256 != file["sha256"] {
		t.Errorf("Python reads %+v, we read %v and %v", read, m, file)
	}
}

func TestResendsSDKsReadReceivedMail(t *testing.T) {
	t.Parallel()
	needNode(t)
	p := dev(t)
	ingested := p.post("/emails/receiving", map[string]any{"from": "Ann <ann@example.net>", "to": "support@acme.test", "subject": "For SDKs", "html": "<p>Hi</p>",
		"attachments": []map[string]any{{"filename": "a.txt", "content": "aGVsbG8="}}})
	id := ingested["id"].(string)
	p.script("node", "clients/receiving.mjs", id, "For SDKs")
	client := resend.NewClient(p.APIKey)
	base, err := client.BaseURL.Parse(p.HTTP + "/v1/")
	if err != nil {
		t.Fatal(err)
	}
	client.BaseURL = base
	got, err := client.Emails.Receiving.Get(id)
	if err != nil || got.Subject != "For SDKs" || got.Html != "<p>Hi</p>" || len(got.Attachments) != 1 || got.Headers["from"] == "" {
		t.Errorf("%+v %v", got, err)
	}
	list, err := client.Emails.Receiving.List()
	if err != nil || len(list.Data) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	files, err := client.Emails.Receiving.ListAttachments(id)
	if err != nil || len(files.Data) != 1 || files.Data[0].DownloadUrl == "" {
		t.Errorf("%+v %v", files, err)
	}
}

func TestSMTPSourceIsTakenInFull(t *testing.T) {
	t.Parallel()
	need(t, "smtp-source")
	p := dev(t)
	p.script("smtp-source", "-s", "20", "-m", "500", "-l", "4096", "-f", "ann@example.net", "-t", "support@acme.test", p.MX)
	if total := p.get("/emails/receiving?limit=1")["total"]; total != 500.0 {
		t.Errorf("%v messages came", total)
	}
}

func TestARealPostfixDeliversAndBouncesToUs(t *testing.T) {
	t.Parallel()
	if !measure.HasPostfix() {
		t.Skip("Postfix is not installed, or this is not root")
	}
	p := dev(t)
	_, port, _ := strings.Cut(p.MX, ":")
	postfix, err := measure.StartPostfix(t.Context(), fmt.Sprintf("relayhost = [127.0.0.1]:%s\nsmtp_tls_security_level = may\n", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { postfix.Stop() })
	hand := func(from, to, subject string) {
		t.Helper()
		if err := smtp.SendMail(postfix.Address, nil, from, []string{to}, []byte("From: "+from+"\r\nTo: "+to+"\r\nSubject: "+subject+"\r\n\r\nHi\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	hand("ann@example.net", "support@acme.test", "ByPostfix")
	if m := p.came("ByPostfix"); m["envelope"].(map[string]any)["tls"] != true || m["envelope"].(map[string]any)["helo"] != "bench.test" {
		t.Errorf("%v", m["envelope"])
	}
	id, _, err := p.send("ann@example.net")
	if err != nil {
		t.Fatal(err)
	}
	back := p.arrived("ann@example.net").Envelope.From
	until(t, deliveredWithin, "delivery", func() bool { return p.status(id) == "delivered" })
	hand(back, "nobody@bounces.mail.postrider.test", "Hello") // as if the address forwarded to one that is gone
	until(t, deliveredWithin, "the bounce", func() bool { return p.status(id) == "bounced" })
}

func TestKilledWhileTakingMailEveryPromiseIsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, "dev", "--data", data, "--http", "127.0.0.1:0", "--mx", "127.0.0.1:0")
	const senders, enough = 8, 300
	var mu sync.Mutex
	stored := map[string]bool{}
	over := make(chan struct{})
	var once sync.Once
	var all sync.WaitGroup
	for worker := range senders {
		all.Go(func() {
			for n := 0; ; n++ {
				name := fmt.Sprintf("message-%d-%d", worker, n)
				if handOver(p.MX, "From: ann@example.net\r\nSubject: "+name+"\r\n\r\nHi\r\n") != nil {
					return // killed
				}
				mu.Lock()
				stored[name] = true
				if len(stored) == enough {
					once.Do(func() { close(over) })
				}
				mu.Unlock()
			}
		})
	}
	<-over
	p.kill()
	all.Wait()
	again := start(t, "dev", "--data", data, "--http", "127.0.0.1:0", "--mx", "127.0.0.1:0")
	there := map[string]int{}
	for offset := 0; ; offset += 200 {
		rows, _ := again.get(fmt.Sprintf("/emails/receiving?limit=200&offset=%d", offset))["data"].([]any)
		for _, row := range rows {
			there[row.(map[string]any)["subject"].(string)]++
		}
		if len(rows) < 200 {
			break
		}
	}
	for name := range stored {
		if there[name] != 1 {
			t.Errorf("%s was answered with 250 and is there %d times", name, there[name])
		}
	}
	until(t, deliveredWithin, "the checks of all that came", func() bool {
		return again.get("/emails/receiving/health")["receiver"].(map[string]any)["queue_depth"] == 0.0
	})
}

// handOver gives one message to a server in clear text.
func handOver(address, message string) error {
	client, err := smtp.Dial(address)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Mail("ann@example.net"); err != nil {
		return err
	}
	if err := client.Rcpt("support@acme.test"); err != nil {
		return err
	}
	body, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(body, message); err != nil {
		return err
	}
	return body.Close()
}
