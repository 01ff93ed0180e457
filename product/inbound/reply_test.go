package inbound_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestAnAnswerThreadsAndSoDoesTheAnswerToIt(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		first := received(t, in)
		answer := in.Call(http.MethodPost, "/emails/receiving/"+first.Text("id")+"/reply", fields{"text": "Fine.", "html": "<p>Fine.</p>"})
		if answer.Status != http.StatusAccepted || answer.Text("in_reply_to") != "<q@example.net>" || answer.Text("status") != "queued" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Deliver()
		got := in.Mailbox("ann@example.net")
		if len(got) != 1 {
			t.Fatalf("%d answers", len(got))
		}
		for _, want := range []string{"From: support@acme.test\r\n", "To: Ann <ann@example.net>\r\n", "Subject: Re: Question\r\n", "In-Reply-To: <q@example.net>\r\n", "References: <q@example.net>\r\n",
			"Ann <ann@example.net> wrote:\r\n> How are you?", "How are you?</blockquote>"} {
			if !strings.Contains(strings.ReplaceAll(got[0].Raw, "=\r\n", ""), want) {
				t.Errorf("no %q in %s", want, got[0].Raw)
			}
		}
		sent := in.Email(answer.Text("id"))
		if sent.Text("source") != "reply" {
			t.Errorf("%s", sent.Raw)
		}
		again := crlf("From: Ann <ann@example.net>", "To: support@acme.test", "Subject: Re: Re: Question", "Message-ID: <q2@example.net>",
			"In-Reply-To: "+sent.Text("message_id"), "References: <q@example.net> "+sent.Text("message_id"), "", "Good.")
		if err := offer(mx, "ann@example.net", "support@acme.test", again); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		second := in.Call(http.MethodGet, "/emails/receiving?search=q2@example", nil)
		row, _ := second.Body["data"].([]any)[0].(map[string]any)
		if row["in_reply_to_email_id"] != answer.Text("id") || row["thread_id"] != first.Text("id") {
			t.Errorf("%s", second.Raw)
		}
	})
}

func TestMailThatAnswersAnEmailIsInItsThread(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		id := in.Send("ann@example.net")
		sent := in.Email(id)
		if err := offer(mx, "ann@example.net", "hello@acme.test", "From: ann@example.net\r\nSubject: Re: Hello\r\nReferences: <other@x> "+sent.Text("message_id")+"\r\n\r\nThanks\r\n"); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		if got := received(t, in); got.Text("in_reply_to_email_id") != id || got.Text("thread_id") != id {
			t.Errorf("%s", got.Raw)
		}
	})
}

func TestThreadsEndAtTheWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		ws, key := in.NewWorkspace(plan.Unlimited)
		domain := in.VerifiedDomain(ws, "other.test")
		in.CallAs(key, http.MethodPost, "/domains/"+domain+"/receiving", fields{"enabled": true}, nil)
		sent := in.Email(in.Send("ann@example.net")).Text("message_id")
		hand(t, mx, "support@acme.test", note)
		hand(t, mx, "desk@other.test", crlf("From: ann@example.net", "Subject: Re: Question", "Message-ID: <q2@example.net>",
			"In-Reply-To: <q@example.net>", "References: "+sent+" <q@example.net>", "", "Hm."))
		in.Receive()
		theirs := in.CallAs(key, http.MethodGet, "/emails/receiving", nil, nil)
		if theirs.Text("total") != "1" || theirs.Column("thread_id") != theirs.Column("id") || theirs.Column("in_reply_to_email_id") != "<nil>" {
			t.Errorf("%s", theirs.Raw)
		}
	})
}

