package audience_test

import (
	"fmt"
	"strings"
	"testing"

	"postrider/product/suppression"
)

// unsubscribeLink returns the path of a link as broadcasts carry it.
func (h *house) unsubscribeLink(address, topic, list string) string {
	link := h.App.Suppressions.Link("", suppression.Claims{Workspace: h.Workspace, Address: address, Topic: topic, List: list})
	return strings.TrimPrefix(link, "https://postrider.test/v1")
}

// membership returns what a contact says to a list.
func (h *house) membership(contact, list string) string {
	h.t.Helper()
	for _, row := range h.must(200, "GET", "/contacts/"+contact, nil).Body["lists"].([]any) {
		if m := row.(fields); m["id"] == list {
			return m["status"].(string)
		}
	}
	return ""
}

func TestOneClickLeavesWhatTheMailWasFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, topic := h.made("/audience/lists", "Newsletter", nil), h.made("/topics", "Product news", nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}

		page := h.ask("GET", h.unsubscribeLink("ann@example.net", topic, list), nil, form)
		if !strings.Contains(string(page.Raw), "Product news") || !strings.Contains(string(page.Raw), "Newsletter") {
			t.Errorf("%s", page.Raw)
		}
		h.ask("POST", h.unsubscribeLink("ann@example.net", topic, list), []byte("List-Unsubscribe=One-Click"), form)
		read := h.must(200, "GET", "/contacts/"+id, nil)
		if read.Body["topics"].([]any)[0].(fields)["subscription"] != "opt_out" || h.membership(id, list) != "subscribed" || read.Body["unsubscribed"] != false {
			t.Errorf("%s", read.Raw)
		}
		for range 2 {
			h.ask("POST", h.unsubscribeLink("ann@example.net", topic, list), []byte("scope=list"), form)
		}
		if got := h.membership(id, list); got != "unsubscribed" {
			t.Error(got)
		}
		if got := h.must(200, "GET", "/audience/lists/"+list, nil).Pick("subscribed_count", "unsubscribed_count"); got != "[0,1]" {
			t.Error(got)
		}
		h.ask("POST", h.unsubscribeLink("ann@example.net", topic, list), []byte("scope=all"), form)
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("unsubscribed", "status"); got != `[true,"unsubscribed"]` {
			t.Error(got)
		}
		if got := h.news(id); got != "created unsubscribed unsubscribed unsubscribed" {
			t.Error(got)
		}
	})
}

func TestATopicThatSomebodyLeftByALinkIsNotTakenUpForThem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		topic := h.made("/topics", "Product news", nil)
		in := []fields{{"id": topic, "subscription": "opt_in"}}
		h.contact("ann@example.net", fields{"topics": []fields{{"id": topic, "subscription": "opt_out"}}})
		stands := func(after, want string, counted float64) {
			t.Helper()
			got := h.must(200, "GET", "/contacts/ann@example.net", nil).Body["topics"].([]any)[0].(fields)["subscription"]
			if n := h.must(200, "GET", "/topics/"+topic, nil).Body["subscriber_count"]; got != want || n != counted {
				t.Errorf("after %s: %v, %v subscribers", after, got, n)
			}
		}
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "topics": in})
		stands("the customer turned round what the customer said", "opt_in", 1)
		for range 2 {
			h.ask("POST", h.unsubscribeLink("ann@example.net", topic, ""), []byte("List-Unsubscribe=One-Click"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		}
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "topics": in})
		stands("an upsert", "opt_out", 0)
		h.imported([]byte("email\nann@example.net\n"), map[string]string{"topics": fmt.Sprintf(`[{"id":%q,"subscription":"opt_in"}]`, topic)})
		stands("an import", "opt_out", 0)
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "topics": in, "resubscribe": true})
		stands("they came back", "opt_in", 1)
		h.must(200, "POST", "/contacts/ann@example.net/topics", fields{"topic_id": topic, "subscription": "opt_out"})
		h.ask("POST", h.unsubscribeLink("ann@example.net", topic, ""), []byte("List-Unsubscribe=One-Click"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "topics": in})
		stands("a link that said again what the customer had said", "opt_out", 0)
		h.must(200, "POST", "/contacts/ann@example.net/topics", fields{"topic_id": topic, "subscription": "opt_in"})
		stands("they said so on the customer's own page", "opt_in", 1)
	})
}

func TestBouncesAndComplaintsShowOnTheContact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", nil)
		for _, step := range []struct{ reason, want string }{{"bounce", `["bounced",true,"bounce"]`}, {"complaint", `["complained",true,"complaint"]`}} {
			h.must(200, "GET", "/contacts/"+id, nil)
			h.Call("POST", "/suppressions", fields{"email": "ANN@example.net", "reason": step.reason})
			h.follow()
			if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("status", "suppressed", "suppression_reason"); got != step.want {
				t.Errorf("%s: %s", step.reason, got)
			}
		}
		h.must(200, "DELETE", "/suppressions/ann@example.net", nil)
		h.follow()
		if got := h.must(200, "GET", "/contacts/"+id, nil).Pick("status", "suppressed", "suppression_reason"); got != `["subscribed",false,null]` {
			t.Error(got)
		}
		h.must(201, "POST", "/suppressions", fields{"email": "late@example.net"})
		if got := h.must(201, "POST", "/contacts", fields{"email": "late@example.net"}).Pick("status", "suppressed", "suppression_reason"); got != `["subscribed",true,"manual"]` {
			t.Error(got)
		}
	})
}

func TestMailForAContactIsCounted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", nil)
		h.Send("Ann@example.net")
		h.Deliver()
		h.follow()
		if h.must(200, "GET", "/contacts/"+id, nil).Body["last_emailed_at"] == nil {
			t.Error("no mail was counted")
		}
		g := h.made("/segments", "Mailed", fields{"filter": fields{"type": "and", "rules": []fields{
			{"type": "rule", "field": "engagement.sent_count", "operator": "gte", "value": 1},
			{"type": "rule", "field": "engagement.last_sent_at", "operator": "within_last", "value": "1 hours"},
			{"type": "rule", "field": "engagement.last_opened_at", "operator": "is_empty"}}}})
		if got := h.must(200, "GET", "/segments/"+g+"/contacts", nil).Column("email"); got != "ann@example.net" {
			t.Error(got)
		}
	})
}
