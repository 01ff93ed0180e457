package submission_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/mail"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/plan"
)

func TestAMessageTravelsByteForByte(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		header := "Subject: =?utf-8?Q?Caf=C3=A9?=\nFrom: Acme\n <hello@acme.test>\nX-Odd:   two  spaces \nTo: ann@example.net\nMIME-Version: 1.0\n" +
			"Message-ID: <mine@acme.test>\nDate: Fri, 13 Nov 2026 10:00:00 +0100\nContent-Type: multipart/signed; boundary=\"b\";\n\tprotocol=\"application/pgp-signature\"\n"
		body := "\nThis is signed.\n--b\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR  \nEND:VCALENDAR\n.dot\n..dots\n\n\n--b\n" +
			"Content-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN PGP SIGNATURE-----\n\n\n--b--\n\n\n"
		id := dial(t, in).signIn(in.Key).send(header+body, "ann@example.net", "blind@example.net")
		in.Deliver()
		for _, recipient := range []string{"ann@example.net", "blind@example.net"} {
			got := in.Mailbox(recipient)
			if len(got) != 1 {
				t.Fatalf("%s has %d messages", recipient, len(got))
			}
			want := strings.ReplaceAll(header+body, "\n", "\r\n")
			before, ok := strings.CutSuffix(got[0].Raw, want)
			if !ok {
				t.Fatalf("%s got another message:\n%s", recipient, got[0].Raw)
			}
			for _, field := range []string{"DKIM-Signature: ", "Received: by "} {
				if !strings.Contains("\r\n"+before, "\r\n"+field) {
					t.Errorf("%s is missing in front of\n%s", field, got[0].Raw)
				}
			}
			if got[0].Authentication["dkim"] != "pass" || got[0].Authentication["spf"] != "pass" || got[0].Authentication["dmarc"] != "pass" {
				t.Errorf("authentication is %v", got[0].Authentication)
			}
		}
		email := in.Email(id)
		for field, want := range map[string]string{"source": "smtp", "status": "delivered", "subject": "Café", "message_id": "<mine@acme.test>",
			"from": "Acme <hello@acme.test>", "to": "[ann@example.net]", "bcc": "[blind@example.net]", "attachment_count": "2"} {
			if got := email.Text(field); got != want {
				t.Errorf("%s is %q, want %q", field, got, want)
			}
		}
		if got := email.Text("headers", "X-Odd"); got != "two  spaces" {
			t.Errorf("own header is %q", got)
		}
	})
}

func TestWhatAMessageLacksIsAdded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, lacking := range []string{"", "Message-ID:\nDate:\n", "Message-ID: \n \nDate:\t\n", "Message-ID: =?utf-8?q??=\n", "Date: \nDate: \n"} {
			id := dial(t, in).signIn(in.Key).send(lacking+simple, "ann@example.net")
			in.Deliver()
			m, err := mail.ReadMessage(strings.NewReader(in.Mailbox("ann@example.net")[0].Raw))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Header.Date(); err != nil || len(m.Header["Date"]) != 1 {
				t.Errorf("%q: date is %q, %v", lacking, m.Header["Date"], err)
			}
			if got, want := m.Header["Message-Id"], in.Email(id).Text("message_id"); len(got) != 1 || got[0] != want || want == "" {
				t.Errorf("%q: message id is %q on the wire and %q in the record", lacking, got, want)
			}
		}
	})
}

func TestWhatAMessageHasIsNotAddedForAnEmptyField(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	const fields = "Message-ID: <mine@acme.test>\nDate: Fri, 13 Nov 2026 10:00:00 +0100\n"
	id := dial(t, in).signIn(in.Key).send("Message-ID:\n"+fields+"Message-ID:\nDate:\n"+simple, "ann@example.net")
	in.Deliver()
	if raw := in.Mailbox("ann@example.net")[0].Raw; !strings.HasSuffix(raw, strings.ReplaceAll(fields+simple, "\n", "\r\n")) || in.Email(id).Text("message_id") != "<mine@acme.test>" {
		t.Errorf("it arrived as\n%s", raw)
	}
}