func TestTwoAnswersWithOneKeyAreTwoIfTheyAnswerTwoMessages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		hand(t, mx, "support@acme.test", note)
		hand(t, mx, "support@acme.test", strings.Replace(note, "Ann <ann@", "Bob <bob@", 1))
		_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "test", Preset: "full_access", Mode: apikey.Test})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range strings.Fields(in.Call(http.MethodGet, "/emails/receiving", nil).Column("id")) {
			path, wish := "/emails/receiving/"+id+"/reply", fields{"text": "Fine.", "bcc": "boss@example.org", "idempotency_key": "answer:fine"}
			first := in.Must(http.StatusAccepted, http.MethodPost, path, wish)
			if trial := in.CallAs(key, http.MethodPost, path, wish, nil); trial.Status != http.StatusAccepted || trial.Text("id") == first.Text("id") {
				t.Errorf("with a test key: %s", trial.Raw)
			}
			if again := in.Must(http.StatusOK, http.MethodPost, path, wish); again.Text("id") != first.Text("id") {
				t.Errorf("%s", again.Raw)
			}
		}
		in.Deliver()
		ann, bob, boss := len(in.Mailbox("ann@example.net")), len(in.Mailbox("bob@example.net")), len(in.Mailbox("boss@example.org"))
		if ann != 1 || bob != 1 || boss != 2 {
			t.Errorf("%d for Ann, %d for Bob, %d for the boss", ann, bob, boss)
		}
	})
}

func TestAnswersFollowTheMessageUnlessTold(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	message := crlf("From: Ann <ann@example.net>", "Reply-To: desk@example.net", "To: support@acme.test, Bob <bob@example.org>", "Cc: carl@example.org", "Subject: re: Question",
		"Message-ID: <q@example.net>", "References: <a@x> <b@x>", "", "Hi")
	if err := offer(mx, "ann@example.net", "support@acme.test", message); err != nil {
		t.Fatal(err)
	}
	path := "/emails/receiving/" + received(t, in).Text("id") + "/reply"
	first := in.Call(http.MethodPost, path, fields{"text": "x", "reply_all": true, "quote": false, "idempotency_key": "answer-1234"})
	sent := in.Email(first.Text("id"))
	if sent.Text("to") != "[desk@example.net]" || sent.Text("cc") != "[Bob <bob@example.org> carl@example.org]" || sent.Text("subject") != "re: Question" || sent.Text("text") != "x" ||
		sent.Text("headers", "References") != "<a@x> <b@x> <q@example.net>" {
		t.Errorf("%s", sent.Raw)
	}
	again := in.Call(http.MethodPost, path, fields{"text": "x", "reply_all": true, "quote": false, "idempotency_key": "answer-1234"})
	if again.Status != http.StatusOK || again.Text("id") != first.Text("id") || again.Text("idempotent") != "true" {
		t.Errorf("%d %s", again.Status, again.Raw)
	}
	if other := in.Call(http.MethodPost, path, fields{"text": "y", "idempotency_key": "answer-1234"}); other.Text("error", "code") != "idempotency_key_reused" {
		t.Errorf("%s", other.Raw)
	}
	if empty := in.Call(http.MethodPost, path, fields{}); empty.Status != http.StatusBadRequest {
		t.Errorf("%s", empty.Raw)
	}
	if foreign := in.Call(http.MethodPost, path, fields{"text": "x", "from": "x@evil.test"}); foreign.Text("error", "code") != "invalid_from_address" {
		t.Errorf("%s", foreign.Raw)
	}
}

func TestAMessageWhoseIDFitsOnNoLineCanBeAnswered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		long := "<" + strings.Repeat("m", 950) + "@x>"
		for id, want := range map[string]string{long: "", "<q@example.net>": "<a@x> <q@example.net>"} {
			raw := crlf("From: ann@example.net", "Subject: Question", "Message-ID:", " "+id, "References: <a@x>", " "+long, "", "Hi")
			came := in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": raw, "to": []string{"support@acme.test"}})
			answer := in.Must(http.StatusAccepted, http.MethodPost, "/emails/receiving/"+came.Text("id")+"/reply", fields{"text": "x"})
			if got := in.Email(answer.Text("id")).Text("headers", "References"); got != want {
				t.Errorf("references %q", got)
			}
		}
	})
}

func TestAddressesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		raw := crlf("From: ann@example.net (Ann Lee)", "To: Team: bob@example.org, Carl <carl@example.org>;, support@acme.test", "Cc: undisclosed-recipients:;",
			"Reply-To: the desk, <desk@example.net>", "Subject: Question", "", "Hi")
		came := in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": raw, "rcpt_to": []string{"support@acme.test"}})
		if came.Text("from") != "ann@example.net" || came.Text("to") != "[bob@example.org Carl <carl@example.org> support@acme.test]" || came.Text("cc") != "[]" ||
			came.Text("reply_to") != "[the desk desk@example.net]" {
			t.Errorf("%s", came.Raw)
		}
		answer := in.Must(http.StatusAccepted, http.MethodPost, "/emails/receiving/"+came.Text("id")+"/reply", fields{"text": "x", "reply_all": true})
		sent := in.Email(answer.Text("id"))
		if sent.Text("to") != "[desk@example.net]" || sent.Text("cc") != "[bob@example.org Carl <carl@example.org>]" {
			t.Errorf("%s", sent.Raw)
		}
	})
}

