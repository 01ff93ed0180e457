package inbound_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/mail/address"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/apikey"
)

type fields = map[string]any

// rule makes a forwarding rule and returns its id.
func rule(t *testing.T, in *apptest.Installation, wish fields) string {
	t.Helper()
	answer := in.Call(http.MethodPost, "/emails/receiving/forwarding", wish)
	if answer.Status != http.StatusCreated {
		t.Fatalf("%d %s", answer.Status, answer.Raw)
	}
	return answer.Text("id")
}

// rules returns the rules, newest first.
func rules(t *testing.T, in *apptest.Installation) []map[string]any {
	t.Helper()
	list := in.Call(http.MethodGet, "/emails/receiving/forwarding", nil)
	var found []map[string]any
	rows, _ := list.Body["data"].([]any)
	for _, row := range rows {
		found = append(found, row.(map[string]any))
	}
	return found
}

const note = "From: Ann <ann@example.net>\r\nTo: support@acme.test\r\nSubject: Question\r\nMessage-ID: <q@example.net>\r\nDKIM-Signature: v=1; a=rsa-sha256; d=example.net; s=x; h=from; bh=AAAA; b=AAAA\r\n\r\nHow are you?\r\n"

func TestMailIsPassedOnInTheNameOfTheDomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		id := rule(t, in, fields{"address": "Support@acme.test", "forward_to": []string{"team@example.org"}, "description": "Inbox"})
		if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		in.Deliver()
		got := in.Mailbox("team@example.org")
		if len(got) != 1 {
			t.Fatalf("%d messages", len(got))
		}
		if got[0].Authentication["spf"] != "pass" || got[0].Authentication["dkim"] != "pass" || got[0].Authentication["dmarc"] != "pass" {
			t.Errorf("%v", got[0].Authentication)
		}
		for _, want := range []string{"From: \"Ann via acme.test\" <fwd+", "Reply-To: Ann <ann@example.net>\r\n", "Message-ID: <q@example.net>\r\n", "X-Forwarded-By: acme.test\r\n",
			"Received: from ", "Authentication-Results: mx1.mail.postrider.test;\r\n spf=", "\r\n\r\nHow are you?\r\n"} {
			if !strings.Contains(got[0].Raw, want) {
				t.Errorf("no %q in %s", want, got[0].Raw)
			}
		}
		if strings.Contains(got[0].Raw, "bh=AAAA") || strings.Contains(got[0].Raw, "Return-Path") {
			t.Errorf("%s", got[0].Raw)
		}
		message := received(t, in)
		passed, _ := message.Body["forwarded"].([]any)[0].(map[string]any)
		if passed["rule_id"] != id {
			t.Errorf("%s", message.Raw)
		}
		if sent := in.Email(passed["email_id"].(string)); sent.Text("source") != "forward" || sent.Text("to") != "[team@example.org]" || sent.Text("status") != "delivered" {
			t.Errorf("%s", sent.Raw)
		}
		if r := rules(t, in)[0]; r["forwarded_count"] != 1.0 || r["last_forwarded_at"] == nil || r["last_error"] != nil || r["address"] != "support@acme.test" || r["match_type"] != "exact" {
			t.Errorf("%v", r)
		}
	})
}

func TestAnswersToMailThatWasPassedOnGoWhereItsAuthorWants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		for _, mode := range []string{"rewrite", "passthrough"} {
			rule(t, in, fields{"address": mode + "@acme.test", "forward_to": mode + "@example.org", "mode": mode})
			hand(t, mx, mode+"@acme.test", "Reply-To: desk@example.net\r\nBcc: secret@example.net\r\n"+note)
		}
		in.Receive()
		in.Deliver()
		for _, mode := range []string{"rewrite", "passthrough"} {
			got := in.Mailbox(mode + "@example.org")
			if len(got) != 1 || strings.Count(got[0].Raw, "Reply-To: ") != 1 ||
				!strings.Contains(got[0].Raw, "Reply-To: desk@example.net\r\n") || strings.Contains(got[0].Raw, "secret@") {
				t.Errorf("%s: %v", mode, got)
			}
		}
	})
}

