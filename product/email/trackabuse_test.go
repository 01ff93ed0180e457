package email_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email"
)

func TestOnlyLinksThatWeWroteLeadAnywhere(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"html": page, "tracking": tracked})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		got := received(t, in, "ann@example.net")
		before, token, _ := strings.Cut(got.links[0], "/v1/links/")
		_, openToken, _ := strings.Cut(got.pixel, "/v1/images/")
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		forged := []string{"", "x", token[:len(token)-1], token + "A", token + "=", token[:30] + "%0A" + token[30:], openToken, strings.Repeat("A", 5000)}
		for i := range raw {
			changed := []byte(string(raw))
			changed[i] ^= 1
			forged = append(forged, base64.RawURLEncoding.EncodeToString(changed))
		}
		for _, target := range []string{"javascript:alert(1)", "data:text/html,x", "//evil.test", "https://evil.test\r\nSet-Cookie: a=b", "",
			"https://user:pw@evil.test/"} {
			signed := slices.Concat(raw[:16], []byte(target)) // as a hole in the rewriting would make them
			forged = append(forged, base64.RawURLEncoding.EncodeToString(slices.Concat(raw[:16], in.Keys.MAC("email/click", signed)[:10], []byte(target))))
		}
		for _, bad := range forged {
			for accept, kind := range map[string]string{"text/html": "text/html", "*/*": "application/json"} {
				answer := visitor{agent: firefox, ip: "198.51.100.7", header: map[string]string{"Accept": accept}}.visit(in, before+"/v1/links/"+bad)
				if answer.Code != 404 || answer.Header().Get("Location") != "" || bad != "" && !strings.HasPrefix(answer.Header().Get("Content-Type"), kind) {
					t.Errorf("%q: %d %v", bad, answer.Code, answer.Header())
				}
			}
		}
		for _, bad := range slices.Concat(forged[1:6], forged[7:12], []string{token, strings.Repeat("A", len(openToken)), openToken + "x"}) {
			if answer := person.visit(in, before+"/v1/images/"+bad); answer.Code != 200 || answer.Header().Get("Content-Type") != "image/gif" {
				t.Errorf("pixel %q: %d", bad, answer.Code)
			}
		}
		if record := in.Email(id); standing(record) != "ann@example.net delivered 0000" {
			t.Errorf("forgeries count: %s", standing(record))
		}
		elsewhere := visitor{agent: firefox, ip: "198.51.100.7", header: map[string]string{"Host": "evil.test", "X-Forwarded-Host": "evil.test"}}
		if answer := elsewhere.visit(in, got.links[0]); answer.Header().Get("Location") != "https://acme.test/start?a=1&b=2#top" {
			t.Errorf("at another host: %v", answer.Header())
		}
	})
}

func TestALoopOfOpensIsToldOnlySoOften(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"html": page, "tracking": tracked})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		got := received(t, in, "ann@example.net")
		for range 103 {
			person.visit(in, got.pixel)
		}
		opens := told(t, in, id, "open")
		if len(opens) != 100 || fmt.Sprint(opens[99]["count"]) != "100" || in.Email(id).Text("opens") != "103" {
			t.Errorf("%d told, %s counted", len(opens), in.Email(id).Text("opens"))
		}
	})
}

func TestManyReadersAtOnceAreAllCounted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": many(8), "html": page, "tracking": tracked})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		done := make(chan struct{})
		for i := range 8 {
			got := received(t, in, fmt.Sprintf("user%d@example.net", i))
			for _, address := range []string{got.pixel, got.links[0], got.pixel} {
				go func() {
					person.visit(in, address)
					done <- struct{}{}
				}()
			}
		}
		for range 24 {
			<-done
		}
		record := in.Email(id)
		if record.Text("opens") != "16" || record.Text("clicks") != "8" || strings.Count(standing(record), "clicked 2100") != 8 {
			t.Errorf("%s", standing(record))
		}
	})
}

func TestWhatIsSettledForGoodIsNotOpened(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": "ann@example.net", "cc": "bob@example.net", "html": page, "tracking": tracked})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		reported(t, in, id, "ann@example.net", email.Reported{Complaint: &email.Complaint{Type: "abuse", Source: "fbl", ArrivedAt: api.Time(in.Clock.Now())}})
		reported(t, in, id, "bob@example.net", email.Reported{Bounce: &email.LateBounce{Enhanced: "5.1.1", Message: "550 5.1.1 No such user."}})
		for _, to := range []string{"ann@example.net", "bob@example.net"} {
			person.visit(in, received(t, in, to).pixel)
			person.visit(in, received(t, in, to).links[0])
		}
		record := in.Email(id)
		if standing(record) != "ann@example.net complained 0000, bob@example.net bounced 1100" {
			t.Errorf("%s", standing(record))
		}
		if opens := told(t, in, id, "open"); len(opens) != 1 {
			t.Errorf("told %v", opens)
		}
	})
}