func TestFieldsThatSpeakToUsDoNotTravel(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		topic := in.Must(http.StatusCreated, http.MethodPost, "/topics", map[string]any{"name": "Offers", "default_subscription": "opt_in"}).Text("id")
		id := dial(t, in).signIn(in.Key).send("X-Tag-Category: welcome\nBcc: hidden@example.net\nX-Scheduled-At: in 1 hour\nReturn-Path: <x@evil.test>\n"+
			"X-Idempotency-Key: welcome:u_42:1\nX-Topic-Id: "+topic+"\n"+simple, "ann@example.net", "hidden@example.net")
		email := in.Email(id)
		in.Clock.Advance(time.Minute)
		again := dial(t, in).signIn(in.Key).send("X-Tag-Category: welcome\nBcc: hidden@example.net\nX-Scheduled-At: in 1 hour\nReturn-Path: <x@evil.test>\n"+
			"X-Idempotency-Key: welcome:u_42:1\nX-Topic-Id: "+topic+"\n"+simple, "ann@example.net", "hidden@example.net")
		if again != id {
			t.Errorf("the same key is another email a minute later: %s", again)
		}
		if email.Text("status") != "scheduled" || email.Text("topic_id") != topic || email.Text("tags") != "[map[name:category value:welcome]]" || email.Text("idempotency_key") != "welcome:u_42:1" {
			t.Errorf("record is %s", email.Raw)
		}
		in.Clock.Advance(2 * 60 * 60 * 1e9)
		in.Deliver()
		raw := in.Mailbox("hidden@example.net")[0].Raw
		header, _, _ := strings.Cut(raw, "\r\n\r\n")
		for _, name := range []string{"x-tag", "bcc:", "x-scheduled", "x-idempotency", "x-topic", "evil.test", "hidden@"} {
			if strings.Contains(strings.ToLower(header), name) {
				t.Errorf("%s went out:\n%s", name, header)
			}
		}
	})
}

func TestFieldsThatSpeakToUsMustNotContradictEachOther(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	topic := func(name string) string {
		return in.Must(http.StatusCreated, http.MethodPost, "/topics", map[string]any{"name": name, "default_subscription": "opt_in"}).Text("id")
	}
	offers, news := topic("Offers"), topic("News")
	for header, want := range map[string]string{
		"X-Scheduled-At: in 1 hour\nX-Scheduled-At: in 2 hours\n":                              "554 5.6.0 scheduled_at: The message has two X-Scheduled-At fields that differ.",
		"X-Scheduled-At: in 1 hour\nX-SCHEDULED-AT:\n":                                         "554 5.6.0 scheduled_at: The message has two X-Scheduled-At fields that differ.",
		"X-Scheduled-At:\nX-Scheduled-At: in 1 hour\n":                                         "554 5.6.0 scheduled_at: The message has two X-Scheduled-At fields that differ.",
		"X-Topic-Id: " + offers + "\nX-Topic-Id: " + news + "\n":                               "554 5.6.0 x-topic-id: The message has two X-Topic-Id fields that differ.",
		"X-Topic-Id: " + offers + "\nX-Topic-Id: \n":                                           "554 5.6.0 x-topic-id: The message has two X-Topic-Id fields that differ.",
		"X-Idempotency-Key: invoice:1\nX-Idempotency-Key: invoice:2\n":                         "554 5.6.0 idempotency_key: ",
		"X-Scheduled-At: in 1 hour\nX-Scheduled-At: in 1 hour\n":                               "250 2.0.0 queued as ",
		"X-Topic-Id: " + offers + "\nx-topic-id: " + offers + "\nX-Topic-Id: " + offers + "\n": "250 2.0.0 queued as ",
	} {
		c := dial(t, in).signIn(in.Key)
		c.envelope("ann@example.net")
		var code int
		fmt.Sscan(want, &code)
		if answer := c.hand(header+simple, code); !strings.HasPrefix(fmt.Sprintf("%d %s", code, answer), want) {
			t.Errorf("%q: %q", header, answer)
		}
	}
}

func TestLargeMessagesAndTheirFilesComeBackWhole(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		file := strings.Repeat("0123456789abcdef\n", 20_000)
		message := "From: hello@acme.test\nTo: ann@example.net\nSubject: Large\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" +
			"--b\nContent-Type: text/html; charset=iso-8859-1\n\n<p>caf\xe9</p>\n--b\nContent-Type: text/csv; name=data.csv\nContent-Disposition: attachment\n\n" +
			file + "--b--\n"
		id := dial(t, in).signIn(in.Key).send(message, "ann@example.net")
		in.Deliver()
		if raw := in.Mailbox("ann@example.net")[0].Raw; !strings.HasSuffix(raw, strings.ReplaceAll(file, "\n", "\r\n")+"--b--\r\n") {
			t.Errorf("message arrived changed, %d bytes", len(raw))
		}
		email := in.Email(id)
		if email.Text("html") != "<p>café</p>" {
			t.Errorf("html is %q", email.Text("html"))
		}
		list := in.Call(http.MethodGet, "/emails/"+id+"/attachments", nil)
		rows, _ := list.Body["data"].([]any)
		if len(rows) != 1 {
			t.Fatalf("attachments: %s", list.Raw)
		}
		one := rows[0].(map[string]any)
		if one["filename"] != "data.csv" || one["content_type"] != "text/csv" {
			t.Errorf("attachment is %v", one)
		}
		if got := in.Call(http.MethodGet, fmt.Sprintf("/emails/%s/attachments/%s", id, one["id"]), nil); got.Text("sha256") != one["sha256"] {
			t.Errorf("one attachment is %s", got.Raw)
		}
		if got := in.Download(one["download_url"].(string)); !bytes.Equal(got, []byte(strings.TrimSuffix(strings.ReplaceAll(file, "\n", "\r\n"), "\r\n"))) {
			t.Errorf("download has %d bytes", len(got))
		}
	})
}

