package webhook_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
)

func TestAnAnswerCountsWhoseBodyDoesNotEndWell(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "ok")
		})
		h.webhook(server.URL, []string{"email.delivered"})
		h.happen("email.delivered", 1)
		h.work()
		if got := h.statuses(); got != "[delivered:1]" || len(server.requests()) != 1 {
			t.Errorf("%s after %d requests", got, len(server.requests()))
		}
	})
}

func TestTheStoryOfAnEmailArrivesSignedAndOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id, secret := h.webhook(server.URL, []string{"email.*"})
		email := h.Send("ann@example.net")
		h.Deliver()

		h.work()
		h.work() // nothing happens twice

		var types []string
		for _, r := range server.requests() {
			if err := verify(r, secret); err != nil {
				t.Error(err)
			}
			content := r.payload(t)
			types = append(types, content["type"].(string))
			data, _ := content["data"].(fields)
			for name, want := range map[string]any{"id": r.Get("Webhook-Id"), "type": r.Get("X-Service-Event"), "workspace_id": string(h.Workspace),
				"domain_id": h.DomainID, "managed_tenant_id": nil, "managed_tenant_external_id": nil, "test": false} {
				if content[name] != want {
					t.Errorf("%s is %v, want %v", name, content[name], want)
				}
			}
			if data["email_id"] != email || content["created_at"] == nil || content["timestamp"] != content["created_at"] {
				t.Errorf("payload %s", r.body)
			}
			if r.Get("Svix-Id") != r.Get("Webhook-Id") || r.Get("Svix-Signature") != r.Get("Webhook-Signature") ||
				r.Get("Svix-Timestamp") != r.Get("Webhook-Timestamp") {
				t.Errorf("headers for other receivers: %v", r.Header)
			}
			if r.Get("Content-Type") != "application/json" || r.Get("User-Agent") != "Postrider-Webhooks/1" || r.Get("X-Service-Attempt") != "1" {
				t.Errorf("headers %v", r.Header)
			}
		}
		if got := strings.Join(types, " "); got != "email.queued email.accepted email.delivered email.sent" && got != "email.queued email.accepted email.sent email.delivered" {
			t.Errorf("told of %s", got)
		}
		for _, d := range h.deliveries("?status=delivered") {
			if d["webhook_id"] != id || d["attempt_count"] != 1.0 || d["status_code"] != 200.0 || d["error"] != nil || d["next_attempt_at"] != nil || d["delivered_at"] == nil {
				t.Errorf("delivery %v", d)
			}
		}
		record := h.must(200, "GET", "/webhooks/"+id, nil)
		if record.Text("last_status_code") != "200" || record.Text("last_delivery_at") == "" || record.Text("consecutive_failures") != "0" {
			t.Errorf("record %s", record.Raw)
		}
	})
}

func TestEveryEventOfAnEmailHasTheHeadersItWasSentWith(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"email.*"})
		h.must(201, "POST", "/suppressions", fields{"email": "gone@example.net"})
		letter := func(to string, more fields) {
			body := fields{"from": "hello@acme.test", "to": to, "subject": "Hello", "text": "Hello", "headers": fields{"X-Ref": "7"}}
			maps.Copy(body, more)
			h.must(202, "POST", "/emails", body)
		}
		letter("ann@example.net", nil)
		letter("gone@example.net", nil)
		letter("bounce@example.net", nil)
		letter("bob@example.net", fields{"scheduled_at": "in 1 hour"})
		letter("busy@example.net", fields{"deliver_within_sec": 300})
		h.Deliver()
		h.Clock.Advance(2 * time.Hour)
		h.Deliver()
		h.work()

		told := map[string]int{}
		for _, r := range server.requests() {
			content := r.payload(t)
			told[content["type"].(string)]++
			data, _ := content["data"].(fields)
			if got := fmt.Sprint(data["headers"]); got != "[map[name:X-Ref value:7]]" {
				t.Errorf("%v has the headers %s", content["type"], got)
			}
		}
		for _, kind := range []string{"queued", "scheduled", "accepted", "sent", "delivered", "delivery_delayed", "bounced", "suppressed", "failed"} {
			if told["email."+kind] == 0 {
				t.Errorf("nothing was told of email.%s: %v", kind, told)
			}
		}
	})
}