// reported has the recipient's side tell something after the conversation.
func reported(t *testing.T, in *apptest.Installation, id, to string, report email.Reported) {
	t.Helper()
	err := in.App.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
		report.At = tx.Now()
		report.Recipient, err = db.One(tx, db.Value[email.RecipientID], `SELECT id FROM email_recipient WHERE email_id = $1 AND address = $2`, id, to)
		if err != nil {
			return err
		}
		_, err = in.App.Emails.Report(tx, report)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestThatAMessageBouncedThoughItWasReadIsToldOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": "ann@example.net", "cc": "bob@example.net", "html": page, "tracking": tracked})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		for _, to := range []string{"ann@example.net", "bob@example.net"} {
			person.visit(in, received(t, in, to).pixel)
			for range 3 {
				reported(t, in, id, to, email.Reported{Bounce: &email.LateBounce{Enhanced: "5.1.1", Message: "550 5.1.1 No such user."}})
			}
		}
		record := in.Email(id)
		if record.Text("status") != "opened" || strings.Count(string(record.Raw), `"email.bounced"`) != 2 {
			t.Errorf("%s", record.Raw)
		}
	})
}

func TestAnOpenBeforeTheLastRecipientIsSettledHidesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{"to": []string{"ann@example.net", "defer@example.net"}, "html": page, "tracking": tracked, "deliver_within_sec": 300})
		in.Deliver()
		in.Clock.Advance(time.Minute)
		person.visit(in, received(t, in, "ann@example.net").pixel)
		in.Clock.Advance(time.Hour)
		in.Deliver()
		record := in.Email(id)
		if record.Text("status") != "opened" || record.Text("sent_at") == "" || !strings.Contains(story(record), " sent") {
			t.Errorf("%s: %s", story(record), record.Raw)
		}
	})
}

func TestReadersAreServedWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	accepted(t, in, fields{"html": page, "tracking": tracked})
	in.Deliver()
	got := received(t, in, "ann@example.net")
	if err := in.App.DB.Close(); err != nil {
		t.Fatal(err)
	}
	if answer := person.visit(in, got.links[0]); answer.Code != 302 {
		t.Errorf("a link leads to %d", answer.Code)
	}
	if answer := person.visit(in, got.pixel); answer.Code != 200 {
		t.Errorf("a pixel shows %d", answer.Code)
	}
}

func TestReadyMadeMailIsChangedInItsPageAlone(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Call(http.MethodPatch, "/domains/"+in.DomainID, fields{"open_tracking": true, "click_tracking": true})
		post := func(to, body string) string {
			t.Helper()
			rcpt, err := address.Parse(to)
			if err != nil {
				t.Fatal(err)
			}
			raw := strings.ReplaceAll("From: hello@acme.test\nTo: "+to+"\nSubject: Hi\nMessage-ID: <1@acme.test>\nDate: Sun, 15 Nov 2026 10:00:00 +0000\n"+body, "\n", "\r\n")
			receipt, _, err := in.App.Emails.AcceptPosted(context.Background(), email.Sender{Workspace: in.Workspace, Plan: "unlimited", Source: email.SourceSMTP},
				email.Posted{Recipients: []address.Address{rcpt}, Host: "mx1.mail.postrider.test", Message: strings.NewReader(raw)})
			if err != nil {
				t.Fatal(err)
			}
			return string(receipt.ID)
		}
		const parts = "MIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=edge\n\npreamble  \n--edge\n\n" +
			"See https://acme.test/x \n--edge\nContent-Type: text/html; charset=utf-8\nX-Odd:  kept\n\n"
		const ending = "\n--edge--\nepilogue\n"
		id := post("ann@example.net", parts+`<p>é <a href="https://acme.test/x">x</a>`+ending)
		const signed = "MIME-Version: 1.0\nContent-Type: multipart/signed; boundary=s; protocol=\"application/pgp-signature\"\n\n" +
			"--s\nContent-Type: text/html\n\n<a href=\"https://acme.test/x\">x</a>\n--s\nContent-Type: application/pgp-signature\n\nsig\n--s--\n"
		post("bob@example.net", signed)
		in.Deliver()
		in.Clock.Advance(time.Minute)
		got := received(t, in, "ann@example.net")
		if len(got.links) != 1 || got.pixel == "" {
			t.Fatalf("%+v", got)
		}
		raw := in.Mailbox("ann@example.net")[0].Raw
		start, end := strings.ReplaceAll(parts, "\n", "\r\n"), strings.ReplaceAll(ending, "\n", "\r\n")
		if !strings.Contains(raw, start+`<p>é <a href="`+got.links[0]+`">x</a><img src="`+got.pixel) || !strings.HasSuffix(raw, end) {
			t.Errorf("%s", raw)
		}
		if raw := in.Mailbox("bob@example.net")[0].Raw; !strings.HasSuffix(raw, strings.ReplaceAll(signed, "\n", "\r\n")) {
			t.Errorf("signed mail was changed:\n%s", raw)
		}
		person.visit(in, got.links[0])
		if got := in.Email(id).Text("status"); got != "clicked" {
			t.Errorf("status %s", got)
		}
	})
}
