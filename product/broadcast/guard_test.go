package broadcast_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postrider/mail/report"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/apikey"
	"postrider/product/broadcast"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/world"
)

// held starts a broadcast and stops it before anybody is handed over: the recipients are known, and nobody has mail.
func (h *house) held(list string, more fields) string {
	h.t.Helper()
	return h.heldAs(h.Key, list, more)
}

func (h *house) heldAs(key, list string, more fields) string {
	h.t.Helper()
	opens := h.Clock.Now().Add(3 * time.Hour)
	body := news(list, more)
	body["sending_window"] = fields{"start": opens.Format("15:04"), "end": opens.Add(2 * time.Hour).Format("15:04")}
	body["send"] = true
	id := h.mustAs(key, 202, "POST", "/broadcasts", body).Text("id")
	h.hand()
	return id
}

// release lets a broadcast that is held go on.
func (h *house) release() {
	h.t.Helper()
	h.Clock.Advance(3*time.Hour + time.Minute)
	h.finish()
}

func TestWhoLeavesBetweenTheStartAndTheHandOffGetsNoMail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		topic := h.must(201, "POST", "/topics", fields{"name": "News", "default_subscription": "opt_in"}).Text("id")
		list := h.list("ann@example.net", "deleted@example.net", "global@example.net", "offlist@example.net", "offtopic@example.net", "blocked@example.net")
		id := h.held(list, fields{"topic_id": topic})
		if got := h.stats(id, "recipients", "queued"); got != "recipients 6, queued 6" {
			t.Fatal(got)
		}
		h.must(200, "DELETE", "/contacts/deleted@example.net", nil)
		h.must(200, "PATCH", "/contacts/global@example.net", fields{"unsubscribed": true})
		h.write(`DELETE FROM list_contact WHERE contact IN (SELECT number FROM contact WHERE address = $1)`, "offlist@example.net")
		h.must(200, "PATCH", "/contacts/offtopic@example.net/topics", fields{"topics": []fields{{"id": topic, "subscription": "opt_out"}}})
		h.must(201, "POST", "/suppressions", fields{"email": "blocked@example.net"})
		h.must(201, "POST", "/contacts", fields{"email": "late@example.net", "list_ids": []string{list}})
		h.release()

		want := "ann delivered, blocked suppressed (manual), deleted skipped (contact_deleted), global suppressed (unsubscribed), offlist skipped (left_list), offtopic suppressed (topic_opt_out)"
		if got := h.roster(id, ""); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := h.stats(id, "recipients", "queued", "sent", "delivered", "suppressed", "skipped", "failed"); got != "recipients 6, queued 0, sent 1, delivered 1, suppressed 3, skipped 2, failed 0" {
			t.Error(got)
		}
		if b := h.get(id); b.Text("status") != "sent" {
			t.Errorf("%s", b.Raw)
		}
		errors := h.rows("/broadcasts/" + id + "/recipient-errors?reason=left_list,topic_opt_out")
		if len(errors) != 2 || errors[0]["stage"] != "suppression" || errors[0]["message"] == "" || errors[0]["email_id"] != nil {
			t.Errorf("%v", errors)
		}
		for _, to := range []string{"deleted", "global", "offlist", "offtopic", "blocked", "late"} {
			if len(h.Mailbox(to+"@example.net")) != 0 {
				t.Errorf("%s has mail", to)
			}
		}
	})
}

func TestMailGoesToTheAddressThatAContactHasNow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.held(h.list("ann@example.net", "bob@example.net"), fields{"html": "<p>To {{{EMAIL}}}</p>"})
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"email": "anna@example.net"})
		h.release()

		if got := h.roster(id, ""); got != "anna delivered, bob delivered" {
			t.Error(got)
		}
		for to, want := range map[string]int{"ann@example.net": 0, "anna@example.net": 1, "bob@example.net": 1} {
			if n := len(h.Mailbox(to)); n != want {
				t.Errorf("%s has %d mails", to, n)
			}
		}
	})
}

