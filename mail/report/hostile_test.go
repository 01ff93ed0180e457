package report_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"postrider/mail/message"
	"postrider/mail/report"
)

// honest is how long the slowest message may take on a busy machine; without bounds these take minutes.
const honest = 30 * time.Second

func TestHostileReportsCostLittle(t *testing.T) {
	t.Parallel()
	dsn := func(status string) string {
		return "From: mailer-daemon@x.test\r\nContent-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n" + status + "\r\n--b--\r\n"
	}
	text := func(body string) string {
		return "From: mailer-daemon@x.test\r\nSubject: failure notice\r\n\r\n" + body
	}
	for name, message := range map[string]string{
		"many recipients":   dsn(strings.Repeat("Final-Recipient: rfc822; a@x.test\r\nAction: failed\r\n\r\n", 100_000)),
		"one long field":    dsn("Final-Recipient: rfc822; " + strings.Repeat("a", 5<<20)),
		"one long fold":     dsn("Final-Recipient: rfc822; a@x.test\r\nDiagnostic-Code: smtp; 550" + strings.Repeat("\r\n x", 1<<20)),
		"many status parts": strings.Repeat("--b\r\nContent-Type: message/delivery-status\r\n\r\nFinal-Recipient: a\r\n\r\n", 10),
		"many addresses":    text(strings.Repeat("<a@x.test>:\r\n550 no\r\n\r\n", 200_000)),
		"many at signs":     text(strings.Repeat("a@", 2<<20)),
		"many codes":        text(strings.Repeat("550 ", 2<<20)),
		"many dots":         text(strings.Repeat("5.1.", 2<<20)),
		"many blanks":       text(strings.Repeat(" \r\n", 2<<20)),
		"many words":        "Subject: " + strings.Repeat("=?utf-8?q?a?= ", 50_000) + "\r\nX-Failed-Recipients: " + strings.Repeat("a@x.test,", 20_000) + "\r\n\r\n",
		"many references":   "References: " + strings.Repeat("<a@x.test> ", 50_000) + "\r\n\r\n",
	} {
		start := time.Now()
		r, err := report.Read(strings.NewReader(message))
		if took := time.Since(start); err != nil || took > honest {
			t.Errorf("%s: %s, %v after %s", name, r.Kind, err, took)
		}
		if r.DSN != nil && len(r.DSN.Recipients) > 100 {
			t.Errorf("%s: %d recipients", name, len(r.DSN.Recipients))
		}
	}
}

// whole checks what must hold for anything that was read.
func whole(t interface{ Fatalf(string, ...any) }, r report.Report) {
	if r.Kind == "" || r.Reason == "" || (r.Kind == report.KindDSN) != (r.DSN != nil) || (r.Kind == report.KindFeedback) != (r.Feedback != nil) {
		t.Fatalf("%+v is not whole", r)
	}
	text, err := json.Marshal(struct {
		*report.DSN
		*report.Feedback
	}{r.DSN, r.Feedback})
	if err != nil || !utf8.Valid(text) {
		t.Fatalf("%+v is not fit for JSON: %v", r, err)
	}
	if r.DSN == nil {
		return
	}
	for _, to := range r.DSN.Recipients {
		v := to.Verdict()
		if to.Action == "" || to.Status == "" || v.Class == "" || to.Action == report.Delayed && v.Suppress || len(to.Diagnostic) > 2<<10 {
			t.Fatalf("%+v is not whole", to)
		}
		for _, s := range []string{to.Final, to.Original, to.Diagnostic, to.RemoteMTA, r.DSN.ReportingMTA, r.DSN.OriginalMessageID} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00\x1b") {
				t.Fatalf("%q in %+v", s, to)
			}
		}
	}
}

func TestADSNOfAnySentenceKeepsItsFacts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		local := rapid.StringMatching(`[a-z0-9+=._-]{1,20}`).Draw(t, "local")
		code := rapid.SampledFrom([]string{"5.1.1", "4.2.2", "5.7.1", "5.0.0", "4.4.7", "5.4.316"}).Draw(t, "code")
		said := rapid.StringMatching(`[45][0-9]{2} [ -~]{0,200}`).Draw(t, "said")
		action := rapid.SampledFrom([]string{"failed", "delayed", "Failed (x)", "relayed"}).Draw(t, "action")
		kind := rapid.SampledFrom([]string{"rfc822; ", "RFC822;", "rfc822 ; <"}).Draw(t, "kind")
		raw := "From: <>\r\nContent-Type: multipart/report; boundary=b\r\n\r\n--b\r\n\r\n" + rapid.StringN(0, 80, 200).Draw(t, "human") +
			"\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x.test\r\n\r\nFinal-Recipient: " + kind + local + "@x.test\r\n" +
			"Action: " + action + "\r\nStatus: " + code + "\r\nDiagnostic-Code: smtp; " + said + "\r\n\r\n--b--\r\n"
		r, err := report.Read(strings.NewReader(raw))
		if err != nil || r.DSN == nil || len(r.DSN.Recipients) != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		whole(t, r)
		to := r.DSN.Recipients[0]
		if to.Final != local+"@x.test" || to.Status != code || !strings.HasPrefix(strings.ToLower(action), string(to.Action)) {
			t.Fatalf("%+v", to)
		}
	})
}

