package email_test

import (
	"fmt"
	"net/http"
	"net/mail"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
)

func TestInjectedHeadersNeverReachTheMessage(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	in.Must(http.StatusCreated, http.MethodPost, "/templates", fields{"name": "Raw", "alias": "raw", "subject": "Hi {{{name}}}", "text": "Hi"})
	sent := 0
	for _, lineEnd := range []string{"\r\n", "\n", "\r", "\u2028", "\u2029", "\u0085", "%0d%0a", "\x00", "\v"} {
		evil := "x" + lineEnd + "Bcc: evil@x.test" + lineEnd + lineEnd + "body"
		for field, change := range map[string]fields{
			"subject":      {"subject": evil},
			"from name":    {"from": fmt.Sprintf(`"%s" <a@acme.test>`, evil)},
			"from":         {"from": "a@acme.test" + lineEnd + "Bcc: evil@x.test"},
			"to name":      {"to": fmt.Sprintf(`"%s" <ann@example.net>`, evil)},
			"to":           {"to": "ann@example.net" + lineEnd + "Bcc: evil@x.test"},
			"reply_to":     {"reply_to": fmt.Sprintf(`"%s" <b@example.net>`, evil)},
			"header value": {"headers": fields{"X-Note": evil}},
			"header name":  {"headers": fields{"X-Note: 1" + lineEnd + "Bcc": "evil@x.test"}},
			"tag":          {"tags": []fields{{"name": "a", "value": evil}}},
			"metadata":     {"metadata": fields{"a": evil}},
			"variable":     {"subject": nil, "text": nil, "html": nil, "template": fields{"id": "raw", "variables": fields{"name": evil}}},
			"unsubscribe":  {"headers": fields{"List-Unsubscribe": "<mailto:a@acme.test>" + lineEnd + "Bcc: evil@x.test"}},
			"message id":   {"message_id": "<a" + lineEnd + "Bcc: evil@x.test" + "@acme.test>"},
			"file name":    attached(fields{"filename": evil, "content": "YQ=="}),
			"content id":   attached(fields{"filename": "a.txt", "content": "YQ==", "content_id": evil}),
			"content type": attached(fields{"filename": "a.txt", "content": "YQ==", "content_type": "text/plain" + lineEnd + "Bcc: evil@x.test"}),
		} {
			answer := send(in, change)
			switch answer.Status {
			case http.StatusAccepted:
				sent++
			case http.StatusBadRequest:
			default:
				t.Errorf("%s with %q: %d %s", field, lineEnd, answer.Status, answer.Raw)
			}
		}
	}
	in.Deliver()
	received := in.Mailbox("ann@example.net")
	if sent == 0 || len(received) != sent || len(in.Mailbox("evil@x.test")) != 0 {
		t.Errorf("%d of %d arrived, %d at the wrong place", len(received), sent, len(in.Mailbox("evil@x.test")))
	}
	for _, m := range received {
		parsed, err := mail.ReadMessage(strings.NewReader(m.Raw))
		if err != nil {
			t.Fatalf("%v: %s", err, m.Raw)
		}
		if parsed.Header.Get("Bcc") != "" || len(m.Envelope.To) != 1 || len(parsed.Header["Subject"]) != 1 || len(parsed.Header["Content-Type"]) != 1 {
			t.Errorf("%s", m.Raw)
		}
	}
}

func TestHiddenRecipientsStandInNoCopy(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		accepted(t, in, fields{"to": "ann@example.net", "cc": "Carl <carl@example.net>", "bcc": []string{"Eve <eve@example.org>", "dan@example.net"}})
		in.Deliver()
		for _, to := range []string{"ann@example.net", "carl@example.net", "eve@example.org", "dan@example.net"} {
			received := in.Mailbox(to)
			if len(received) != 1 {
				t.Fatalf("%s got %d copies", to, len(received))
			}
			raw := strings.ToLower(received[0].Raw)
			if strings.Contains(raw, "eve@") || strings.Contains(raw, "dan@") || strings.Contains(raw, "\nbcc:") || !strings.Contains(raw, "carl@example.net") {
				t.Errorf("the copy of %s: %s", to, raw)
			}
		}
	})
}