func TestAPersonWhoIsForgottenIsNotNamedByBroadcasts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net", "bob@example.net", "bounced@simulator.mail.postrider.test")
		over := h.sent(list, nil)
		h.finish()
		waits := h.held(list, nil)
		h.write(`UPDATE broadcast_recipient SET error = $1 WHERE bounce_type IS NOT NULL`, `{"stage":"delivery","reason":"hard_bounce","message":"550 5.1.1 <bounced@simulator.mail.postrider.test> unknown","smtp_code":550,"occurred_at":"2026-11-15T12:00:00Z"}`)
		for _, who := range []string{"ann@example.net", "bounced@simulator.mail.postrider.test"} {
			h.must(202, "POST", "/audience/contacts/"+who+"/erase", nil)
		}
		for _, w := range h.App.Audience.Workers() {
			h.Finish(w.Step)
		}

		if got := h.roster(over, ""); got != "bob delivered, forgotten bounced (hard_bounce), forgotten delivered" {
			t.Error(got)
		}
		for _, path := range []string{"/broadcasts/" + over + "/recipients", "/broadcasts/" + over + "/recipient-errors", "/broadcasts/" + waits + "/recipients"} {
			if raw := string(h.must(200, "GET", path, nil).Raw); strings.Contains(raw, "ann@") || strings.Contains(raw, "bounced@") {
				t.Errorf("%s: %s", path, raw)
			}
		}
		h.release()
		if got := h.roster(waits, ""); got != "bob delivered, forgotten skipped (contact_deleted), forgotten skipped (contact_deleted)" {
			t.Error(got)
		}
	})
}

func TestOneClickInABroadcastLeavesItsListAndIsCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		id := h.sent(list, nil)
		h.finish()
		link := unsubscribeLink.FindString(unwrapped(h.Mailbox("ann@example.net")[0].Raw))
		for range 2 { // mail programs ask again
			request := httptest.NewRequest(http.MethodPost, link, strings.NewReader("List-Unsubscribe=One-Click"))
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer := httptest.NewRecorder()
			h.App.API.ServeHTTP(answer, request)
			if answer.Code != 200 {
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
			h.follow()
		}
		row := h.rows("/broadcasts/" + id + "/recipients")[0]
		if got := h.stats(id, "unsubscribed", "unsubscribe_rate"); got != "unsubscribed 1, unsubscribe_rate 1" || row["unsubscribed"] != true {
			t.Errorf("%s %v", got, row)
		}
		next := h.sent(list, nil)
		h.finish()
		if got := h.stats(next, "recipients"); got != "recipients 0" {
			t.Error(got)
		}
	})
}

