package email_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/product/apikey"
	"postrider/product/plan"
)

func TestAcceptanceIsAnsweredWithTheIdAndNothingMore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		answer := send(in, nil)
		if answer.Status != http.StatusAccepted {
			t.Fatalf("%d %s", answer.Status, answer.Raw)
		}
		want := []string{"created_at", "id", "message_id", "object", "scheduled_at", "status"}
		if got := slices.Sorted(maps.Keys(answer.Body)); !slices.Equal(got, want) {
			t.Errorf("fields %v, want %v", got, want)
		}
		id := answer.Text("id")
		if answer.Text("object") != "email" || answer.Text("status") != "queued" || answer.Body["scheduled_at"] != nil {
			t.Errorf("%s", answer.Raw)
		}
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("id %q is no UUID of version 7", id)
		}
		if want := "<" + strings.ReplaceAll(id, "-", "") + "@acme.test>"; answer.Text("message_id") != want {
			t.Errorf("message id %s, want %s", answer.Text("message_id"), want)
		}
		if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(answer.Text("created_at")) {
			t.Errorf("created_at %q", answer.Text("created_at"))
		}
	})
}

func TestWhatWasSentIsWhatIsReadBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		id := accepted(t, in, fields{
			"from": `"Acme, Inc." <hello@acme.test>`, "to": []string{"Ann <ann@example.net>", "bob@example.net"}, "cc": "Cäcilia <c@example.net>",
			"bcc": "secret@example.net", "reply_to": "support@acme.test", "subject": "  Größe 👋  ", "html": "<p>Hi</p>", "text": "Hi",
			"headers": fields{"X-Entity-Ref-ID": "123"}, "message_id": "<order.42@acme.test>", "idempotency_key": "welcome:42",
			"tags":     []fields{{"name": "category", "value": "welcome"}},
			"metadata": fields{"user": "u_42", "count": 7, "vip": true}, "tracking": fields{"opens": true},
		})
		record := in.Email(id)
		want := fields{
			"from": `"Acme, Inc." <hello@acme.test>`, "to": []any{"Ann <ann@example.net>", "bob@example.net"}, "cc": []any{"Cäcilia <c@example.net>"},
			"bcc": []any{"secret@example.net"}, "reply_to": []any{"support@acme.test"}, "subject": "Größe 👋", "html": "<p>Hi</p>", "text": "Hi",
			"headers": fields{"X-Entity-Ref-ID": "123"}, "message_id": "<order.42@acme.test>", "idempotency_key": "welcome:42",
			"tags":     []any{fields{"name": "category", "value": "welcome"}},
			"metadata": fields{"user": "u_42", "count": 7.0, "vip": true}, "tracking": fields{"opens": true, "clicks": false},
			"object": "email", "status": "queued", "last_event": "queued", "source": "api", "domain_id": in.DomainID, "attachment_count": 0.0,
			"provider": "direct", "failure": nil, "managed_tenant_id": nil, "scheduled_at": nil, "sent_at": nil, "opens": 0.0,
		}
		for name, value := range want {
			if got := record.Body[name]; fmt.Sprint(got) != fmt.Sprint(value) {
				t.Errorf("%s = %v, want %v", name, got, value)
			}
		}
		if got := recipients(record); got != "to ann@example.net, to bob@example.net, cc c@example.net, bcc secret@example.net" {
			t.Errorf("recipients: %s", got)
		}
	})
}

func TestLargeNumbersInMetadataKeepEveryDigit(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := accepted(t, in, fields{"metadata": fields{"order": int64(1234567890123456789)}})
	if raw := string(in.Email(id).Raw); !strings.Contains(raw, `"order":1234567890123456789`) {
		t.Errorf("%s", raw)
	}
}

func TestAddressesMayBeTextOrListAndHoldCommas(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for name, c := range map[string]struct {
		change fields
		want   string
	}{
		"text":             {fields{"to": "ann@example.net"}, "to ann@example.net"},
		"list":             {fields{"to": []string{"ann@example.net", "bob@example.net"}}, "to ann@example.net, to bob@example.net"},
		"commas":           {fields{"to": "Ann <ann@example.net>, bob@example.net"}, "to ann@example.net, to bob@example.net"},
		"comma in a name":  {fields{"to": `"Doe, Ann" <ann@example.net>`}, "to ann@example.net"},
		"list with commas": {fields{"to": []string{"a@example.net,b@example.net", "c@example.net"}}, "to a@example.net, to b@example.net, to c@example.net"},
		"named twice":      {fields{"to": []string{"ann@example.net", "Ann <ANN@Example.NET>"}}, "to ann@example.net"},
		"in several lists": {fields{"cc": "ann@example.net, bob@example.net", "bcc": []string{"BOB@example.net", "c@example.net"}},
			"to ann@example.net, cc bob@example.net, bcc c@example.net"},
		"50 after doubles":  {fields{"to": append(many(50), many(50)...)}, "to " + strings.Join(many(50), ", to ")},
		"international":     {fields{"to": "ann@bücher.test"}, "to ann@xn--bcher-kva.test"},
		"null beside a to":  {fields{"cc": []string{}, "bcc": []string{}}, "to ann@example.net"},
		"upper-case domain": {fields{"to": "Ann@EXAMPLE.net"}, "to Ann@example.net"},
	} {
		if got := recipients(in.Email(accepted(t, in, c.change))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestReplyAddressHasTwoSpellings(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	for _, spelling := range []string{"reply_to", "replyTo"} {
		record := in.Email(accepted(t, in, fields{spelling: []string{"Help <help@acme.test>"}}))
		if got := fmt.Sprint(record.Body["reply_to"]); got != "[Help <help@acme.test>]" {
			t.Errorf("%s: %s", spelling, got)
		}
	}
}

func TestTextIsMadeFromHTMLUnlessItIsSwitchedOff(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		made := in.Email(accepted(t, in, fields{"text": nil, "html": "<p>Hello</p><p>Ann &amp; Bob</p>"}))
		if made.Text("text") != "Hello\n\nAnn & Bob" {
			t.Errorf("text made from html: %q", made.Text("text"))
		}
		off := in.Email(accepted(t, in, fields{"text": "", "html": "<p>Hello</p>"}))
		if off.Body["text"] != nil || off.Text("html") != "<p>Hello</p>" {
			t.Errorf("text %v, html %v", off.Body["text"], off.Body["html"])
		}
	})
}

func TestLargeContentIsReadBackWhole(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		html := "<p>" + strings.Repeat("a long letter ", 10_000) + "</p>"
		id := accepted(t, in, fields{"html": html, "scheduled_at": "in 1 hour"})
		if in.Email(id).Text("html") != html {
			t.Error("the content changed on its way")
		}
		cancelled := in.Call(http.MethodPost, "/emails/"+id+"/cancel", nil)
		if cancelled.Text("html") != html || cancelled.Text("text") != "Hello there" {
			t.Error("the answer to a cancel has another content")
		}
	})
}

