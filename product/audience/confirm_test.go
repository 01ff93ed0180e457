package audience_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/db"
	"postrider/product/plan"
)

const sender = "Acme <hello@" + apptest.Domain + ">"

// optIn makes a list with double opt-in.
func (h *house) optIn(more fields) string {
	h.t.Helper()
	confirmation := fields{"from": sender, "subject": "Please confirm"}
	for key, value := range more {
		confirmation[key] = value
	}
	return h.made("/audience/lists", "Newsletter", fields{"double_opt_in": true, "confirmation": confirmation})
}

var confirmLink = regexp.MustCompile(`https://postrider\.test/v1(/audience/confirm/[^\s"<]+)`)

// linkFrom returns the path of the link in a letter.
func (h *house) linkFrom(emailID string) string {
	h.t.Helper()
	found := confirmLink.FindStringSubmatch(h.must(200, "GET", "/emails/"+emailID, nil).Text("text"))
	if found == nil {
		h.t.Fatal("the letter has no link")
	}
	return found[1]
}

func (h *house) browse(method, path string) apptest.Answer {
	header := map[string]string{"Accept": "text/html,application/xhtml+xml", "User-Agent": "Mozilla/5.0"}
	if method == "POST" {
		header["Content-Type"] = "application/x-www-form-urlencoded"
	}
	return h.ask(method, path, nil, header)
}

func TestALinkSubscribesOnlyWhenThePersonSaysSo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id, other := h.contact("ann@example.net", fields{"list_id": list}), h.contact("bob@example.net", fields{"list_id": list})
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("status"); got != `["pending"]` {
			t.Fatal(got)
		}
		if refused := h.must(400, "POST", "/audience/contacts/"+id+"/send-confirmation", fields{}); refused.Problems() != "list_id: A list is required." {
			t.Errorf("%s", refused.Raw)
		}
		asked := h.must(202, "POST", "/audience/contacts/"+id+"/send-confirmation", fields{"list_id": list})
		if asked.Pick("object", "contact_id", "list_id") != fmt.Sprintf(`["confirmation",%q,%q]`, id, list) {
			t.Errorf("%s", asked.Raw)
		}
		h.Deliver()
		if got := h.must(200, "GET", "/emails/"+asked.Text("email_id"), nil).Pick("source", "status", "subject", "to"); got != `["confirmation","delivered","Please confirm",["ann@example.net"]]` {
			t.Error(got)
		}
		link := h.linkFrom(asked.Text("email_id"))
		for _, scan := range []struct{ method, accept string }{{"GET", "text/html"}, {"GET", "*/*"}, {"GET", ""}, {"HEAD", "application/json"}, {"HEAD", ""}, {"GET", "text/html,application/json"}} {
			looked := h.ask(scan.method, link, nil, map[string]string{"Accept": scan.accept, "User-Agent": "Mozilla/5.0 (compatible; BingPreview)"})
			if looked.Status != 200 || h.membership(id, list) != "pending" {
				t.Fatalf("%v: %d, %s", scan, looked.Status, h.membership(id, list))
			}
			if scan.method == "GET" && (!strings.Contains(string(looked.Raw), `<form method="post">`) || strings.Contains(string(looked.Raw), "<script")) {
				t.Errorf("%s", looked.Raw)
			}
		}
		for range 2 {
			done := h.browse("POST", link)
			if done.Status != 200 || !strings.Contains(string(done.Raw), "You are subscribed") || h.membership(id, list) != "subscribed" || h.membership(other, list) != "pending" {
				t.Fatalf("%d %s", done.Status, done.Raw)
			}
		}
		read := h.must(200, "GET", "/contacts/"+id, nil)
		if read.Text("status") != "subscribed" || read.Text("consent", "source") != "double_opt_in" || read.Body["lists"].([]any)[0].(fields)["confirmed_at"] == nil {
			t.Errorf("%s", read.Raw)
		}
		if got := h.must(200, "GET", "/audience/lists/"+list, nil).Pick("subscribed_count", "pending_count"); got != "[1,1]" {
			t.Error(got)
		}
		if got := h.news(id); got != "created confirmed" {
			t.Error(got)
		}
		if refused := h.must(409, "POST", "/audience/contacts/"+id+"/send-confirmation", fields{"list_id": list}); refused.Text("error", "code") != "invalid_state" {
			t.Errorf("%s", refused.Raw)
		}
	})
}