func TestAPlanWithoutRoomTodayRefusesABroadcast(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list(crowd(5)...)
		plans, day := plan.Shipped(), int64(7)
		for name, p := range plans {
			p.Limits.EmailsPerDay = &day
			plans[name] = p
		}
		a := h.App
		service := broadcast.New(a.World, a.DB, broadcast.Parts{Plans: plan.New(plans), Accounts: a.Accounts, Templates: a.Templates, Suppressions: a.Suppressions,
			Emails: a.Emails, Audience: a.Audience})
		front := api.NewServer(api.Config{World: a.World, Keys: a.Keys, Sessions: a.Accounts, Rates: a.Plans.RateOf}, service.Routes())
		if got := h.askOf(front, "POST", "/broadcasts/audience-estimate", fields{"audience_id": list}); got.Text("quota", "remaining") != "7" || got.Text("quota", "sufficient") != "true" {
			t.Errorf("%s", got.Raw)
		}
		use := func(n int64) {
			if err := a.DB.Write(t.Context(), func(tx *db.Tx) error {
				_, err := a.Plans.UseEmails(tx, h.Workspace, plan.Unlimited, tx.Now(), n)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		use(2)
		if fits := h.askOf(front, "POST", "/broadcasts", news(list, fields{"send": true})); fits.Status != 202 {
			t.Errorf("room for exactly as many: %d %s", fits.Status, fits.Raw)
		}
		use(1)

		refused := h.askOf(front, "POST", "/broadcasts", news(list, fields{"send": true}))

		if refused.Status != 402 || refused.Text("error", "code") != "daily_quota_exceeded" || refused.Text("error", "details", "used") != "3" || refused.Text("error", "details", "limit") != "7" {
			t.Errorf("%d %s", refused.Status, refused.Raw)
		}
		if got := h.askOf(front, "POST", "/broadcasts/audience-estimate", fields{"audience_id": list}); got.Text("quota", "remaining") != "4" || got.Text("quota", "sufficient") != "false" {
			t.Errorf("%s", got.Raw)
		}
	})
}

// interrupted is a clock during whose looks something can happen.
type interrupted struct {
	world.Clock
	during func()
}

func (c *interrupted) Now() time.Time {
	c.during()
	return c.Clock.Now()
}

// slowed returns the broadcasts of another process, in which something happens when it looks at the clock for the nth time.
func (h *house) slowed(nth int, during func()) *broadcast.Service {
	a, w, looks := h.App, h.App.World, 0
	w.Clock = &interrupted{a.World.Clock, func() {
		if looks++; looks == nth {
			during()
		}
	}}
	return broadcast.New(w, a.DB, broadcast.Parts{Plans: a.Plans, Accounts: a.Accounts, Templates: a.Templates, Suppressions: a.Suppressions, Emails: a.Emails,
		Audience: a.Audience, Node: "slow"})
}

// interruptedAt returns the front door of such a process.
func (h *house) interruptedAt(nth int, during func()) http.Handler {
	a := h.App
	return api.NewServer(api.Config{World: a.World, Keys: a.Keys, Sessions: a.Accounts, Rates: a.Plans.RateOf}, h.slowed(nth, during).Routes())
}

func TestADraftThatChangesWhileItIsSentIsNotSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.must(201, "POST", "/broadcasts", news(h.list("ann@example.net"), nil)).Text("id")
		for _, change := range []fields{{"audience_id": h.list(crowd(3)...)}, {"from": "news@stranger.test"}} {
			front := h.interruptedAt(2, func() { // between reading the draft and asking whether its sender may send
				h.must(200, "PATCH", "/broadcasts/"+id, change)
			})

			refused := h.askOf(front, "POST", "/broadcasts/"+id+"/send", nil)

			if refused.Status != 409 || refused.Text("error", "code") != "invalid_state" || h.get(id).Text("status") != "draft" {
				t.Errorf("%v: %d %s", change, refused.Status, refused.Raw)
			}
		}
		if again := h.must(403, "POST", "/broadcasts/"+id+"/send", nil); h.get(id).Text("from") != "news@stranger.test" {
			t.Errorf("%s", again.Raw)
		}
	})
}

func TestAQuotaThatEndsInTheMiddleFailsTheRestWhichCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ws, key := h.NewWorkspace(plan.Free)
		h.VerifiedDomain(ws, "free.test")
		list := h.mustAs(key, 201, "POST", "/audience/lists", fields{"name": "All"}).Text("id")
		for _, address := range crowd(5) {
			h.mustAs(key, 201, "POST", "/contacts", fields{"email": address, "list_ids": []string{list}})
		}
		use := func(n int64) {
			err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
				_, err := h.App.Plans.UseEmails(tx, ws, plan.Unlimited, tx.Now(), n)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		body := news(list, fields{"from": "news@free.test", "send": true})
		use(25_000 - 2)
		if refused := h.mustAs(key, 402, "POST", "/broadcasts", body); refused.Text("error", "code") != "monthly_quota_exceeded" {
			t.Errorf("%s", refused.Raw)
		}
		estimate := h.mustAs(key, 200, "POST", "/broadcasts/audience-estimate", fields{"audience_id": list})
		if estimate.Text("quota", "sufficient") != "false" || estimate.Text("quota", "remaining") != "2" || estimate.Text("eligible") != "5" {
			t.Errorf("%s", estimate.Raw)
		}
		body["scheduled_at"] = "in 1 minute"
		id := h.mustAs(key, 202, "POST", "/broadcasts", body).Text("id")
		h.Clock.Advance(2 * time.Minute)
		h.finish()
		b := h.mustAs(key, 200, "GET", "/broadcasts/"+id, nil)
		stats := b.Body["stats"].(fields)
		if b.Text("status") != "failed" || b.Text("failure", "reason") != "monthly_quota_exceeded" || stats["delivered"] != 2.0 || stats["failed"] != 3.0 || stats["queued"] != 0.0 {
			t.Fatalf("%s", b.Raw)
		}
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error { return h.App.Plans.ReturnEmails(tx, ws, tx.Now(), 100) })
		if err != nil {
			t.Fatal(err)
		}
		h.mustAs(key, 202, "POST", "/broadcasts/"+id+"/retry", nil)
		h.finish()
		b = h.mustAs(key, 200, "GET", "/broadcasts/"+id, nil)
		stats = b.Body["stats"].(fields)
		if b.Text("status") != "sent" || stats["delivered"] != 5.0 || stats["failed"] != 0.0 || b.Body["failure"] != nil {
			t.Errorf("%s", b.Raw)
		}
		for _, address := range crowd(5) {
			if n := len(h.Mailbox(address)); n != 1 {
				t.Errorf("%s has %d mails", address, n)
			}
		}
		h.mustAs(key, 409, "POST", "/broadcasts/"+id+"/retry", nil)
	})
}