func TestAnAuthorWhoseNameHasACommaIsAnswered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		raw := crlf("From: Lee, Ann <ann@example.net>", "To: support@acme.test", "Subject: Question", "", "Hi")
		came := in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": raw, "to": []string{"support@acme.test"}})
		answer := in.Must(http.StatusAccepted, http.MethodPost, "/emails/receiving/"+came.Text("id")+"/reply", fields{"text": "x"})
		if to := in.Email(answer.Text("id")).Text("to"); to != "[Ann <ann@example.net>]" {
			t.Errorf("answered %s", to)
		}
	})
}

func TestMailIsMarkedListedAndSearched(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		for _, subject := range []string{"One", "Two", "Three"} {
			if err := offer(mx, "ann@example.net", "support@acme.test", strings.Replace(note, "Question", subject, 1)); err != nil {
				t.Fatal(err)
			}
		}
		list := in.Call(http.MethodGet, "/emails/receiving?limit=2", nil)
		rows, _ := list.Body["data"].([]any)
		if len(rows) != 2 || list.Text("has_more") != "true" || list.Text("total") != "3" || rows[0].(map[string]any)["subject"] != "Three" {
			t.Fatalf("%s", list.Raw)
		}
		if _, there := rows[0].(map[string]any)["html"]; there {
			t.Error("a row has a body")
		}
		last := rows[1].(map[string]any)["id"].(string)
		after := in.Call(http.MethodGet, "/emails/receiving?after="+last, nil)
		if next, _ := after.Body["data"].([]any); len(next) != 1 || next[0].(map[string]any)["subject"] != "One" || after.Text("has_more") != "false" {
			t.Errorf("%s", after.Raw)
		}
		before := in.Call(http.MethodGet, "/emails/receiving?before="+last, nil)
		if next, _ := before.Body["data"].([]any); len(next) != 1 || next[0].(map[string]any)["subject"] != "Three" {
			t.Errorf("%s", before.Raw)
		}
		marked := in.Call(http.MethodPatch, "/emails/receiving/"+last, fields{"read": true, "starred": true})
		if marked.Text("read") != "true" || marked.Text("starred") != "true" || marked.Text("read_at") == "" {
			t.Errorf("%s", marked.Raw)
		}
		for query, want := range map[string]string{"read=true": "1", "read=false": "2", "starred=true": "1", "has_attachments=true": "0", "search=two": "1", "from=ANN@": "3", "to=support@acme": "3", "from=nobody,ANN@": "3", "to=x&to=support": "3", "to=x,y": "0",
			"domain=acme.test": "3", "domain=ACME.test.": "3", "domain=%C3%BC.test": "0", "domain=" + in.DomainID: "3", "domain=other.test": "0", "domain=other.test,acme.test": "3", "since=2020-01-01T00:00:00Z": "3", "until=2020-01-01T00:00:00Z": "0"} {
			if got := in.Call(http.MethodGet, "/emails/receiving?"+query, nil); got.Text("total") != want {
				t.Errorf("%s: %s, want %s: %s", query, got.Text("total"), want, got.Raw)
			}
		}
		unread := in.Call(http.MethodPatch, "/emails/receiving/"+last, fields{"read": false})
		if unread.Text("read") != "false" || unread.Text("starred") != "true" || unread.Body["read_at"] != nil {
			t.Errorf("%s", unread.Raw)
		}
		if nothing := in.Call(http.MethodPatch, "/emails/receiving/"+last, fields{}); nothing.Status != http.StatusBadRequest {
			t.Errorf("%s", nothing.Raw)
		}
		ways := map[string]string{}
		for _, order := range []string{"", "&order=asc"} {
			path := "/emails/receiving?limit=2" + order
			for page := in.Call(http.MethodGet, path, nil); ; page = in.Call(http.MethodGet, path+"&cursor="+page.Text("next_cursor"), nil) {
				for _, row := range page.Body["data"].([]any) {
					ways[order] += row.(map[string]any)["subject"].(string) + " "
				}
				if page.Text("next_cursor") == "" {
					break
				}
			}
		}
		if ways[""] != "Three Two One " || ways["&order=asc"] != "One Two Three " {
			t.Errorf("by cursor: %v", ways)
		}
		for _, query := range []string{"limit=201", "cursor=x", "order=up", "after=x&before=y", "after=00000000-0000-7000-8000-000000000000", "offset=-1"} {
			if got := in.Call(http.MethodGet, "/emails/receiving?"+query, nil); got.Status != http.StatusBadRequest {
				t.Errorf("%s: %d", query, got.Status)
			}
		}
	})
}