func TestAProgramConfirmsWithJSON(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(fields{"redirect_url": "https://acme.test/thanks?x=1"})
		id := h.contact("ann@example.net", fields{"list_id": list})
		link := h.linkFrom(h.must(202, "POST", "/audience/contacts/ann@example.net/send-confirmation", fields{"list_id": list}).Text("email_id"))
		for range 2 {
			answer := h.ask("GET", link, nil, map[string]string{"Accept": "application/json"})
			if answer.Pick("object", "status", "contact_id", "list_id") != fmt.Sprintf(`["confirmation_result","confirmed",%q,%q]`, id, list) {
				t.Errorf("%s", answer.Raw)
			}
		}
		if answer := h.browse("POST", link); answer.Status != 303 || answer.Header.Get("Location") != "https://acme.test/thanks?x=1" {
			t.Errorf("%d %v", answer.Status, answer.Header)
		}
		if policy := h.browse("GET", link).Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self' https://acme.test;") {
			t.Error(policy)
		}
	})
}

func TestForgedAndVoidLinksDoNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		link := h.linkFrom(h.must(202, "POST", "/audience/contacts/"+id+"/send-confirmation", fields{"list_id": list}).Text("email_id"))
		foreign := strings.TrimPrefix(h.unsubscribeLink("ann@example.net", "", list), "/unsubscribe/")
		start := strings.LastIndex(link, "/") + 1
		forged := []string{"/audience/confirm/" + foreign, link + "A", link[:len(link)-1], "/audience/confirm/x", "/audience/confirm/" + strings.Repeat("a", 5000)}
		for i := start; i < len(link); i += 7 {
			flipped := []byte(link)
			flipped[i] ^= 1
			forged = append(forged, strings.ReplaceAll(string(flipped), "%", "_"))
		}
		for _, path := range forged {
			h.Clock.Advance(time.Second) // an address may ask only so often
			answer := h.ask("POST", path, nil, map[string]string{"Accept": "application/json"})
			if answer.Status != 404 || answer.Text("error", "code") != "not_found" {
				t.Errorf("%s: %d %s", path, answer.Status, answer.Raw)
			}
			if page := h.browse("GET", path); page.Status != 404 || !strings.Contains(string(page.Raw), "This link does not work") {
				t.Errorf("%s: %d %s", path, page.Status, page.Raw)
			}
		}
		if got := h.membership(id, list); got != "pending" {
			t.Fatal(got)
		}
		// Who leaves after the letter was sent is not brought back by it.
		h.ask("POST", h.unsubscribeLink("ann@example.net", "", list), []byte("scope=list"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		if answer := h.browse("POST", link); answer.Status != 404 || h.membership(id, list) != "unsubscribed" {
			t.Errorf("%d, %s", answer.Status, h.membership(id, list))
		}
		second := h.contact("bob@example.net", fields{"list_id": list})
		link = h.linkFrom(h.must(202, "POST", "/audience/contacts/"+second+"/send-confirmation", fields{"list_id": list}).Text("email_id"))
		h.Clock.Advance(7*24*time.Hour + time.Minute)
		if answer := h.ask("GET", link, nil, map[string]string{"Accept": "application/json"}); answer.Status != 410 || answer.Text("error", "code") != "token_expired" {
			t.Errorf("%d %s", answer.Status, answer.Raw)
		}
		if page := h.browse("GET", link); page.Status != 410 || !strings.Contains(string(page.Raw), "expired") {
			t.Errorf("%d %s", page.Status, page.Raw)
		}
		link = h.linkFrom(h.must(202, "POST", "/audience/contacts/"+second+"/send-confirmation", fields{"list_id": list}).Text("email_id"))
		h.must(200, "DELETE", "/contacts/"+second, nil)
		if answer := h.browse("POST", link); answer.Status != 404 {
			t.Errorf("%d after the contact was deleted", answer.Status)
		}
	})
}