func TestMailIsPassedThroughWithItsAuthor(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "*@acme.test", "forward_to": []string{"team@example.org"}, "mode": "passthrough"})
		if err := offer(mx, "ann@example.net", "anything@acme.test", note); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		in.Deliver()
		got := in.Mailbox("team@example.org")
		if len(got) != 1 {
			t.Fatalf("%d messages", len(got))
		}
		for _, want := range []string{"ARC-Seal: i=1;", "ARC-Message-Signature: i=1;", "ARC-Authentication-Results: i=1; mx1.mail.postrider.test;", "From: Ann <ann@example.net>\r\n"} {
			if !strings.Contains(got[0].Raw, want) {
				t.Errorf("no %q in %s", want, got[0].Raw)
			}
		}
		back := got[0].Envelope.From
		if !strings.HasPrefix(back, "SRS0=") || !strings.Contains(back, "=example.net=ann@") || got[0].Authentication["spf"] != "pass" {
			t.Errorf("%s %v", back, got[0].Authentication)
		}
		hand(t, mx, back, bounce("team@example.org", "failed", "5.1.1", "550 5.1.1 no such user"))
		local, host, _ := strings.Cut(back, "@")
		for name, to := range map[string]string{"forged": strings.Replace(local, "=ann", "=bob", 1) + "@" + host, "short": "SRS0=aaaa=aa=example.net=ann@" + host} {
			if err := offer(mx, "", to, "Subject: x\r\n\r\nx\r\n"); err == nil || !strings.HasPrefix(err.Error(), "550") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := offer(mx, "x@evil.test", back, "Subject: x\r\n\r\nx\r\n"); err == nil {
			t.Error("a rewritten address is no relay for whoever knows it")
		}
		in.Clock.Advance(31 * 24 * time.Hour)
		if err := offer(mx, "", back, "Subject: x\r\n\r\nx\r\n"); err == nil {
			t.Error("a bounce after a month was taken")
		}
	})
}

func TestExactRulesComeBeforeCatchAll(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	rule(t, in, fields{"address": "*@acme.test", "forward_to": []string{"all@example.org"}})
	exact := rule(t, in, fields{"address": "support@acme.test", "forward_to": []string{"team@example.org"}})
	for _, to := range []string{"support@acme.test", "sales@acme.test"} {
		if err := offer(mx, "ann@example.net", to, note); err != nil {
			t.Fatal(err)
		}
	}
	in.Receive()
	in.Deliver()
	if all, team := len(in.Mailbox("all@example.org")), len(in.Mailbox("team@example.org")); all != 1 || team != 1 {
		t.Errorf("%d to all, %d to the team", all, team)
	}
	in.Call(http.MethodPatch, "/emails/receiving/forwarding/"+exact, fields{"enabled": false})
	if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
		t.Fatal(err)
	}
	in.Receive()
	in.Deliver()
	if all := len(in.Mailbox("all@example.org")); all != 2 {
		t.Errorf("%d to all", all)
	}
}

func TestMailThatNobodyWantsKeptGoesOnceItWasPassedOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "support@acme.test", "forward_to": []string{"team@example.org"}, "keep_copy": false})
		if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		in.Deliver()
		if got := len(in.Mailbox("team@example.org")); got != 1 {
			t.Errorf("%d messages", got)
		}
		if list := in.Call(http.MethodGet, "/emails/receiving", nil); list.Text("total") != "0" || strings.Contains(string(list.Raw), "Question") {
			t.Errorf("%s", list.Raw)
		}
	})
}