func TestFieldsThatAreNotTheCallersToSetAreIgnored(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		foreign, _ := in.NewWorkspace(plan.Free)
		id := accepted(t, in, fields{"id": "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00", "status": "delivered", "workspace_id": string(foreign),
			"created_at": "2001-01-01T00:00:00Z", "source": "smtp", "domain_id": "x", "opens": 9, "api_key_id": "x"})
		record := in.Email(id)
		if id == "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00" || record.Text("status") != "queued" || record.Text("source") != "api" ||
			record.Text("domain_id") != in.DomainID || record.Body["opens"] != 0.0 || strings.HasPrefix(record.Text("created_at"), "2001") {
			t.Errorf("%s", record.Raw)
		}
	})
}

func TestSenderMustBeADomainOfTheWorkspaceThatPassesItsChecks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		in.Call(http.MethodPost, "/domains", fields{"domain": "pending.test"})
		stranger, strangersKey := in.NewWorkspace(plan.Unlimited)
		in.VerifiedDomain(stranger, "stranger.test")

		for _, from := range []string{"a@unknown.test", "a@stranger.test", "a@sub.acme.test", "a@аcme.test"} {
			answer := send(in, fields{"from": from})
			refused(t, answer, http.StatusForbidden, "invalid_from_address")
			if from == "a@unknown.test" && answer.Text("error", "details", "domain") != "unknown.test" {
				t.Errorf("%s", answer.Raw)
			}
		}
		refused(t, in.CallAs(strangersKey, http.MethodPost, "/emails", letter(nil), nil), http.StatusForbidden, "invalid_from_address")

		pending := send(in, fields{"from": "a@pending.test"})
		refused(t, pending, http.StatusForbidden, "domain_auth_broken")
		if pending.Text("error", "details", "domain") != "pending.test" || pending.Text("error", "details", "domain_id") == "" ||
			pending.Text("error", "details", "checks", "spf") != "not_checked" || pending.Text("error", "details", "checks", "dkim") != "not_checked" {
			t.Errorf("%s", pending.Raw)
		}
		for _, from := range []string{"a@ACME.test", "Acme <a@acme.test>", `"ceo@bank.test" <a@acme.test>`} {
			accepted(t, in, fields{"from": from})
		}
	})
}

func TestKeyForOneDomainCannotSendFromAnother(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, in *apptest.Installation) {
		other := in.VerifiedDomain(in.Workspace, "other.test")
		_, key, err := in.App.Keys.Create(context.Background(), apikey.NewKey{Workspace: in.Workspace, Name: "other only",
			Preset: apikey.SendingAccess, DomainIDs: []string{other}})
		if err != nil {
			t.Fatal(err)
		}
		answer := in.CallAs(key, http.MethodPost, "/emails", letter(nil), nil)
		refused(t, answer, http.StatusForbidden, "domain_not_allowed")
		if answer.Text("error", "details", "domain") != "acme.test" {
			t.Errorf("%s", answer.Raw)
		}
		if answer := in.CallAs(key, http.MethodPost, "/emails", letter(fields{"from": "a@other.test"}), nil); answer.Status != http.StatusAccepted {
			t.Errorf("from its own domain: %d %s", answer.Status, answer.Raw)
		}
	})
}

func TestMailThatNobodyTakesInItsTimeFails(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := accepted(t, in, fields{"to": "busy@example.net", "deliver_within_sec": 600})
	in.Deliver()
	in.Clock.Advance(11 * time.Minute)
	in.Deliver()
	record := in.Email(id)
	got := record.Text("status") + " " + record.Text("failure", "reason") + ": " + record.Text("failure", "message")
	if got != "failed delivery_expired: No server accepted the message within 10 minutes." {
		t.Error(got)
	}
}