func TestATimeOfReceivedMailBeginsWithItsStartAndEndsBeforeItsEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "support@acme.test", note)
		at := time.UnixMicro(count(t, in, `SELECT created_at FROM inbound_received`)).UTC()
		moment, next := url.QueryEscape(at.Format(time.RFC3339Nano)), url.QueryEscape(at.Add(time.Microsecond).Format(time.RFC3339Nano))
		for query, want := range map[string]string{"since=" + moment: "1", "since=" + next: "0", "until=" + moment: "0", "until=" + next: "1"} {
			if got := in.Call(http.MethodGet, "/emails/receiving?"+query, nil).Text("total"); got != want {
				t.Errorf("%s: %s", query, got)
			}
		}
	})
}

func TestMailCanBeHandedInForATrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
		parts := in.Call(http.MethodPost, "/emails/receiving", fields{"from": "Ann <ann@example.net>", "to": "support@acme.test", "subject": "Trial", "html": "<p>Hi</p>",
			"attachments": []fields{{"filename": "a.txt", "content": "aGVsbG8="}}, "in_reply_to": "<x@y.test>"})
		if parts.Status != http.StatusCreated || parts.Text("source") != "ingest" || parts.Text("subject") != "Trial" || parts.Text("authentication", "spf") != "none" ||
			parts.Text("in_reply_to") != "<x@y.test>" || len(parts.Body["attachments"].([]any)) != 1 || parts.Text("stripped_text") != "Hi" {
			t.Fatalf("%d %s", parts.Status, parts.Raw)
		}
		if trace := parts.Text("headers", "received"); !strings.HasPrefix(trace, "by mx1.mail.postrider.test with HTTP id ") {
			t.Errorf("trace %q", trace)
		}
		in.Receive()
		in.Deliver()
		if got := len(in.Mailbox("team@example.org")); got != 1 {
			t.Errorf("%d were passed on", got)
		}
		events := in.Call(http.MethodGet, "/emails/receiving/"+parts.Text("id"), nil)
		if len(events.Body["forwarded"].([]any)) != 1 {
			t.Errorf("%s", events.Raw)
		}
		dry := in.Call(http.MethodPost, "/emails/receiving", fields{"raw": note, "mail_from": "ann@example.net", "rcpt_to": "support@acme.test", "dry_run": true})
		if dry.Status != http.StatusCreated || dry.Text("text") != "How are you?\r\n" || dry.Text("envelope", "mail_from") != "ann@example.net" {
			t.Errorf("%d %s", dry.Status, dry.Raw)
		}
		in.Receive()
		in.Deliver()
		if got := len(in.Mailbox("team@example.org")); got != 1 {
			t.Errorf("%d were passed on", got)
		}
		for name, wish := range map[string]fields{"nobody": {"raw": note}, "no author": {"to": "support@acme.test", "text": "x"}, "bad header": {"from": "a@b.test", "to": "support@acme.test", "headers": fields{"X\n": "y"}}} {
			if answer := in.Call(http.MethodPost, "/emails/receiving", wish); answer.Status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
			}
		}
		for want, wish := range map[string]fields{
			"rcpt_to: Must have 1 to":       {"raw": note},
			"rcpt_to: Must have 1 to 100":   {"raw": note, "rcpt_to": strings.Split(strings.Repeat("a@acme.test,", 100)+"b@acme.test", ",")},
			"to: Must have 1 to":            {"from": "a@b.test", "text": "x"},
			"rcpt_to[0]: other.test is not": {"raw": note, "rcpt_to": "a@other.test"},
			"cc[1]: other.test is not":      {"from": "a@b.test", "to": "support@acme.test", "cc": []string{"b@acme.test", "a@other.test"}},
			"bcc[0]: Invalid email address": {"from": "a@b.test", "to": "support@acme.test", "bcc": "nobody"},
			"to[0]: Invalid email address":  {"from": "a@b.test", "to": "nobody", "rcpt_to": "support@acme.test"},
		} {
			if answer := in.Call(http.MethodPost, "/emails/receiving", wish); answer.Status != http.StatusBadRequest || !strings.HasPrefix(answer.Problems(), want) {
				t.Errorf("%d %s, not %s", answer.Status, answer.Raw, want)
			}
		}
	})
}