func TestNobodyGetsInWithoutAKeyUnderTLS(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		c := plain(t, in.Submission(false))
		if offered := c.say("EHLO app.test", 250); strings.Contains(offered, "AUTH") || !strings.Contains(offered, "STARTTLS") {
			t.Errorf("clear text offers %q", offered)
		}
		c.say(plainAuth("postrider", in.Key), 538)
		c.say("MAIL FROM:<hello@acme.test>", 530)

		c = dial(t, in)
		if offered := c.say("EHLO app.test", 250); !strings.Contains(offered, "AUTH PLAIN LOGIN") || !strings.Contains(offered, "CHUNKING") {
			t.Errorf("TLS offers %q", offered)
		}
		c.say("MAIL FROM:<hello@acme.test>", 530)
		wrong := c.say(plainAuth("postrider", in.Key+"x"), 535)
		other := c.say(plainAuth("someone", in.Key), 535)
		if wrong != other {
			t.Errorf("a wrong key is told from a wrong user: %q, %q", wrong, other)
		}

		c = &client{t: t, conn: rawDial(t, in.Submission(true))}
		c.secure()
		c.hear(220)
		c.say("EHLO app.test", 250)
		c.say(plainAuth("resend", in.Key), 235)
		c.send(simple, "ann@example.net")
	})
}

func TestWhoeverGuessesKeysIsTurnedAway(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		guess := func(n int) int {
			c := dial(t, in)
			if err := c.text.PrintfLine("%s", plainAuth("postrider", fmt.Sprintf("%s%d", in.Key[:len(in.Key)-4], 1000+n))); err != nil {
				t.Fatal(err)
			}
			code, _, _ := c.text.ReadResponse(0) // a code that is not expected is what is looked at
			return code
		}
		tried := 0
		for ; tried < 100 && guess(tried) == 535; tried++ {
		}
		if got := guess(tried + 1); tried == 0 || got != 454 {
			t.Fatalf("after %d guesses the answer is %d", tried, got)
		}
		in.Clock.Advance(time.Minute)
		dial(t, in).signIn(in.Key).send(simple, "ann@example.net")
	})
}

func TestKeysAreCheckedWithEveryMessage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		make := func(body map[string]any) (key, id string) {
			answer := in.Browse(http.MethodPost, "/v1/api-keys", body)
			if answer.Status != http.StatusCreated {
				t.Fatalf("%d %s", answer.Status, answer.Raw)
			}
			return answer.Text("key"), answer.Text("id")
		}
		reader, _ := make(map[string]any{"name": "reads", "scopes": []string{"email:read"}})
		dial(t, in).say(plainAuth("postrider", reader), 535)
		elsewhere, _ := make(map[string]any{"name": "elsewhere", "scopes": []string{"email:send"}, "ip_allowlist": []string{"203.0.113.0/24"}})
		dial(t, in).say(plainAuth("postrider", elsewhere), 535)

		other := in.VerifiedDomain(in.Workspace, "other.test")
		narrow, _ := make(map[string]any{"name": "narrow", "scopes": []string{"email:send"}, "domain_ids": []string{other}})
		c := dial(t, in).signIn(narrow)
		c.say("MAIL FROM:<hello@acme.test>", 550)
		c.say("MAIL FROM:<hello@other.test>", 250)
		c.say("RCPT TO:<ann@example.net>", 250)
		c.hand(simple, 550)

		key, id := make(map[string]any{"name": "short-lived", "scopes": []string{"email:send"}})
		c = dial(t, in).signIn(key)
		c.send(simple, "ann@example.net")
		if answer := in.Browse(http.MethodDelete, "/v1/api-keys/"+id, nil); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Clock.Advance(2e9)
		c.say("MAIL FROM:<hello@acme.test>", 535)
	})
}