func TestARuleForAllPassesAMessageForSeveralOnOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "*@acme.test", "forward_to": []string{"team@example.org", "Team@EXAMPLE.org"}, "keep_copy": false})
		offerTo(t, in.Receiving(), note, "a@acme.test", "b@acme.test", "c@acme.test")
		in.Receive()
		in.Deliver()
		got := len(in.Mailbox("team@example.org"))
		if r := rules(t, in)[0]; got != 1 || r["forwarded_count"] != 1.0 || fmt.Sprint(r["forward_to"]) != "[team@example.org]" {
			t.Errorf("%d messages: %v", got, r)
		}
		if n := count(t, in, `SELECT COUNT(*) FROM inbound_message`); n != 0 {
			t.Error("what was only to be passed on stays")
		}
	})
}

func TestMailOfADomainThatMayNotSendIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Must(http.StatusCreated, http.MethodPost, "/domains", fields{"name": "fresh.test"})
		rule(t, in, fields{"address": "desk@fresh.test", "forward_to": "team@example.org", "keep_copy": false})
		in.Must(http.StatusCreated, http.MethodPost, "/emails/receiving", fields{"raw": note, "rcpt_to": "desk@fresh.test"})
		in.Receive()
		if got := received(t, in); got.Text("subject") != "Question" {
			t.Errorf("%s", got.Raw)
		}
		if r := rules(t, in)[0]; r["last_error"] != "domain_auth_broken" || r["forwarded_count"] != 0.0 {
			t.Errorf("%v", r)
		}
	})
}

func TestTwoChangesOfARuleAtTheSameMomentBothStay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		path := "/emails/receiving/forwarding/" + rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
		for i := range 20 {
			on := i%2 == 0
			var both sync.WaitGroup
			for _, wish := range []fields{{"enabled": on}, {"keep_copy": on}} {
				both.Go(func() { in.Call(http.MethodPatch, path, wish) })
			}
			both.Wait()
			if r := rules(t, in)[0]; r["enabled"] != on || r["keep_copy"] != on {
				t.Fatalf("enabled %v, keep_copy %v, want %v", r["enabled"], r["keep_copy"], on)
			}
		}
	})
}

func TestLoopsOfForwardsEnd(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	rule(t, in, fields{"address": "a@acme.test", "forward_to": []string{"team@example.org"}})
	looped := strings.Repeat("X-Forwarded-By: acme.test\r\n", 3) + note
	if err := offer(mx, "ann@example.net", "a@acme.test", looped); err != nil {
		t.Fatal(err)
	}
	in.Receive()
	in.Deliver()
	if got := len(in.Mailbox("team@example.org")); got != 0 {
		t.Errorf("%d messages", got)
	}
	if r := rules(t, in)[0]; r["last_error"] != "loop_detected" {
		t.Errorf("%v", r)
	}
	rule(t, in, fields{"address": "b@acme.test", "forward_to": []string{"c@acme.test"}})
	if err := offer(mx, "", "b@acme.test", "Auto-Submitted: auto-replied\r\n"+note); err != nil {
		t.Fatal(err)
	}
	in.Receive()
	if r := rules(t, in)[0]; r["last_error"] != "no_destination" {
		t.Errorf("an automatic message went to another address of ours: %v", r)
	}
}

func TestARulePassesOnOnlySoMuchAnHour(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	rule(t, in, fields{"address": "a@acme.test", "forward_to": []string{"team@example.org"}})
	in.Clock.Advance(time.Hour - time.Duration(in.Clock.Now().UnixNano())%time.Hour) // to the beginning of an hour
	for range 101 {
		if err := offer(mx, "ann@example.net", "a@acme.test", note); err != nil {
			t.Fatal(err)
		}
	}
	in.Receive()
	if r := rules(t, in)[0]; r["forwarded_count"] != 100.0 || r["last_error"] != "rate_limited" {
		t.Errorf("%v", r)
	}
	in.Clock.Advance(time.Hour)
	if err := offer(mx, "ann@example.net", "a@acme.test", note); err != nil {
		t.Fatal(err)
	}
	in.Receive()
	if r := rules(t, in)[0]; r["forwarded_count"] != 101.0 || r["last_error"] != nil {
		t.Errorf("%v", r)
	}
}

func TestRulesAreCheckedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		for name, wish := range map[string]fields{
			"no address":     {"forward_to": []string{"a@b.test"}},
			"no destination": {"address": "a@acme.test"},
			"bad one":        {"address": "a@acme.test", "forward_to": []string{"a@b.test> SIZE=1"}},
			"eleven":         {"address": "a@acme.test", "forward_to": strings.Split(strings.Repeat("a@b.test,", 10)+"a@b.test", ",")},
			"itself":         {"address": "a@acme.test", "forward_to": []string{"A@acme.test"}},
			"mode":           {"address": "a@acme.test", "forward_to": []string{"a@b.test"}, "mode": "fast"},
			"wild in it":     {"address": "a*@acme.test@x", "forward_to": []string{"a@b.test"}},
		} {
			if answer := in.Call(http.MethodPost, "/emails/receiving/forwarding", wish); answer.Status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", name, answer.Status, answer.Raw)
			}
		}
		if answer := in.Call(http.MethodPost, "/emails/receiving/forwarding", fields{"address": "a@other.test", "forward_to": "x@y.test"}); answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Raw), `"address":["other.test is not a domain of this workspace.`) {
			t.Errorf("%s", answer.Raw)
		}
		id := rule(t, in, fields{"address": "a@acme.test", "forward_to": "x@y.test"})
		if again := in.Call(http.MethodPost, "/emails/receiving/forwarding", fields{"address": "A@ACME.test", "forward_to": "x@y.test"}); again.Status != http.StatusConflict || again.Text("error", "details", "id") != id {
			t.Errorf("%s", again.Raw)
		}
		changed := in.Call(http.MethodPatch, "/emails/receiving/forwarding/"+id, fields{"mode": "passthrough", "keep_copy": false, "forward_to": []string{"p@q.test"}, "description": "d", "address": "b@acme.test"})
		if changed.Text("mode") != "passthrough" || changed.Text("address") != "a@acme.test" || changed.Text("forward_to") != "[p@q.test]" || changed.Text("keep_copy") != "false" {
			t.Errorf("%s", changed.Raw)
		}
		if list := in.Call(http.MethodGet, "/emails/receiving/forwarding?enabled=false", nil); list.Text("total") != "0" {
			t.Errorf("%s", list.Raw)
		}
		if list := in.Call(http.MethodGet, "/emails/receiving/forwarding?domain_id="+in.App.World.NewID()+","+in.DomainID, nil); list.Text("total") != "1" {
			t.Errorf("by one of two domains: %s", list.Raw)
		}
		if list := in.Call(http.MethodGet, "/emails/receiving/forwarding?domain_id="+in.DomainID, nil); list.Text("total") != "1" {
			t.Errorf("%s", list.Raw)
		}
		if gone := in.Call(http.MethodDelete, "/emails/receiving/forwarding/"+id, nil); gone.Text("deleted") != "true" {
			t.Errorf("%s", gone.Raw)
		}
		if gone := in.Call(http.MethodDelete, "/emails/receiving/forwarding/"+id, nil); gone.Status != http.StatusNotFound {
			t.Errorf("%s", gone.Raw)
		}
	})
}

func TestMailThatCannotBePassedOnIsKeptAfterAll(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "support@acme.test", "forward_to": []string{"team@example.org"}, "keep_copy": false})
		if err := offer(mx, "ann@example.net", "support@acme.test", strings.Repeat("X-Forwarded-By: acme.test\r\n", 3)+note); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		if got := received(t, in); got.Text("subject") != "Question" {
			t.Errorf("%s", got.Raw)
		}
		if list := in.Call(http.MethodGet, "/emails/receiving", nil); list.Text("total") != "1" {
			t.Errorf("%s", list.Raw)
		}
		if r := rules(t, in)[0]; r["last_error"] != "loop_detected" {
			t.Errorf("%v", r)
		}
	})
}