func TestNobodyIsAskedTooOften(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		path, body := "/audience/contacts/"+id+"/send-confirmation", fields{"list_id": list}
		h.must(202, "POST", path, body)
		soon := h.must(429, "POST", path, body)
		if soon.Header.Get("Retry-After") == "" || soon.Text("error", "code") != "rate_limit_exceeded" {
			t.Errorf("%s", soon.Raw)
		}
		for range 2 {
			h.Clock.Advance(11 * time.Minute)
			h.must(202, "POST", path, body)
		}
		h.Clock.Advance(24 * time.Hour)
		h.must(429, "POST", path, body)
		h.Clock.Advance(6 * 24 * time.Hour)
		h.must(202, "POST", path, body)
		h.must(404, "POST", "/audience/contacts/"+h.contact("eve@example.net", nil)+"/send-confirmation", body)
		h.must(404, "POST", path, fields{"list_id": nobody})
	})
}

func TestAWholeListIsAsked(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		for i := range 5 {
			h.contact(fmt.Sprintf("c%d@example.net", i), fields{"list_id": list})
		}
		h.must(201, "POST", "/suppressions", fields{"email": "c0@example.net", "reason": "bounce"})
		h.follow()
		asked := h.must(202, "POST", "/audience/contacts/c1@example.net/send-confirmation", fields{"list_id": list})
		h.browse("POST", h.linkFrom(asked.Text("email_id")))
		h.must(202, "POST", "/audience/contacts/c2@example.net/send-confirmation", fields{"list_id": list})
		answer := h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil)
		if answer.Pick("object", "list_id", "queued", "skipped") != fmt.Sprintf(`["confirmation_batch",%q,2,{"already_confirmed":1,"recently_sent":1,"suppressed":1,"unsubscribed":0}]`, list) {
			t.Errorf("%s", answer.Raw)
		}
		h.work()
		h.Deliver()
		for _, to := range []string{"c3@example.net", "c4@example.net"} {
			sent := h.must(200, "GET", "/emails?to="+to, nil).Body["data"].([]any)
			if len(sent) != 1 || sent[0].(fields)["status"] != "delivered" {
				t.Errorf("%s: %v", to, sent)
			}
		}
		some := h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", fields{"contact_ids": []string{h.must(200, "GET", "/contacts/c1@example.net", nil).Text("id")}})
		if some.Pick("queued") != "[0]" {
			t.Errorf("%s", some.Raw)
		}
		h.Clock.Advance(time.Hour)
		imported := h.must(202, "POST", "/audience/contacts/import", fields{"list_id": list, "contacts": []fields{{"email": "new@example.net"}}, "send_confirmations": true})
		h.work()
		h.Deliver()
		if got := h.must(200, "GET", "/emails?to=new@example.net", nil).Pick("has_more"); got != "[false]" || len(h.must(200, "GET", "/emails?to=new@example.net", nil).Body["data"].([]any)) != 1 {
			t.Errorf("the import asked nobody: %s", imported.Raw)
		}
	})
}