func TestADomainThatBreaksWhileSendingEndsTheBroadcastWithAReasonForEach(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.held(h.list(crowd(3)...), nil)
		h.write(`UPDATE domain SET verified = FALSE WHERE id = $1`, h.DomainID)
		h.release()
		b := h.get(id)
		if b.Text("status") != "failed" || b.Text("failure", "reason") != "domain_auth_broken" || h.stats(id, "failed", "queued") != "failed 3, queued 0" || h.told(id) != "broadcast.failed" {
			t.Errorf("%s", b.Raw)
		}
		if errors := h.rows("/broadcasts/" + id + "/recipient-errors"); len(errors) != 3 || errors[0]["reason"] != b.Text("failure", "reason") {
			t.Errorf("%v", errors)
		}
		h.write(`UPDATE domain SET verified = TRUE WHERE id = $1`, h.DomainID)
		h.Clock.Advance(2 * time.Second) // the standing of a domain is remembered for a moment
		h.must(202, "POST", "/broadcasts/"+id+"/retry", nil)
		h.Clock.Advance(time.Second)
		h.finish()
		if got := h.stats(id, "delivered", "failed"); got != "delivered 3, failed 0" {
			t.Error(got)
		}
	})
}

func TestATemplateThatIsArchivedWhileABroadcastWaitsFailsIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/templates", fields{"name": "News", "alias": "news", "subject": "Template", "html": "<p>One {{FIRST_NAME|x}}</p>"}).Text("id")
		list := h.list("ann@example.net")
		first := h.sent(list, fields{"html": nil, "template_id": "news"})
		h.must(200, "PATCH", "/templates/"+made, fields{"html": "<p>Two</p>"})
		h.finish()
		mails := h.Mailbox("ann@example.net")
		if b := h.get(first); len(mails) != 1 || !strings.Contains(mails[0].Raw, "One x") || mails[0].Subject != "November" || b.Text("template_id") != made || b.Text("template_version") != "1" {
			t.Fatalf("%s %v", b.Raw, mails)
		}
		second := h.held(list, fields{"html": nil, "template_id": made})
		h.must(200, "DELETE", "/templates/"+made, nil)
		h.release()
		if b := h.get(second); b.Text("status") != "failed" || b.Text("failure", "reason") != "template_unavailable" || h.roster(second, "") != "ann failed (template_unavailable)" {
			t.Errorf("%s", b.Raw)
		}
	})
}

func TestAValueThatIsMissingFailsOnlyTheRecipientWithoutIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net", "bob@example.net")
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Ann"})
		id := h.sent(list, fields{"html": "<p>Hi {{FIRST_NAME}}</p>"})
		h.finish()
		if got := h.roster(id, ""); got != "ann delivered, bob failed (template_render_failed)" || h.get(id).Text("status") != "sent" {
			t.Errorf("%s %s", got, h.get(id).Raw)
		}
		none := h.sent(h.list("carl@example.net"), fields{"html": "<p>Hi {{FIRST_NAME}}</p>"})
		h.finish()
		if b := h.get(none); b.Text("status") != "failed" || b.Text("failure", "reason") != "no_recipient_reached" {
			t.Errorf("%s", b.Raw)
		}
	})
}