func TestMailThatTwoRulesCannotPassOnIsKeptOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		in.Must(http.StatusCreated, http.MethodPost, "/suppressions", fields{"email": "gone@example.org"})
		to := make([]string, 10)
		for i := range to {
			to[i] = fmt.Sprintf("desk%d@acme.test", i)
			rule(t, in, fields{"address": to[i], "forward_to": "gone@example.org", "keep_copy": false})
		}
		offerTo(t, mx, note, to...)
		in.Receive()
		list := in.Call(http.MethodGet, "/emails/receiving", nil)
		told := count(t, in, `SELECT COUNT(*) FROM event WHERE type = 'email.received'`)
		if told != 1 || list.Text("total") != "1" || list.Column("subject") != "Question" {
			t.Errorf("told %d times: %s", told, list.Raw)
		}
	})
}

func TestAWorkspaceThatWasStoppedPassesNothingOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org", "keep_copy": false})
		hand(t, in.Receiving(), "support@acme.test", note)
		if err := in.App.Accounts.Suspend(t.Context(), in.Workspace, "spam reports"); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		in.Deliver()
		if err := in.App.Accounts.Resume(t.Context(), in.Workspace); err != nil {
			t.Fatal(err)
		}
		if got := received(t, in); got.Text("subject") != "Question" || len(in.Mailbox("team@example.org")) != 0 {
			t.Errorf("%s", got.Raw)
		}
		if r := rules(t, in)[0]; r["last_error"] != "workspace_suspended" || r["forwarded_count"] != 0.0 {
			t.Errorf("%v", r)
		}
	})
}

func TestMailWithoutAnAuthorThatCannotBePassedOnAsItIsIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "pass@acme.test", "forward_to": "team@example.org", "mode": "passthrough", "keep_copy": false})
		if err := offer(mx, "cron@example.net", "pass@acme.test", "Subject: Report\r\nTo: pass@acme.test\r\n\r\nAll is well.\r\n"); err != nil {
			t.Fatal(err)
		}
		in.Receive()
		if got := received(t, in); got.Text("subject") != "Report" {
			t.Errorf("%s", got.Raw)
		}
		if r := rules(t, in)[0]; r["last_error"] != "no_author" {
			t.Errorf("%v", r)
		}
	})
}

func TestWhoeverHandsInMailThatIsOnlyPassedOnIsAnswered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org", "keep_copy": false})
		answer := in.Call(http.MethodPost, "/emails/receiving", fields{"raw": note, "mail_from": "ann@example.net", "rcpt_to": "support@acme.test"})
		if answer.Status != http.StatusCreated || answer.Text("subject") != "Question" || !strings.Contains(answer.Text("text"), "How are you?") || answer.Text("authentication", "spf") != "none" {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Receive()
		in.Deliver()
		if got := len(in.Mailbox("team@example.org")); got != 1 {
			t.Errorf("%d were passed on", got)
		}
	})
}

func TestMailThatATestKeyHandsInIsNotPassedOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
		_, key, err := in.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: in.Workspace, Name: "test", Preset: "full_access", Mode: apikey.Test})
		if err != nil {
			t.Fatal(err)
		}
		answer := in.CallAs(key, http.MethodPost, "/emails/receiving", fields{"raw": note, "mail_from": "ann@example.net", "rcpt_to": "support@acme.test"}, nil)
		if answer.Status != http.StatusCreated {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		in.Receive()
		in.Deliver()
		sent := in.Call(http.MethodGet, "/emails", nil)
		if !strings.Contains(string(sent.Raw), `"source":"forward"`) || !strings.Contains(string(sent.Raw), `"status":"delivered"`) || len(in.Mailbox("team@example.org")) != 0 {
			t.Errorf("%d left the machine: %s", len(in.Mailbox("team@example.org")), sent.Raw)
		}
	})
}

func TestNobodyIsToldOfMailThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "gone@acme.test", "forward_to": "bounce@example.org"})
		rule(t, in, fields{"address": "dsn@acme.test", "forward_to": "dsn@example.org", "mode": "passthrough"})
		for _, to := range []string{"gone@acme.test", "dsn@acme.test"} {
			for _, from := range []string{"forged@victim.test", ""} {
				if err := offer(mx, from, to, note); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := offer(mx, "forged@victim.test", "ann@nowhere.test", note); err == nil || !strings.HasPrefix(err.Error(), "550") {
			t.Errorf("mail for a stranger is answered with %v", err)
		}
		for range 3 {
			in.Receive()
			in.Deliver()
		}
		for _, innocent := range []string{"forged@victim.test", "ann@example.net"} {
			if got := in.Mailbox(innocent); len(got) != 0 {
				t.Errorf("%s got %d messages: %s", innocent, len(got), got[0].Raw)
			}
		}
	})
}

func TestTwoRulesThatPointAtEachOtherStop(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"rewrite", "passthrough"} {
		in := apptest.New(t, "sqlite")
		mx := in.Receiving()
		for from, to := range map[string]string{"a@acme.test": "b@acme.test", "b@acme.test": "a@acme.test"} {
			rule(t, in, fields{"address": from, "forward_to": to, "mode": mode})
		}
		if err := offer(mx, "ann@example.net", "a@acme.test", note); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			in.Receive()
			in.Deliver()
		}
		list := in.Call(http.MethodGet, "/emails/receiving", nil)
		if list.Text("total") != "4" { // the first, and one for each time it may be passed on
			t.Errorf("%s: %s messages", mode, list.Text("total"))
		}
	}
}

func TestARuleThatIsRemovedInTimeDoesNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		id := rule(t, in, fields{"address": "support@acme.test", "forward_to": []string{"team@example.org"}, "keep_copy": false})
		if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
			t.Fatal(err)
		}
		if _, err := in.App.Inbound.CheckStep(t.Context()); err != nil {
			t.Fatal(err)
		}
		in.Call(http.MethodDelete, "/emails/receiving/forwarding/"+id, nil)
		in.Receive()
		in.Deliver()
		if got := len(in.Mailbox("team@example.org")); got != 0 || received(t, in).Text("subject") != "Question" {
			t.Errorf("%d messages", got)
		}
	})
}

func TestACrashAfterPassingOnRepeatsNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "support@acme.test", "forward_to": []string{"team@example.org"}})
		if err := offer(mx, "ann@example.net", "support@acme.test", note); err != nil {
			t.Fatal(err)
		}
		if _, err := in.App.Inbound.CheckStep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var item queue.Item
		err := in.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			item, err = db.One(tx, func(s db.Scanner) (i queue.Item, err error) {
				err = s.Scan(&i.ID, &i.Lane, &i.Flow, &i.Payload)
				return i, err
			}, `SELECT id, lane, flow, payload FROM queue_item WHERE lane = 'forward'`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Receive()
		// The same work again, as if the process had died before it could note that it was done.
		err = in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			item.Due = tx.Now()
			return queue.Add(tx, item)
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Receive()
		in.Deliver()
		if got := len(in.Mailbox("team@example.org")); got != 1 {
			t.Errorf("%d messages", got)
		}
		if passed, _ := received(t, in).Body["forwarded"].([]any); len(passed) != 1 {
			t.Errorf("%v", passed)
		}
	})
}