func TestMailIsFoundByItsAuthorAndItsRecipients(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "hidden@acme.test", crlf("From: =?utf-8?q?=C3=84nne_=C3=96z?= <anne@example.net>", "To: =?utf-8?q?D=C3=96RTE?= <doerte@example.org>", "Cc: \"R&D\" <rd@example.org>",
			"Reply-To: desk@elsewhere.test", "Subject: Hello", "", "x"))
		for _, c := range []struct{ name, text, want string }{{"from", "Änne", "1"}, {"from", "ÄNNE ÖZ <anne@", "1"}, {"from", "doerte", "0"}, {"from", "hello", "0"},
			{"to", "dörte <DOERTE@", "1"}, {"to", "R&D", "1"}, {"to", "hidden@acme", "1"}, {"to", "elsewhere", "0"}, {"to", "received_for", "0"}, {"to", "anne", "0"}, {"to", "%", "0"}} {
			if got := in.Call(http.MethodGet, "/emails/receiving?"+url.Values{c.name: {c.text}}.Encode(), nil); got.Text("total") != c.want {
				t.Errorf("%s=%s: %s, want %s", c.name, c.text, got.Text("total"), c.want)
			}
		}
	})
}

func TestMailFromBeforeItsTextsWereFoldedIsFoundInAnyCaseOfAnyLetters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "hidden@acme.test", crlf("From: =?utf-8?q?=C3=84nne_=C3=96z?= <anne@example.net>", "To: =?utf-8?q?D=C3=96RTE?= <doerte@example.org>", "Subject: Hello", "", "x"))
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE inbound_received SET from_text = NULL, to_text = NULL`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ name, text, want string }{{"from", "änne", "1"}, {"from", "ÄNNE ÖZ", "1"}, {"from", "ANNE@", "1"}, {"from", "dörte", "0"},
			{"to", "dörte", "1"}, {"to", "Doerte@", "1"}, {"to", "änne", "0"}} {
			if got := in.Call(http.MethodGet, "/emails/receiving?"+url.Values{c.name: {c.text}}.Encode(), nil); got.Text("total") != c.want {
				t.Errorf("%s=%s: %s, want %s", c.name, c.text, got.Text("total"), c.want)
			}
		}
	})
}

func TestMarksOfTwoPeopleAtTheSameMomentBothStay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "support@acme.test", note)
		path := "/emails/receiving/" + received(t, in).Text("id")
		for i := range 20 {
			on := i%2 == 0
			var both sync.WaitGroup
			for _, wish := range []fields{{"read": on}, {"starred": on}} {
				both.Go(func() { in.Call(http.MethodPatch, path, wish) })
			}
			both.Wait()
			if got := in.Call(http.MethodGet, path, nil); got.Body["read"] != on || got.Body["starred"] != on {
				t.Fatalf("read %v, starred %v, want %v", got.Body["read"], got.Body["starred"], on)
			}
		}
		first := in.Call(http.MethodPatch, path, fields{"read": true}).Text("read_at")
		in.Clock.Advance(time.Minute)
		if again := in.Call(http.MethodPatch, path, fields{"read": true}).Text("read_at"); first == "" || again != first {
			t.Errorf("read at %q, then at %q", first, again)
		}
	})
}

func TestAnAnswerThatWasSentIsNotCalledAFailure(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		hand(t, in.Receiving(), "support@acme.test", note)
		path := "/emails/receiving/" + received(t, in).Text("id") + "/reply"
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`DROP TABLE inbound_answer`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if answer := in.Call(http.MethodPost, path, fields{"text": "Fine."}); answer.Status != http.StatusAccepted {
			t.Errorf("%d %s", answer.Status, answer.Raw)
		}
	})
}