func TestAKeyThatIsRevokedWhileAMessageComesSendsNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for _, message := range []string{simple, simple + strings.Repeat("All work and no play.\n", 50_000)} {
			made := in.Browse(http.MethodPost, "/v1/api-keys", map[string]any{"name": "shop", "preset": "sending_access"})
			c := dial(t, in).signIn(made.Text("key"))
			c.envelope("ann@example.net")
			c.say("DATA", 354)
			w := c.text.DotWriter()
			if _, err := io.WriteString(w, message); err != nil {
				t.Fatal(err)
			}
			if gone := in.Browse(http.MethodDelete, "/v1/api-keys/"+made.Text("id"), nil); gone.Status != http.StatusOK {
				t.Fatalf("%d %s", gone.Status, gone.Raw)
			}
			in.Clock.Advance(2e9)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			c.hear(535)
		}
		if sent := in.Call(http.MethodGet, "/emails", nil); len(sent.Body["data"].([]any)) != 0 {
			t.Errorf("%s", sent.Raw)
		}
	})
}

func TestSendersMustBeTheCallersOwn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ws, _ := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(ws, "theirs.test")
		c := dial(t, in).signIn(in.Key)
		for _, sender := range []string{"<x@theirs.test>", "<x@nobody.test>", "<>", "<x@sub.acme.test>"} {
			c.say("MAIL FROM:"+sender, 550)
		}
		for name, header := range map[string]string{
			"another's domain":   "From: x@theirs.test\n",
			"nobody's domain":    "From: x@nobody.test\n",
			"no From":            "To: ann@example.net\n",
			"two From fields":    "From: hello@acme.test\nFrom: x@theirs.test\n",
			"two addresses":      "From: hello@acme.test, x@theirs.test\n",
			"foreign Sender":     "From: hello@acme.test\nSender: x@theirs.test\n",
			"foreign resender":   "From: hello@acme.test\nResent-From: x@theirs.test\n",
			"quoted local part":  "From: \"x@theirs.test \"@acme.test\n",
			"comment":            "From: hello(x@theirs.test)@acme.test\n",
			"group":              "From: g: x@theirs.test;\n",
			"look-alike":         "From: hello@асme.test\n",
			"folded second line": "From: hello@acme.test\n ,x@theirs.test\n",
		} {
			c.envelope("ann@example.net")
			if answer := c.hand(header+"Subject: x\n\nx\n", 550); !strings.HasPrefix(answer, "5.7.1 ") {
				t.Errorf("%s: %q", name, answer)
			}
		}
		if list := in.Call(http.MethodGet, "/emails", nil); strings.Contains(string(list.Raw), `"id"`) {
			t.Errorf("something was queued: %s", list.Raw)
		}
	})
}

func TestLimitsAreToldByCode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		ws, key := in.NewWorkspace(plan.Free)
		in.VerifiedDomain(ws, "free.test")
		c := dial(t, in).signIn(key)
		message := "From: a@free.test\nTo: ann@example.net\n\nx\n"
		begin := func(code int) string { return c.say("MAIL FROM:<a@free.test>", code) }
		begin(250)
		for i := range 50 {
			c.say(fmt.Sprintf("RCPT TO:<r%d@example.net>", i), 250)
		}
		c.say("RCPT TO:<r50@example.net>", 452)
		c.hand(message, 250)
		limited := false
		for range 100 {
			if err := c.text.PrintfLine("MAIL FROM:<a@free.test>"); err != nil {
				t.Fatal(err)
			}
			code, text, _ := c.text.ReadResponse(0)
			if code == 452 && strings.HasPrefix(text, "4.5.3") {
				limited = true
				break
			}
			c.say("RSET", 250)
		}
		if !limited {
			t.Error("the rate limit was never met")
		}
		in.Clock.Advance(60 * 1e9)
		begin(250)
		c.say("RSET", 250)
		c.say("MAIL FROM:<a@free.test> SIZE=99999999999", 552)
	})
}

func TestPausedCustomersCannotSend(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := in.Call(http.MethodPost, "/managed-tenants", map[string]any{"external_id": "shop_4711", "name": "Shop"}).Text("id")
		added := in.Call(http.MethodPost, "/managed-tenants/"+id+"/domains", map[string]any{"domain": "shop.test"})
		if err := in.Sandbox.Publish(t.Context(), "shop.test"); err != nil {
			t.Fatal(err)
		}
		if verified := in.Call(http.MethodPost, "/domains/"+added.Text("id")+"/verify", nil); verified.Body["verified"] != true {
			t.Fatalf("%d %s", verified.Status, verified.Raw)
		}
		send := func(code int) string {
			c := dial(t, in).signIn(in.Key)
			c.envelope("ann@example.net")
			return c.hand("From: a@shop.test\n\nHello\n", code)
		}
		queued := strings.TrimPrefix(send(250), "2.0.0 queued as ")
		if answer := in.Call(http.MethodPatch, "/managed-tenants/"+id, map[string]any{"status": "paused"}); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		send(550)
		dial(t, in).signIn(in.Key).say("MAIL FROM:<a@shop.test>", 550)
		in.Deliver()
		if got := in.Email(queued).Text("status"); got != "delivered" {
			t.Errorf("mail queued before the pause is %s", got)
		}
	})
}