func TestMailForSeveralIsKeptIfAnybodyWantsItKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "gone@acme.test", "forward_to": "team@example.org", "keep_copy": false})
		rule(t, in, fields{"address": "lost@acme.test", "forward_to": []string{"gone@acme.test", "boss@example.org"}, "keep_copy": false})
		for _, to := range [][]string{{"kept@acme.test", "gone@acme.test"}, {"gone@acme.test", "kept@acme.test"}} {
			for _, refusal := range offerTo(t, mx, strings.Replace(note, "Question", "For somebody", 1), to...) {
				if refusal != nil {
					t.Fatal(refusal)
				}
			}
		}
		offerTo(t, mx, note, "gone@acme.test", "lost@acme.test")
		in.Receive()
		in.Deliver()
		list := in.Call(http.MethodGet, "/emails/receiving", nil)
		if list.Text("total") != "2" || strings.Contains(string(list.Raw), "Question") {
			t.Errorf("%s", list.Raw)
		}
		if team, boss := len(in.Mailbox("team@example.org")), len(in.Mailbox("boss@example.org")); team != 3 || boss != 1 {
			t.Errorf("%d for the team, %d for the boss", team, boss)
		}
		if n := count(t, in, `SELECT COUNT(*) FROM email WHERE source = 'forward'`); n != 4 || len(in.Mailbox("gone@acme.test")) != 0 {
			t.Errorf("%d were passed on: who has it already got it again", n)
		}
		if messages, rows := count(t, in, `SELECT COUNT(*) FROM inbound_message`), count(t, in, `SELECT COUNT(*) FROM inbound_received`); messages != 2 || rows != 2 {
			t.Errorf("%d contents and %d rows are left", messages, rows)
		}
		if told := count(t, in, `SELECT COUNT(*) FROM event WHERE type = 'email.received'`); told != 2 {
			t.Errorf("%d were told of", told)
		}
	})
}