func TestADeliveryCanBeReadWithWhatWasSentAndWhatCameBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Trace", "abc")
			w.WriteHeader(500)
			w.Write([]byte("oops \xff\x00" + strings.Repeat("x", 10_000)))
		})
		id, _ := h.webhook(server.URL, []string{"*"}, fields{"custom_headers": fields{"x-token": "s3cret"}})
		event := h.happen("domain.verified", 1)[0]
		h.work()

		found := h.deliveries("?webhook_id=" + id)
		if len(found) != 1 || found[0]["payload"] != nil || found[0]["attempts"] != nil {
			t.Fatalf("list %v", found)
		}
		detail := h.must(200, "GET", "/webhook-deliveries/"+found[0]["id"].(string), nil)
		attempts, _ := detail.Body["attempts"].([]any)
		attempt, _ := attempts[0].(fields)
		sent, _ := attempt["request_headers"].(fields)
		back, _ := attempt["response_headers"].(fields)
		body, _ := attempt["response_body"].(string)
		if detail.Text("status") != "retrying" || detail.Text("event_id") != event || detail.Text("payload", "id") != event || detail.Text("max_attempts") != "10" {
			t.Errorf("delivery %s", detail.Raw)
		}
		if attempt["number"] != 1.0 || attempt["status_code"] != 500.0 || attempt["error"] != "http_error" || back["X-Trace"] != "abc" {
			t.Errorf("attempt %v", attempt)
		}
		if sent["X-Token"] != "***" || sent["Webhook-Id"] != event || server.requests()[0].Get("X-Token") != "s3cret" {
			t.Errorf("request headers %v", sent)
		}
		if !strings.HasPrefix(body, "oops ") || len(body) < 4000 || len(body) > 4200 {
			t.Errorf("kept %d bytes of the answer", len(body))
		}
		if strings.Contains(string(detail.Raw), "s3cret") || strings.Contains(string(h.must(200, "GET", "/webhooks/"+id, nil).Raw), "s3cret") {
			t.Error("a custom header was shown")
		}
	})
}

func TestOnlyWhatAnEndpointAskedForIsTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		other := h.VerifiedDomain(h.Workspace, "other.test")
		customer := h.must(201, "POST", "/managed-tenants", fields{"external_id": "shop_4711", "name": "Shop"}).Text("id")
		foreign, _ := h.NewWorkspace("unlimited")
		h.follow()
		type wish struct {
			events []string
			more   fields
			want   int
		}
		wishes := []wish{
			{[]string{"*"}, nil, 5},
			{[]string{"email.*"}, nil, 3},
			{[]string{"email.delivered", "email.delivered"}, nil, 2},
			{[]string{"contact.*", "automation.run.*"}, nil, 0},
			{[]string{"*"}, fields{"domain_ids": []string{other}}, 1},
			{[]string{"*"}, fields{"domain_ids": []string{other, h.DomainID}}, 4},
			{[]string{"*"}, fields{"managed_tenant_ids": []string{customer}}, 2},
			{[]string{"*"}, fields{"managed_tenant_ids": []string{customer}, "domain_ids": []string{h.DomainID}}, 1},
		}
		servers := make([]*receiver, len(wishes))
		for i, w := range wishes {
			servers[i] = newReceiver(t, nil)
			h.webhook(servers[i].URL, w.events, w.more)
		}
		on := func(domain string) func(*event.Event) { return func(e *event.Event) { e.Domain = domain } }
		by := func(e *event.Event) { e.Tenant = customer }

		h.happen("email.delivered", 1, on(h.DomainID))
		h.happen("email.delivered", 1, on(other))
		h.happen("email.bounced", 1, on(h.DomainID), by)
		h.happen("domain.verified", 1, on(h.DomainID))
		h.happen("managed_tenant.paused", 1, by)
		h.happen("email.delivered", 1, of(foreign), on(h.DomainID))
		h.happen("internal.tick", 1, on(h.DomainID))
		h.work()

		for i, w := range wishes {
			if got := len(servers[i].requests()); got != w.want {
				t.Errorf("%v %v was told of %d events, want %d", w.events, w.more, got, w.want)
			}
		}
		for _, r := range servers[6].requests() {
			if content := r.payload(t); content["managed_tenant_id"] != customer || content["managed_tenant_external_id"] != "shop_4711" {
				t.Errorf("payload %s", r.body)
			}
		}
	})
}

