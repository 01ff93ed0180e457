package automation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEventsHaveTypesAndFeedWebhooksAndAutomations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/webhooks", fields{"url": "https://app.example.com/", "events": []string{"event.sent"}})
		made := h.must(201, "POST", "/events", fields{"name": "user.signed_up", "schema": fields{"plan": "string", "seats": "number", "at": "date"}, "sample_payload": fields{"plan": "pro"}})
		automation := h.enabled(line(on("user.signed_up"), step("end", "exit", nil)))
		good := fields{"plan": "pro", "seats": 3, "at": "2026-11-15", "more": true}

		sent := h.must(202, "POST", "/events/user.signed_up/send", fields{"email": "Ann@Example.net", "payload": good})
		if sent.Text("webhooks") != "1" || texts(sent.Body["matched_automations"])[0] != automation || sent.Text("event") != "user.signed_up" {
			t.Errorf("sent %s", sent.Raw)
		}
		if c := h.must(200, "GET", "/contacts/ann@example.net", nil); c.Text("id") == "" {
			t.Errorf("contact %s", c.Raw)
		}
		bad := h.must(400, "POST", "/events/"+made.Text("id")+"/send", fields{"payload": fields{"plan": 1, "seats": "x"}})
		for _, field := range []string{"payload.plan", "payload.seats", "payload.at"} {
			if problem(bad, field) == "" {
				t.Errorf("%s passed: %s", field, bad.Raw)
			}
		}
		h.must(404, "POST", "/events/unknown/send", fields{})
		h.must(400, "POST", "/events/send", fields{"event": "system:contact.created"})
		h.must(400, "POST", "/automations/events", fields{"event": "user.signed_up", "contact_id": "0193a1f5-0000-7000-8000-000000000301", "payload": good})
		triggered := h.must(202, "POST", "/automations/events", fields{"event": "user.signed_up", "payload": good})
		if len(texts(triggered.Body["runs"])) != 1 {
			t.Errorf("a run without a contact: %s", triggered.Raw)
		}
		record := h.must(200, "GET", "/events/user.signed_up", nil)
		if record.Text("send_count") != "2" || texts(record.Body["automation_ids"])[0] != automation {
			t.Errorf("event %s", record.Raw)
		}
		if list := h.must(200, "GET", "/events?search=SIGNED", nil); !strings.Contains(string(list.Raw), made.Text("id")) || strings.Contains(string(list.Raw), `"total"`) {
			t.Errorf("list %s", list.Raw)
		}
		changed := h.must(200, "PATCH", "/events/user.signed_up", fields{"schema": nil, "description": "x"})
		if changed.Text("schema") != "" || changed.Text("description") != "x" {
			t.Errorf("changed %s", changed.Raw)
		}
		h.must(202, "POST", "/events/user.signed_up/send", fields{})
		h.must(409, "POST", "/events", fields{"name": "user.signed_up"})
		if refused := h.must(409, "DELETE", "/events/user.signed_up", nil); !strings.Contains(string(refused.Raw), automation) {
			t.Errorf("refused %s", refused.Raw)
		}
		h.must(200, "PATCH", "/automations/"+automation, fields{"status": "disabled"})
		h.must(200, "DELETE", "/events/user.signed_up", nil)
		h.must(404, "GET", "/events/user.signed_up", nil)
	})
}

func TestWebhooksAreToldWhenAnEventHappened(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		webhook := h.must(201, "POST", "/webhooks", fields{"url": "https://app.example.com/", "events": []string{"event.sent"}}).Text("id")
		h.must(202, "POST", "/events/send", fields{"event": "paid", "occurred_at": "2020-02-29T10:00:00Z"})
		h.must(202, "POST", "/events/send", fields{"event": "paid"})
		h.CatchUp(h.App.Webhooks.Followers())
		list, _ := h.must(200, "GET", "/webhooks/"+webhook+"/deliveries", nil).Body["data"].([]any)
		var told []string
		for _, one := range list {
			delivery, _ := one.(fields)
			detail := h.must(200, "GET", fmt.Sprintf("/webhook-deliveries/%s", delivery["id"]), nil)
			told = append(told, strings.Split(detail.Text("payload", "data", "occurred_at"), "T")[0])
		}
		if want := []string{h.Clock.Now().UTC().Format(time.DateOnly), "2020-02-29"}; !slices.Equal(told, want) {
			t.Errorf("happened on %s, want %s", told, want)
		}
	})
}

func TestBadEventsAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		for _, body := range []fields{{"name": ""}, {"name": "send"}, {"name": "stream"}, {"name": "system:x"}, {"name": "resend:x"}, {"name": "a b"}, {"name": strings.Repeat("x", 101)},
			{"name": "x", "schema": fields{"a": "object"}}, {"name": "x", "schema": fields{"a.b": "string"}}, {"name": "x", "sample_payload": strings.Repeat("x", 10)}} {
			h.must(400, "POST", "/events", body)
		}
		for _, body := range []fields{{"event": ""}, {"event": "x", "email": "nobody"}, {"event": "x", "email": "a@example.net", "contact_id": "x"},
			{"event": "x", "payload": fields{"x": strings.Repeat("x", 70_000)}}, {"event": "x", "payload": []int{1}}, {"event": "x", "occurred_at": "2099-01-01T00:00:00Z"}} {
			h.must(400, "POST", "/events/send", body)
		}
	})
}

func TestAKeyMakesARepeatedRequestTheSame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("end", "exit", nil)))
		header := map[string]string{"Idempotency-Key": "key-4711-x"}
		first := h.CallAs(h.Key, "POST", "/automations/"+id+"/run", fields{"email": "ann@example.net"}, header)
		again := h.CallAs(h.Key, "POST", "/automations/"+id+"/run", fields{"email": "ann@example.net"}, header)
		other := h.CallAs(h.Key, "POST", "/automations/"+id+"/run", fields{"email": "bob@example.net"}, header)
		if trigger, _ := first.Body["trigger"].(fields); trigger["event_name"] != "system:api" || trigger["event_id"] != nil {
			t.Errorf("began by %v", trigger)
		}
		if first.Status != 202 || again.Status != 200 || again.Text("id") != first.Text("id") || again.Text("idempotent") != "true" || other.Status != 409 {
			t.Errorf("%d %s, %d %s, %d", first.Status, first.Raw, again.Status, again.Raw, other.Status)
		}
		if runs := h.must(200, "GET", "/automations/"+id+"/runs", nil); runs.Text("total") != "1" {
			t.Errorf("runs %s", runs.Raw)
		}
		one := h.CallAs(h.Key, "POST", "/events/send", fields{"event": "go", "email": "ann@example.net"}, header)
		two := h.CallAs(h.Key, "POST", "/events/send", fields{"event": "go", "email": "ann@example.net"}, header)
		if one.Status != 202 || two.Status != 200 || one.Text("event_id") != two.Text("event_id") {
			t.Errorf("%d %s, %d %s", one.Status, one.Raw, two.Status, two.Raw)
		}
	})
}

func TestKeysOfASchemaAreToldInTheirOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		refused := h.must(400, "POST", "/events", fields{"name": "x", "schema": fields{"a b": "string", "c d": "string", "e f": "string", "g h": "string"}})
		var order []int
		for _, key := range []string{"a b", "c d", "e f", "g h"} {
			order = append(order, strings.Index(string(refused.Raw), key))
		}
		if order[0] < 0 || !slices.IsSorted(order) {
			t.Errorf("%s", refused.Raw)
		}
	})
}