func TestARetryIsForThoseWhoFailedAndForNobodyElse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.held(h.list("ann@example.net", "bob@example.net", "bounced@simulator.mail.postrider.test", "blocked@example.net"), fields{"html": "<p>Hi {{FIRST_NAME}}</p>"})
		for _, who := range []string{"ann@example.net", "bounced@simulator.mail.postrider.test", "blocked@example.net"} {
			h.must(200, "PATCH", "/contacts/"+who, fields{"first_name": "Friend"})
		}
		blocked := h.must(201, "POST", "/suppressions", fields{"email": "blocked@example.net"}).Text("id")
		h.release()
		rest := ", blocked suppressed (manual), bob failed (template_render_failed), bounced bounced (hard_bounce)"
		if got := h.roster(id, ""); got != "ann delivered"+rest {
			t.Fatal(got)
		}
		h.must(200, "PATCH", "/contacts/bob@example.net", fields{"first_name": "Bob"})
		h.must(200, "DELETE", "/suppressions/"+blocked, nil)

		h.must(202, "POST", "/broadcasts/"+id+"/retry", nil)
		if b := h.get(id); b.Text("status") != "sending" || b.Text("sent_at") != "" || b.Text("handed_at") != "" {
			t.Errorf("it is not sent yet: %s", b.Raw)
		}
		h.finish()

		if got := h.roster(id, ""); got != "ann delivered, blocked suppressed (manual), bob delivered, bounced bounced (hard_bounce)" {
			t.Error(got)
		}
		if mails := h.rows("/emails?broadcast_id=" + id); len(mails) != 3 {
			t.Errorf("%d emails", len(mails))
		}
	})
}

func TestAnAudienceInUseCannotBeDeletedUntilTheBroadcastNeedsItNoMore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		id := h.held(list, nil)
		refused := h.must(409, "DELETE", "/audience/lists/"+list, nil)
		if refused.Text("error", "code") != "resource_in_use" || !strings.Contains(string(refused.Raw), id) {
			t.Errorf("%s", refused.Raw)
		}
		h.release()
		h.must(200, "DELETE", "/audience/lists/"+list, nil)
		if got := h.roster(id, ""); got != "ann delivered" {
			t.Error(got)
		}
	})
}

func TestAnAudienceThatIsGoneFailsTheBroadcast(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		gone := func(list string) { h.write(`DELETE FROM audience_list WHERE id = $1`, list) }
		list := h.list("ann@example.net")
		before := h.sent(list, nil)
		gone(list)
		h.finish()
		other := h.list("bob@example.net")
		during := h.held(other, nil)
		gone(other)
		h.release()
		for _, id := range []string{before, during} {
			if b := h.get(id); b.Text("status") != "failed" || b.Text("failure", "reason") != "audience_deleted" {
				t.Errorf("%s", b.Raw)
			}
		}
		if got := h.roster(during, ""); got != "bob failed (audience_deleted)" {
			t.Error(got)
		}
		if refused := h.must(409, "POST", "/broadcasts/"+before+"/retry", nil); !strings.Contains(refused.Text("error", "message"), "Duplicate it") {
			t.Errorf("%s", refused.Raw)
		}
	})
}

func TestPeopleAreCountedByRulesThatNobodyHasSaved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net", "bob@example.org", "cat@example.net")
		h.must(201, "POST", "/contacts", fields{"email": "dan@example.net"})
		h.must(200, "PATCH", "/contacts/cat@example.net", fields{"unsubscribed": true})
		rules := fields{"type": "rule", "field": "email_domain", "operator": "eq", "value": "example.net"}
		for _, c := range []struct {
			body fields
			want string
		}{{fields{"filter": rules}, "3 2"}, {fields{"filter": rules, "audience_id": list}, "2 1"}, {fields{"filter": nil, "audience_id": list}, "3 2"}} {
			if got := h.must(200, "POST", "/broadcasts/audience-estimate", c.body); got.Text("total")+" "+got.Text("eligible") != c.want {
				t.Errorf("%v: %s, want %s", c.body, got.Raw, c.want)
			}
		}
		for _, wrong := range []any{fields{"type": "rule", "field": "shoe_size", "operator": "eq", "value": 1}, "everybody", []int{}} {
			if answer := h.must(400, "POST", "/broadcasts/audience-estimate", fields{"filter": wrong}); answer.Text("error", "code") != "validation_error" {
				t.Errorf("%v: %s", wrong, answer.Raw)
			}
		}
		_, key, err := h.App.Keys.Create(t.Context(), apikey.NewKey{Workspace: h.Workspace, Name: "reads mail", Scopes: []api.Scope{"email:read"}})
		if err != nil {
			t.Fatal(err)
		}
		if answer := h.mustAs(key, 403, "POST", "/broadcasts/audience-estimate", fields{"filter": rules}); answer.Text("error", "code") != "insufficient_scope" {
			t.Errorf("%s", answer.Raw)
		}
	})
}