func TestWhatIsSaidOfOneRecipientIsNotHeldAgainstAnother(t *testing.T) {
	t.Parallel()
	const text = "From: mailer-daemon@x.test\r\nSubject: failure notice\r\n\r\n" +
		"<gone@x.test>:\r\n550 5.1.1 User unknown\r\n\r\n<ann@y.test>:\r\nI gave up.\r\n"
	r, err := report.Read(strings.NewReader(text))
	if err != nil || r.DSN == nil || len(r.DSN.Recipients) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, suppress := range []bool{true, false} {
		if to := r.DSN.Recipients[i]; to.Verdict().Suppress != suppress {
			t.Errorf("%+v: %+v", to, to.Verdict())
		}
	}
}

func TestADelayIsNoFailureHoweverItIsTold(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in the text": "From: mailer-daemon@x.test\r\nSubject: Undelivered mail\r\n\r\n<ann@y.test>: 550 5.1.1 later\r\n\r\nIt will be retried.\r\n",
		"by its code": "Content-Type: message/delivery-status\r\n\r\nFinal-Recipient: rfc822; ann@y.test\r\nStatus: 4.4.1\r\n",
	} {
		r, err := report.Read(strings.NewReader(text))
		if err != nil || r.DSN == nil || len(r.DSN.Recipients) != 1 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		if to := r.DSN.Recipients[0]; to.Action != report.Delayed || to.Verdict().Suppress {
			t.Errorf("%s: %+v", name, to)
		}
	}
}

func TestAnExactStatusCountsMoreThanItsExplanation(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]report.Category{"5.2.2": report.MailboxFull, "5.0.0": report.NoMailbox, "5.2.0": report.NoMailbox} {
		r := report.Recipient{Action: report.Failed, Status: status, Diagnostic: "550 5.1.1 No such user"}
		if v := r.Verdict(); v.Category != want {
			t.Errorf("%s: %+v", status, v)
		}
	}
}

func TestMessagesThatAProgramSent(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"Auto-Submitted: auto-replied\r\n":                      true,
		"Auto-Submitted: auto-generated; owner-email=\"a\"\r\n": true,
		"auto-submitted: no\r\n":                                false,
		"Auto-Submitted: No (a person)\r\n":                     false,
		"Precedence: auto_reply\r\n":                            true,
		"Precedence: bulk\r\n":                                  false,
		"List-Id: <x.test>\r\n":                                 false,
		"Return-Path: <>\r\n":                                   true,
		"Return-Path: <a@x.test>\r\n":                           false,
		"From: Postmaster <postmaster@x.test>\r\n":              false,
		"X-Auto-Response-Suppress: OOF\r\n":                     false,
		"X-Failed-Recipients: a@x.test\r\n":                     true,
		"Content-Type: multipart/report; boundary=b\r\n":        true,
		"Subject: Out of office: Re: hello\r\n":                 true,
		"Subject: Re: out of office hours\r\n":                  false,
		"":                                                      false,
	} {
		fields, _, err := message.ReadHeader([]byte(header + "\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := report.IsAutomatic(fields); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}

func TestMessagesThatWentToMany(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		"Precedence: bulk\r\n":                    true,
		"precedence: List \r\n":                   true,
		"X-Precedence: junk\r\n":                  true,
		"Precedence: first-class\r\n":             false,
		"List-Id: <x.test>\r\n":                   true,
		"List-Unsubscribe: <mailto:a@x.test>\r\n": true,
		"Listed: yes\r\n":                         false,
		"Subject: List-Id: x\r\n":                 false,
		"":                                        false,
	} {
		fields, _, err := message.ReadHeader([]byte(header + "\r\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := report.IsBulk(fields); got != want {
			t.Errorf("%q: %t", header, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range corpus(f) {
		f.Add([]byte(text))
	}
	f.Add([]byte(mailed("Report Domain: x", "text/xml", "x.xml", read(f, "dmarc.xml"))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := report.Read(strings.NewReader(string(raw)))
		if err == nil {
			whole(t, r)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	text := corpus(b)["postfix-user-unknown"]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := report.Read(strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