func TestAnEndpointIsNotToldOfThePast(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.happen("email.delivered", 3)
		h.webhook(server.URL, []string{"*"}) // the record is read only after it was made
		h.happen("email.delivered", 1)
		h.work()
		if got := len(server.requests()); got != 1 {
			t.Errorf("told of %d events", got)
		}
	})
}

func TestEveryEndpointGetsTheSameBytes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		one, two := newReceiver(t, nil), newReceiver(t, nil)
		h.webhook(one.URL, []string{"*"})
		h.webhook(two.URL, []string{"*"})
		id := h.happen("email.delivered", 1)[0]
		h.work()
		first, second := one.requests(), two.requests()
		if len(first) != 1 || len(second) != 1 || first[0].body != second[0].body || first[0].Get("Webhook-Id") != id || second[0].Get("Webhook-Id") != id {
			t.Errorf("%v and %v", first, second)
		}
		if first[0].Get("X-Service-Delivery") == second[0].Get("X-Service-Delivery") || first[0].Get("Webhook-Signature") == second[0].Get("Webhook-Signature") {
			t.Error("two endpoints share a delivery or a secret")
		}
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			refs, err := h.App.Webhooks.DeliveriesOf(tx, h.Workspace, []string{id})
			if len(refs[id]) != 2 || refs[id][0].Status != "delivered" || refs[id][0].Attempts != 1 {
				t.Errorf("deliveries of the event: %+v", refs)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestALargeEventLosesItsHeadersRatherThanItsReceiver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"email.queued"})
		answer := h.must(202, "POST", "/emails", fields{"from": "hello@acme.test", "to": "ann@example.net", "subject": "Hi", "text": "Hi",
			"headers": fields{"X-Large": strings.Repeat("word ", 1500), "X-Larger": strings.Repeat("word ", 1500), "X-Largest": strings.Repeat("word ", 1500)},
			"tags":    []fields{{"name": "kind", "value": "large"}}})
		h.work()
		sent := server.requests()
		if len(sent) != 1 || len(sent[0].body) > 20_000 {
			t.Fatalf("%d requests, %d bytes", len(sent), len(sent[0].body))
		}
		data, _ := sent[0].payload(t)["data"].(fields)
		tags, _ := data["tags"].(fields)
		headers, _ := data["headers"].([]any)
		if data["email_id"] != answer.Text("id") || tags["kind"] != "large" || headers == nil || len(headers) != 0 || data["truncated"] == nil {
			t.Errorf("data %v", data)
		}
	})
}

func TestAnEmailsEventsSayWhoWasTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		id, _ := h.webhook(server.URL, []string{"email.queued"})
		email := h.Send("ann@example.net")
		h.Deliver()
		h.work()
		rows, _ := h.must(200, "GET", "/emails/"+email+"/events", nil).Body["data"].([]any)
		for _, row := range rows {
			e := row.(fields)
			told, _ := e["deliveries"].([]any)
			switch {
			case e["type"] != "email.queued" && (len(told) != 0 || e["published_at"] != nil):
				t.Errorf("%s was told to %v", e["type"], told)
			case e["type"] == "email.queued":
				d, _ := told[0].(fields)
				if len(told) != 1 || d["webhook_id"] != id || d["status"] != "delivered" || d["attempt_count"] != 1.0 || e["published_at"] == nil {
					t.Errorf("event %v", e)
				}
			}
		}
	})
}