func TestAnImportAsksWhenThePlanHasRoomAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		ws, key := h.NewWorkspace(plan.Free)
		h.VerifiedDomain(ws, "free.test")
		full := *plan.Shipped()[plan.Free].Limits.EmailsPerMonth
		used := h.Clock.Now()
		write := func(change func(tx *db.Tx) error) {
			if err := h.App.DB.Write(t.Context(), change); err != nil {
				t.Fatal(err)
			}
		}
		write(func(tx *db.Tx) error { _, err := h.App.Plans.UseEmails(tx, ws, plan.Free, tx.Now(), full); return err })
		list := h.CallAs(key, "POST", "/audience/lists", fields{"name": "Letter", "double_opt_in": true, "confirmation": fields{"from": "hello@free.test"}}, nil).Text("id")
		imported := h.CallAs(key, "POST", "/audience/contacts/import",
			fields{"list_id": list, "contacts": []fields{{"email": "new@example.net"}}, "send_confirmations": true}, nil)
		if imported.Status != 202 {
			t.Fatalf("%s", imported.Raw)
		}
		for range 12 {
			h.work()
			h.Clock.Advance(time.Hour)
		}
		write(func(tx *db.Tx) error { return h.App.Plans.ReturnEmails(tx, ws, used, 1) })
		h.work()
		if sent := h.CallAs(key, "GET", "/emails?to=new@example.net", nil, nil).Body["data"].([]any); len(sent) != 1 {
			t.Errorf("the person was asked %d times", len(sent))
		}
	})
}

func TestAnImportAsksWhoJoinsByItOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "Letter", fields{"double_opt_in": true, "confirmation": fields{"from": sender}})
		h.contact("known@example.net", nil)
		for range 3 {
			h.must(202, "POST", "/audience/contacts/import", fields{"list_id": list, "contacts": []fields{{"email": "known@example.net"}, {"email": "new@example.net"}}, "send_confirmations": true})
			h.work()
			h.Clock.Advance(24 * time.Hour)
		}
		for _, who := range []string{"known", "new"} {
			if sent := h.must(200, "GET", "/emails?to="+who+"@example.net", nil).Body["data"].([]any); len(sent) != 1 {
				t.Errorf("%s was asked %d times", who, len(sent))
			}
		}
	})
}

func TestAnImportByATestKeyAsksNobodyForReal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		trial := h.Browse("POST", "/v1/api-keys", fields{"name": "trial", "preset": "full_access", "mode": "test"}).Text("key")
		list := h.optIn(nil)
		for key, address := range map[string]string{trial: "trial@example.net", h.Key: "real@example.net"} {
			h.CallAs(key, "POST", "/contacts/imports", fields{"list_id": list, "contacts": []fields{{"email": address}}, "send_confirmations": true}, nil)
		}
		h.work()
		h.Deliver()
		if trials, real := len(h.Mailbox("trial@example.net")), len(h.Mailbox("real@example.net")); trials != 0 || real != 1 {
			t.Errorf("%d and %d mails arrived", trials, real)
		}
	})
}

func TestAKeyOfOneDomainHasNobodyAskedByAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		own := h.VerifiedDomain(h.Workspace, "shop.test")
		restricted := h.Browse("POST", "/v1/api-keys", fields{"name": "shop", "preset": "full_access", "domain_ids": []string{own}}).Text("key")
		bring := func(list, address string, ask bool) apptest.Answer {
			return h.CallAs(restricted, "POST", "/contacts/imports", fields{"list_id": list, "contacts": []fields{{"email": address}}, "send_confirmations": ask}, nil)
		}
		list := h.optIn(nil)
		if refused := bring(list, "ann@example.net", true); refused.Status != 403 || refused.Text("error", "code") != "domain_not_allowed" {
			t.Errorf("%d %s", refused.Status, refused.Raw)
		}
		if silent := bring(list, "ann@example.net", false); silent.Status != 202 {
			t.Errorf("without letters: %d %s", silent.Status, silent.Raw)
		}
		h.must(200, "PATCH", "/audience/lists/"+list, fields{"confirmation": fields{"from": "hello@shop.test", "subject": "Please confirm"}})
		if taken := bring(list, "bob@example.net", true); taken.Status != 202 {
			t.Errorf("by its own domain: %d %s", taken.Status, taken.Raw)
		}
		h.work()
		if taken := bring(list, "cat@example.net", true); taken.Status != 202 {
			t.Errorf("by its own domain: %d %s", taken.Status, taken.Raw)
		}
		h.must(200, "PATCH", "/audience/lists/"+list, fields{"confirmation": fields{"from": sender, "subject": "Please confirm"}})
		h.work()
		h.Deliver()
		if asked, changed := len(h.Mailbox("bob@example.net")), len(h.Mailbox("cat@example.net")); asked != 1 || changed != 0 {
			t.Errorf("%d letters by its own domain, %d by the other", asked, changed)
		}
	})
}

