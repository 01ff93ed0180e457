package broadcast_test

import (
	"strings"
	"testing"
	"time"
)

// What goes wrong when a part of the recipients has the mail, a part waits in the mail queue, and a part waits to be handed over.
func TestADomainThatBreaksInTheMiddleLeavesNobodyWithoutAReason(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list(crowd(6)...), fields{"throttle_per_hour": 720})
		h.finish() // two have it
		h.Clock.Advance(10 * time.Second)
		h.hand() // two wait in the mail queue
		h.write(`UPDATE domain SET verified = FALSE WHERE id = $1`, h.DomainID)
		h.Clock.Advance(10 * time.Second)
		h.finish()
		if b := h.get(id); b.Text("status") != "failed" || b.Text("failure", "reason") != "domain_auth_broken" {
			t.Errorf("%s", b.Raw)
		}
		if got := h.stats(id, "recipients", "queued", "sent", "delivered", "failed"); got != "recipients 6, queued 0, sent 2, delivered 2, failed 4" {
			t.Error(got)
		}
		if got := strings.Count(h.roster(id, "&status=failed"), "(domain_auth_broken)"); got != 4 {
			t.Errorf("%d are told why: %s", got, h.roster(id, ""))
		}
		if refused := h.must(403, "POST", "/broadcasts/"+id+"/retry", nil); refused.Text("error", "code") != "domain_auth_broken" || h.get(id).Text("status") != "failed" {
			t.Errorf("while it is broken: %s", refused.Raw)
		}
		h.write(`UPDATE domain SET verified = TRUE WHERE id = $1`, h.DomainID)
		h.Clock.Advance(2 * time.Second) // the standing of a domain is remembered for a moment
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		h.mustAs(trial, 409, "POST", "/broadcasts/"+id+"/retry", nil) // it would send for real
		h.must(202, "POST", "/broadcasts/"+id+"/retry", nil)
		for range 3 {
			h.finish()
			h.Clock.Advance(10 * time.Second)
		}
		if got := h.stats(id, "queued", "delivered", "failed"); got != "queued 0, delivered 6, failed 0" || h.get(id).Text("status") != "sent" {
			t.Errorf("tried again: %s %s", got, h.get(id).Raw)
		}
		for _, address := range crowd(6) {
			if n := len(h.Mailbox(address)); n != 1 {
				t.Errorf("%s has %d mails", address, n)
			}
		}
	})
}

func TestWhoUnsubscribesWhileTheMailWaitsInTheQueueGetsNone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net", "bob@example.net", "carl@example.net", "dora@example.net")
		id := h.sent(list, nil)
		h.hand()
		h.must(200, "PATCH", "/contacts/bob@example.net", fields{"unsubscribed": true})
		h.must(201, "POST", "/suppressions", fields{"email": "carl@example.net"})
		h.write(`UPDATE list_contact SET status = 'unsubscribed' WHERE contact IN (SELECT number FROM contact WHERE address = $1)`, "dora@example.net")
		h.Deliver()
		h.follow()
		if got := h.roster(id, ""); got != "ann delivered, bob suppressed (unsubscribed), carl suppressed (manual), dora suppressed (unsubscribed)" {
			t.Error(got)
		}
		if got := h.stats(id, "recipients", "queued", "sent", "suppressed"); got != "recipients 4, queued 0, sent 1, suppressed 3" || h.get(id).Text("status") != "sent" {
			t.Errorf("%s %s", got, h.get(id).Raw)
		}
	})
}

func TestASegmentOrATopicInUseCannotBeDeletedAndOneThatIsGoneFailsTheBroadcast(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "Friends"}).Text("id")
		topic := h.must(201, "POST", "/topics", fields{"name": "News", "default_subscription": "opt_in"}).Text("id")
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "segments": []string{segment}})
		id := h.held(segment, fields{"topic_id": topic})
		for _, path := range []string{"/segments/" + segment, "/topics/" + topic} {
			if refused := h.must(409, "DELETE", path, nil); refused.Text("error", "code") != "resource_in_use" || !strings.Contains(string(refused.Raw), id) {
				t.Errorf("%s: %s", path, refused.Raw)
			}
		}
		h.write(`DELETE FROM topic WHERE id = $1`, topic)
		h.release()
		if b := h.get(id); b.Text("status") != "failed" || b.Text("failure", "reason") != "audience_deleted" || h.roster(id, "") != "ann failed (audience_deleted)" {
			t.Errorf("%s %s", b.Raw, h.roster(id, ""))
		}
		if len(h.Mailbox("ann@example.net")) != 0 {
			t.Error("ann has mail")
		}
	})
}

func TestATemplateThatIsArchivedInTheMiddleFailsTheRest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		made := h.must(201, "POST", "/templates", fields{"name": "News", "subject": "Template", "html": "<p>News</p>"}).Text("id")
		id := h.sent(h.list(crowd(4)...), fields{"html": nil, "template_id": made, "throttle_per_hour": 720})
		h.hand() // two wait in the mail queue, with all they say
		h.must(200, "DELETE", "/templates/"+made, nil)
		h.Clock.Advance(10 * time.Second)
		h.finish()
		b := h.get(id)
		if got := h.stats(id, "queued", "delivered", "failed"); got != "queued 0, delivered 2, failed 2" || b.Text("failure", "reason") != "template_unavailable" {
			t.Errorf("%s %s", got, b.Raw)
		}
		if got := strings.Count(h.roster(id, "&status=failed"), "(template_unavailable)"); got != 2 {
			t.Errorf("%d are told why", got)
		}
	})
}