func TestTwoChangesAtOnceThatDoNotGoTogetherAreNotBothMade(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/templates", fields{"name": "News", "subject": "Template", "html": "<p>News</p>"}).Text("id")
		id := h.must(201, "POST", "/broadcasts", fields{"name": "November"}).Text("id")
		front := h.interruptedAt(1, func() { // between reading the draft and writing it
			h.must(200, "PATCH", "/broadcasts/"+id, fields{"html": "<p>Page</p>"})
		})

		refused := h.askOf(front, "PATCH", "/broadcasts/"+id, fields{"template_id": made})

		if b := h.get(id); refused.Status != 400 || b.Text("html") != "<p>Page</p>" || b.Text("template_id") != "" {
			t.Errorf("%d %s, and the draft is %s", refused.Status, refused.Raw, b.Raw)
		}
	})
}

func TestWhoComesAfterTheStartIsNoRecipient(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		id := h.sent(list, nil)
		late := h.slowed(3, func() { // it has started, and nobody is written down yet
			if got := h.get(id).Text("status") + " " + h.stats(id, "recipients"); got != "sending recipients 0" {
				t.Error(got)
			}
			h.must(201, "POST", "/contacts", fields{"email": "late@example.net", "list_ids": []string{list}})
		})
		h.Finish(late.Step)
		h.finish()
		if got := h.roster(id, ""); got != "ann delivered" {
			t.Error(got)
		}
	})
}

func TestABroadcastOfASuspendedWorkspaceFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.held(h.list("ann@example.net"), nil)
		h.write(`UPDATE account_workspace SET status = 'suspended' WHERE id = $1`, h.Workspace)
		h.release()
		h.write(`UPDATE account_workspace SET status = 'active' WHERE id = $1`, h.Workspace)
		h.Clock.Advance(time.Minute)
		if b := h.get(id); b.Text("status") != "failed" || b.Text("failure", "reason") != "workspace_suspended" || h.roster(id, "") != "ann failed (workspace_suspended)" {
			t.Errorf("%s %s", b.Raw, h.roster(id, ""))
		}
		if len(h.Mailbox("ann@example.net")) != 0 {
			t.Error("ann has mail")
		}
	})
}

func TestOnlyMailThatIsStoppedCountsAsAHitOfASuppression(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		list := h.list("ann@example.net")
		test, real := h.heldAs(trial, list, nil), h.held(list, nil)
		blocked := h.must(201, "POST", "/suppressions", fields{"email": "ann@example.net"}).Text("id")
		h.release()
		if got := h.roster(test, "") + ", " + h.roster(real, ""); got != "ann delivered, ann suppressed (manual)" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/suppressions/"+blocked, nil).Text("hits"); got != "1" {
			t.Errorf("%s hits", got)
		}
	})
}

func TestADraftThatIsSentWhileItIsChangedIsNotChanged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.must(201, "POST", "/broadcasts", news(h.list("ann@example.net"), nil)).Text("id")
		front := h.interruptedAt(1, func() { // it was read as a draft, whose sender need not be one that may send
			h.must(202, "POST", "/broadcasts/"+id+"/send", fields{"scheduled_at": "in 1 hour"})
		})

		refused := h.askOf(front, "PATCH", "/broadcasts/"+id, fields{"from": "news@stranger.test"})

		if b := h.get(id); refused.Status != 409 || b.Text("status") != "scheduled" || b.Text("from") != "Acme <news@acme.test>" {
			t.Errorf("%d %s, and it is %s", refused.Status, refused.Raw, b.Raw)
		}
	})
}

func TestWhatIsSaidLaterDoesNotNameAPersonWhoIsForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net"), nil)
		h.finish()
		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		for _, w := range h.App.Audience.Workers() {
			h.Finish(w.Step)
		}
		h.report(id, "forgotten@erased.invalid", email.Reported{Bounce: &email.LateBounce{Class: report.Verdict{Class: report.Hard}, Message: "550 5.1.1 <ann@example.net> unknown"}})
		raw := string(h.must(200, "GET", "/broadcasts/"+id+"/recipient-errors", nil).Raw)
		if strings.Contains(raw, "ann@") || !strings.Contains(raw, "hard_bounce") {
			t.Error(raw)
		}
	})
}