func TestAConfirmationNeedsASenderAndItsLink(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "Bare", fields{"double_opt_in": true})
		id := h.contact("ann@example.net", fields{"list_id": list})
		path := "/audience/contacts/" + id + "/send-confirmation"
		for _, from := range []string{"", "hello@elsewhere.test"} {
			for _, refused := range []apptest.Answer{h.must(403, "POST", path, fields{"list_id": list, "from": from}), h.must(403, "POST", "/audience/lists/"+list+"/send-confirmations", nil)} {
				if refused.Text("error", "code") != "sender_domain_required" {
					t.Errorf("%s", refused.Raw)
				}
			}
		}
		imported := fields{"list_id": list, "contacts": []fields{{"email": "new@example.net"}}, "send_confirmations": true}
		if refused := h.must(403, "POST", "/contacts/imports", imported); refused.Text("error", "code") != "sender_domain_required" {
			t.Errorf("%s", refused.Raw)
		}
		imported["send_confirmations"] = false
		h.must(202, "POST", "/contacts/imports", imported)
		h.must(201, "POST", "/templates", fields{"name": "No link", "alias": "bare", "subject": "Hi", "html": "<p>Hi</p>"})
		h.must(201, "POST", "/templates", fields{"name": "Link", "alias": "confirm", "from": sender, "subject": "Yes, {{FIRST_NAME|you}}?", "html": `<p><a href="{{{CONFIRMATION_URL}}}">{{LIST_NAME}}</a></p>`})
		if refused := h.must(400, "POST", path, fields{"list_id": list, "from": sender, "template_id": "bare"}); !strings.HasPrefix(refused.Problems(), "template_id: The template must show") {
			t.Errorf("%s", refused.Raw)
		}
		sent := h.must(202, "POST", path, fields{"list_id": list, "template_id": "confirm"})
		mail := h.must(200, "GET", "/emails/"+sent.Text("email_id"), nil)
		if mail.Text("subject") != "Yes, you?" || !strings.Contains(mail.Text("html"), ">Bare</a>") {
			t.Errorf("%s", mail.Raw)
		}
		h.browse("POST", h.linkFrom(sent.Text("email_id")))
		if got := h.membership(id, list); got != "subscribed" {
			t.Error(got)
		}
		_, stranger := h.NewWorkspace(plan.Pro)
		if answer := h.CallAs(stranger, "POST", path, fields{"list_id": list}, nil); answer.Status != 404 {
			t.Errorf("%d", answer.Status)
		}
	})
}

func TestALetterShowsTextAsText(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "<b>{{env \"PATH\"}}</b>", fields{"double_opt_in": true, "confirmation": fields{"from": sender}})
		h.contact("ann@example.net", fields{"list_id": list, "first_name": `<img src=x onerror=1>${7*7}`, "last_name": "{{.}}"})
		sent := h.must(202, "POST", "/audience/contacts/ann@example.net/send-confirmation", fields{"list_id": list})
		html := h.must(200, "GET", "/emails/"+sent.Text("email_id"), nil).Text("html")
		if !strings.Contains(html, "&lt;img src=x onerror=1&gt;${7*7}") || !strings.Contains(html, "&lt;b&gt;{{env &#34;PATH&#34;}}&lt;/b&gt;") || strings.Contains(html, "<img") {
			t.Error(html)
		}
		page := h.browse("GET", h.linkFrom(sent.Text("email_id")))
		if !strings.Contains(string(page.Raw), "&lt;b&gt;{{env") {
			t.Errorf("%s", page.Raw)
		}
		for _, subject := range []string{"a\r\nBcc: b@c.test", "a\nb", strings.Repeat("x", 999)} {
			h.must(400, "PATCH", "/audience/lists/"+list, fields{"confirmation": fields{"from": sender, "subject": subject}})
		}
	})
}