func TestADeliveryShowsTheTextsOfReceivedMailOnlyIfTheyWereSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		receivers := map[bool]*receiver{true: newReceiver(t, nil), false: newReceiver(t, nil)}
		ids := map[bool]string{}
		for asks, server := range receivers {
			ids[asks], _ = h.webhook(server.URL, []string{"email.received"}, fields{"include_body": asks})
		}
		h.happen("email.received", 1, func(e *event.Event) { e.Data = []byte(`{"subject":"Hi","html":"<p>Private</p>","text":"Private"}`) })
		h.work()
		shown := func(asks bool) string {
			return string(h.must(200, "GET", "/webhook-deliveries/"+h.deliveries("?webhook_id=" + ids[asks])[0]["id"].(string), nil).Raw)
		}
		for asks, server := range receivers {
			if sent := server.requests()[0].body; strings.Contains(sent, "Private") != asks || strings.Contains(shown(asks), "Private") != asks {
				t.Errorf("asked for texts %v: sent %s\nshown %s", asks, sent, shown(asks))
			}
		}
		again := h.browse(202, "POST", "/webhook-deliveries/"+h.deliveries("?webhook_id=" + ids[false])[0]["id"].(string)+"/replay", nil)
		if strings.Contains(string(again.Raw), "Private") {
			t.Errorf("replayed: %s", again.Raw)
		}
		h.must(200, "DELETE", "/webhooks/"+ids[false], nil)
		if got := shown(false); strings.Contains(got, "Private") {
			t.Errorf("of an endpoint that is gone: %s", got)
		}
	})
}

func TestTheEndOfAManagedCustomerIsToldByItsName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, nil)
		h.webhook(server.URL, []string{"managed_tenant.deleted"})
		customer := h.must(201, "POST", "/managed-tenants", fields{"external_id": "shop_4711", "name": "Shop"}).Text("id")
		h.must(200, "DELETE", "/managed-tenants/"+customer, nil)
		h.work()
		sent := server.requests()
		if len(sent) != 1 || sent[0].payload(t)["managed_tenant_id"] != customer || sent[0].payload(t)["managed_tenant_external_id"] != "shop_4711" {
			t.Errorf("%v", sent)
		}
	})
}

func TestAPersonWhoIsForgottenIsNotNamedByDeliveries(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.webhook(newReceiver(t, nil).URL, []string{"contact.created"})
		for _, who := range []string{"ann@example.net", "bob@example.net"} {
			h.must(201, "POST", "/contacts", fields{"email": who})
		}
		h.work()
		h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		for _, w := range h.App.Audience.Workers() {
			h.Finish(w.Step)
		}
		var shown string
		for _, d := range h.deliveries("") {
			shown += string(h.must(200, "GET", "/webhook-deliveries/"+d["id"].(string), nil).Raw)
		}
		if strings.Contains(shown, "ann@") || !strings.Contains(shown, "bob@") {
			t.Errorf("%s", shown)
		}
	})
}

func TestALargeHeaderOfAnAnswerHidesNoOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			for i := range 20 {
				w.Header().Set(fmt.Sprintf("X-Small-%d", i), "kept")
			}
			w.Header().Set("X-Huge", strings.Repeat("a", 5000))
		})
		h.webhook(server.URL, []string{"*"})
		h.happen("email.delivered", 1)
		h.work()

		detail := h.must(200, "GET", "/webhook-deliveries/"+h.deliveries("")[0]["id"].(string), nil)
		if got := strings.Count(string(detail.Raw), `"X-Small-`); got != 20 || strings.Contains(string(detail.Raw), "X-Huge") {
			t.Errorf("%d of 20 are shown: %s", got, detail.Raw)
		}
	})
}