func TestMailStaysUntilTheLastRuleHasPassedItOn(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		rule(t, in, fields{"address": "a@acme.test", "forward_to": "ann@example.org", "keep_copy": false})
		rule(t, in, fields{"address": "b@acme.test", "forward_to": "bob@example.org", "keep_copy": false})
		offerTo(t, mx, note, "a@acme.test", "b@acme.test")
		step(t, in.App.Inbound.CheckStep)
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE queue_item SET due_at = $1 WHERE id = (SELECT id FROM queue_item WHERE lane = 'forward' ORDER BY id LIMIT 1)`, tx.Now().Add(time.Minute))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		in.Receive()
		in.Clock.Advance(time.Minute)
		in.Receive()
		in.Deliver()
		if ann, bob := len(in.Mailbox("ann@example.org")), len(in.Mailbox("bob@example.org")); ann != 1 || bob != 1 {
			t.Errorf("%d for Ann, %d for Bob", ann, bob)
		}
		if n := count(t, in, `SELECT COUNT(*) FROM inbound_message`); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

func TestMailThatIsOnlyPassedOnIsNotShownMeanwhile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org", "keep_copy": false})
		hand(t, in.Receiving(), "support@acme.test", note)
		id := received(t, in).Text("id")
		step(t, in.App.Inbound.CheckStep)
		if list := in.Call(http.MethodGet, "/emails/receiving?search=question", nil); list.Text("total") != "0" {
			t.Errorf("%s", list.Raw)
		}
		if answer := in.Call(http.MethodGet, "/emails/receiving/"+id, nil); answer.Status != http.StatusNotFound {
			t.Errorf("%d %s", answer.Status, answer.Raw)
		}
	})
}

func TestTheLastRuleThatFitsIsMadeOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		rule(t, in, fields{"address": "first@acme.test", "forward_to": "team@example.org"})
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			var values []any
			for i := range 998 {
				values = append(values, fmt.Sprintf("00000000-0000-7000-8000-%012d", i), in.Workspace, in.DomainID, "acme.test", fmt.Sprintf("%d@acme.test", i), `["team@example.org"]`,
					true, true, "rewrite", tx.Now(), tx.Now())
			}
			_, err := tx.InsertRows(`INSERT INTO inbound_rule (id, workspace_id, domain_id, domain, address, forward_to, enabled, keep_copy, mode, created_at, updated_at)`, 11, values, ``)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		answers := make([]apptest.Answer, 16)
		for i := range answers {
			all.Go(func() {
				answers[i] = in.Call(http.MethodPost, "/emails/receiving/forwarding", fields{"address": fmt.Sprintf("last%d@acme.test", i), "forward_to": "team@example.org"})
			})
		}
		all.Wait()
		made := 0
		for _, answer := range answers {
			if answer.Status == http.StatusCreated {
				made++
			} else if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Raw), "at most 1000 forwarding rules") {
				t.Errorf("%d %s", answer.Status, answer.Raw)
			}
		}
		if n := count(t, in, `SELECT COUNT(*) FROM inbound_rule`); made != 1 || n != 1000 {
			t.Errorf("%d were made, and there are %d", made, n)
		}
	})
}

func TestRulesGoWithTheirDomain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := in.VerifiedDomain(in.Workspace, "other.test")
		rule(t, in, fields{"address": "a@acme.test", "forward_to": "team@example.org"})
		rule(t, in, fields{"address": "a@other.test", "forward_to": "team@example.org"})
		if gone := in.Browse(http.MethodDelete, "/v1/domains/"+other, nil); gone.Status != http.StatusOK {
			t.Fatalf("%d %s", gone.Status, gone.Raw)
		}
		step(t, worker(t, in.App.Workers(), "old operator's mail"))
		if left := rules(t, in); len(left) != 1 || left[0]["address"] != "a@acme.test" {
			t.Errorf("%v", left)
		}
	})
}

func TestADomainThatIsAddedAgainGetsRulesAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := in.VerifiedDomain(in.Workspace, "other.test")
		rule(t, in, fields{"address": "a@other.test", "forward_to": "old@example.org"})
		in.Browse(http.MethodDelete, "/v1/domains/"+other, nil)
		again := in.VerifiedDomain(in.Workspace, "other.test")
		rule(t, in, fields{"address": "a@other.test", "forward_to": "new@example.org"})
		if left := rules(t, in); len(left) != 1 || left[0]["domain_id"] != again {
			t.Errorf("%v", left)
		}
	})
}

func TestMailThatWouldBePassedOnToNobodyIsKept(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		mx := in.Receiving()
		in.Must(http.StatusCreated, http.MethodPost, "/suppressions", fields{"email": "Gone@example.org"})
		rule(t, in, fields{"address": "some@acme.test", "forward_to": []string{"gone@example.org", "team@example.org"}, "keep_copy": false})
		rule(t, in, fields{"address": "none@acme.test", "forward_to": "gone@example.org", "keep_copy": false})
		hand(t, mx, "some@acme.test", strings.Replace(note, "Question", "For some", 1))
		hand(t, mx, "none@acme.test", note)
		in.Receive()
		in.Deliver()
		if got := received(t, in); got.Text("subject") != "Question" || len(in.Mailbox("team@example.org")) != 1 {
			t.Errorf("%s", got.Raw)
		}
		if r := rules(t, in); r[0]["last_error"] != "no_destination" || r[0]["forwarded_count"] != 0.0 || r[1]["last_error"] != nil {
			t.Errorf("%v", r)
		}
	})
}

// Whoever writes under a name of many hundred letters must not make a line of it that servers refuse.
func TestMailOfALongNameIsPassedOnInLinesThatServersTake(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	mx := in.Receiving()
	rule(t, in, fields{"address": "support@acme.test", "forward_to": "team@example.org"})
	long := strings.Repeat("日本語の名前 ", 60)
	raw := "From: " + strings.ReplaceAll(address.EncodeWords(long), " ", "\r\n ") + "\r\n <ann@example.net>\r\nTo: support@acme.test\r\nSubject: Hello\r\n" +
		"Reply-To: " + strings.ReplaceAll(address.EncodeWords(long[:200]), " ", "\r\n ") + "\r\n <ann@example.net>\r\n\r\nHello\r\n"
	hand(t, mx, "support@acme.test", raw)
	in.Receive()
	in.Deliver()
	got := in.Mailbox("team@example.org")
	if len(got) != 1 {
		t.Fatalf("%d messages", len(got))
	}
	for line := range strings.SplitSeq(got[0].Raw, "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line of %d bytes: %.60s", len(line), line)
		}
	}
}