func TestAddressesThatTwoParsersReadDifferentlyAreRefused(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, address := range []string{`"a@evil.test x"@acme.test`, `<a@evil.test>b@acme.test`, `a@acme.test,b@evil.test`, `grp: a@evil.test;`,
		`a(@evil.test)@acme.test`, `=?utf-8?q?a=40evil.test=2c?=@acme.test`, "a@acme.test\x00.evil.test", `a@[127.0.0.1]`, `a@acme.test>`,
		`@evil.test:a@acme.test`, `a@acme.test <b@evil.test>`, `a＠evil.test@acme.test`, `a@acme..test`} {
		if answer := send(in, fields{"from": address}); answer.Status != http.StatusBadRequest || problems(answer)["from"] == "" {
			t.Errorf("%q: %d %s", address, answer.Status, answer.Raw)
		}
	}
}

func TestJunkForAddressesIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, junk := range []string{strings.Repeat("(", 100_000), strings.Repeat("a:", 100_000), strings.Repeat("a ", 500_000), strings.Repeat(`"a" `, 100_000),
		strings.Repeat("<", 100_000), strings.Repeat("a@", 100_000), strings.Repeat(",", 100_000), strings.Repeat("=?", 100_000)} {
		began := time.Now()
		answer := send(in, fields{"to": junk, "from": junk})
		if took := time.Since(began); answer.Status != http.StatusBadRequest || took > 20*time.Second {
			t.Errorf("%.6q…: %d after %s", junk, answer.Status, took)
		}
	}
}

func TestOddTextIsReturnedAsItWasSentOrRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for name, odd := range map[string]string{
			"right to left": "\u202Eابجد\u202C", "emoji": "👩‍👩‍👧‍👦🏳️‍🌈", "combining": "Z̴̡̛͈a̷l̵g̸o",
			"zero width": "a\u200bb\ufeffc", "quotes": `'"\` + "`",
			"SQL":    "'; DROP TABLE email; --",
			"markup": "<script>alert(1)</script>", "templates": "{{7*7}} ${7*7} %s %n", "paths": "../../etc/passwd", "JSON": `{"a":["b"]}`, "private use": "\ue000\U0010ffff",
			"NUL": "a\x00b", "bell": "a\x07b", "replacement": "\ufffd",
		} {
			answer := send(in, fields{"subject": odd, "html": odd, "text": odd, "metadata": fields{odd: odd}, "headers": fields{"X-Odd": odd}})
			if answer.Status == http.StatusBadRequest {
				continue
			}
			if answer.Status != http.StatusAccepted {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
				continue
			}
			record := in.Email(answer.Text("id"))
			for field, got := range map[string]string{"subject": record.Text("subject"), "html": record.Text("html"), "text": record.Text("text"),
				"metadata": record.Text("metadata", odd), "headers": record.Text("headers", "X-Odd")} {
				if got != odd {
					t.Errorf("%s: %s came back as %q", name, field, got)
				}
			}
		}
	})
}

func TestCharactersThatCannotBeStoredBecomeReplacementCharacters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := in.Call(http.MethodPost, "/emails", []byte(`{"from":"a@acme.test","to":"b@example.net","subject":"lone \ud83d end","text":"a\u0000b\udc00"}`))
		if answer.Status != http.StatusAccepted {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		record := in.Email(answer.Text("id"))
		if record.Text("subject") != "lone \ufffd end" || record.Text("text") != "a\ufffdb\ufffd" {
			t.Errorf("%q %q", record.Text("subject"), record.Text("text"))
		}
		in.Deliver()
		if got := in.Email(answer.Text("id")).Text("status"); got != "delivered" {
			t.Errorf("%s", got)
		}
	})
}

func TestOddTextArrives(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for name, change := range map[string]fields{
		"one long word":      {"subject": strings.Repeat("x", 998)},
		"998 letters":        {"subject": strings.Repeat("漢", 998)},
		"dots":               {"text": "a\r\n.\r\n..\r\nMAIL FROM:<evil@x.test>"},
		"lone line ends":     {"text": "a\rb\nc\r\nd\n.\r.\n"},
		"looks encoded":      {"subject": "=?utf-8?q?Bcc:_evil=40x.test?="},
		"own message id":     {"message_id": `<a.b-c+d=e@acme.test>`},
		"sender looks other": {"from": `"ceo@bank.test" <a@acme.test>`},
	} {
		id := accepted(t, in, change)
		in.Deliver()
		if record := in.Email(id); record.Text("status") != "delivered" {
			t.Errorf("%s: %s %s", name, record.Text("status"), record.Text("failure", "message"))
		}
	}
	for _, m := range in.Mailbox("ann@example.net") {
		if m.Authentication["dkim"] != "pass" || m.Authentication["dmarc"] != "pass" {
			t.Errorf("%v: %s", m.Authentication, m.Raw)
		}
	}
}
