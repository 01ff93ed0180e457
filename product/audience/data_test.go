package audience_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"postrider/platform/db"
	"postrider/product/audience"
	"postrider/product/plan"
	"postrider/product/suppression"
)

func TestAnExportRunsNoFormulasAndIsReadBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("note", "string")
		h.property("seats", "number")
		var rows []fields
		for i := range 1200 {
			rows = append(rows, fields{"email": fmt.Sprintf("c%d@example.net", i), "properties": fields{"seats": -i}})
		}
		h.must(202, "POST", "/contacts/imports", fields{"contacts": rows})
		h.work()
		for _, formula := range []string{"=cmd()", "+1", "-1", "@SUM(A1)", "\t=1", "plain, \"quoted\"\nline"} {
			h.must(200, "PATCH", "/contacts/c7@example.net", fields{"properties": fields{"note": formula}})
			answer := h.ask("GET", "/audience/contacts/export", nil, map[string]string{"Authorization": "Bearer " + h.Key})
			if answer.Status != 200 || answer.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(answer.Header.Get("Content-Disposition"), "contacts.csv") {
				t.Fatalf("%d %v", answer.Status, answer.Header)
			}
			lines, err := csv.NewReader(strings.NewReader(string(answer.Raw))).ReadAll()
			if err != nil || len(lines) != 1201 || strings.Join(lines[0], ",") != "email,first_name,last_name,unsubscribed,status,created_at,note,seats" {
				t.Fatalf("%d lines, %v: %v", len(lines), err, lines[0])
			}
			seen := map[string]bool{}
			for _, line := range lines[1:] {
				seen[line[0]] = true
				if line[0] == "c7@example.net" && (strings.TrimPrefix(line[6], "'") != formula || strings.ContainsAny(line[6][:1], "=+-@\t") || line[7] != "-7") {
					t.Errorf("%q became %q, %q", formula, line[6], line[7])
				}
			}
			if len(seen) != 1200 {
				t.Errorf("%d contacts", len(seen))
			}
		}
		if answer := h.ask("GET", "/audience/contacts/export?status=bounced", nil, map[string]string{"Authorization": "Bearer " + h.Key}); strings.Count(string(answer.Raw), "\n") != 1 {
			t.Errorf("%s", answer.Raw)
		}
	})
}

func TestAPersonIsForgottenAndStaysSuppressed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", fields{"first_name": "Ann"})
		alone := h.Send("ann@example.net")
		both := h.must(202, "POST", "/emails", fields{"from": sender, "to": []string{"Ann@Example.net", "bob@example.net"}, "subject": "To both", "text": "Both of you"}).Text("id")
		waiting := h.must(202, "POST", "/emails", fields{"from": sender, "to": "ann@example.net", "subject": "Later", "text": "Later", "scheduled_at": "in 10 minutes"}).Text("id")
		h.Deliver()
		h.must(201, "POST", "/suppressions", fields{"email": "ann@example.net", "reason": "complaint", "note": "Ann was angry"})
		h.follow()
		erased := h.must(202, "POST", "/audience/contacts/ann@example.net/erase", nil)
		if erased.Pick("object", "contact_id", "status") != fmt.Sprintf(`["contact_erasure",%q,"queued"]`, id) {
			t.Errorf("%s", erased.Raw)
		}
		h.must(404, "GET", "/contacts/"+id, nil)
		h.work()
		h.must(200, "POST", "/emails/"+waiting+"/cancel", nil)
		h.Clock.Advance(2 * 3600 * 1e9)
		h.work()
		h.follow()
		for _, email := range []string{alone, both, waiting} {
			for _, part := range []string{"", "/events", "/attempts"} {
				if raw := string(h.must(200, "GET", "/emails/"+email+part, nil).Raw); strings.Contains(strings.ToLower(raw), "ann@") || email == alone && strings.Contains(raw, "Hello there") {
					t.Errorf("%s: %s", part, raw)
				}
			}
		}
		if read := h.must(200, "GET", "/emails/"+both, nil); read.Text("text") != "Both of you" || fmt.Sprint(read.Body["to"]) != "[bob@example.net]" {
			t.Errorf("%s", read.Raw)
		}
		if got := len(h.must(200, "GET", "/emails?search=ann", nil).Body["data"].([]any)); got != 0 {
			t.Errorf("%d mails are found by the name", got)
		}
		if list := h.must(200, "GET", "/suppressions", nil); strings.Contains(string(list.Raw), "ann@") || strings.Contains(string(list.Raw), "angry") {
			t.Errorf("%s", list.Raw)
		}
		h.nothingOf("ann@example.net")
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			stops, err := h.App.Suppressions.Check(tx, []suppression.Query{{Workspace: h.Workspace, Address: "ANN@example.net"}})
			if err == nil && (stops[0] == nil || stops[0].Reason != suppression.Complaint) {
				t.Error("the address may be mailed again")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if again := h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"}); again.Pick("status", "suppressed") != `["complained",true]` {
			t.Errorf("%s", again.Raw)
		}
	})
}

// nothingOf looks for an address where data is kept as text.
func (h *house) nothingOf(address string) {
	h.t.Helper()
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
		for table, column := range map[string]string{"event": "data", "webhook_payload": "body", "email": "addresses", "email_recipient": "address", "email_attempt": "details", "contact_erasure": "address"} {
			count, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+table+` WHERE LOWER(`+column+`) LIKE $1`, "%"+address+"%")
			if err != nil {
				return err
			}
			if count > 0 {
				h.t.Errorf("%s.%s has %s %d times", table, column, address, count)
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// in runs a verb of the audience in a transaction.
func (h *house) in(verb func(tx *db.Tx, s *audience.Service) error) {
	h.t.Helper()
	if err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error { return verb(tx, h.App.Audience) }); err != nil {
		h.t.Fatal(err)
	}
}

func TestRecipientsAreThoseWhoMayBeMailed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.must(201, "POST", "/contact-properties", fields{"key": "plan", "type": "string", "fallback_value": "free"})
		list, topic := h.optIn(nil), h.made("/topics", "News", nil)
		plain := h.made("/audience/lists", "Plain", nil)
		for i := range 7 {
			h.contact(fmt.Sprintf("c%d@example.net", i), fields{"list_ids": []string{plain}, "properties": fields{"plan": "pro"}})
		}
		h.must(200, "PATCH", "/contacts/c0@example.net", fields{"unsubscribed": true})
		h.must(200, "POST", "/contacts/c1@example.net/topics", fields{"topic_id": topic, "subscription": "opt_out"})
		h.must(201, "POST", "/suppressions", fields{"email": "c2@example.net", "reason": "bounce"})
		h.ask("POST", h.unsubscribeLink("c3@example.net", "", plain), []byte("scope=list"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		h.contact("pending@example.net", fields{"list_id": list})
		h.contact("bare@example.net", nil)
		h.follow()
		segment := h.made("/segments", "Pros", fields{"filter": rule("properties.plan", "eq", "pro")})
		reached := func(target audience.Target) string {
			var all []string
			h.in(func(tx *db.Tx, s *audience.Service) error {
				all = nil
				for after := int64(0); ; {
					page, err := s.Recipients(tx, h.Workspace, target, after, 2)
					for _, r := range page {
						all = append(all, strings.TrimSuffix(r.Address, "@example.net")+"/"+fmt.Sprint(r.Properties["plan"]))
						after = r.Number
					}
					if err != nil || len(page) < 2 {
						return err
					}
				}
			})
			return strings.Join(all, " ")
		}
		for _, c := range []struct {
			target audience.Target
			want   string
			counts audience.Estimate
		}{
			{audience.Target{}, "c1/pro c3/pro c4/pro c5/pro c6/pro bare/free", audience.Estimate{Total: 9, Eligible: 6, Unsubscribed: 1, Pending: 1, Suppressed: 1}},
			{audience.Target{List: plain}, "c1/pro c4/pro c5/pro c6/pro", audience.Estimate{Total: 7, Eligible: 4, Unsubscribed: 2, Suppressed: 1}},
			{audience.Target{List: plain, Topic: topic}, "c4/pro c5/pro c6/pro", audience.Estimate{Total: 7, Eligible: 3, Unsubscribed: 2, Suppressed: 1, TopicOptOut: 1}},
			{audience.Target{Segment: segment, Topic: topic}, "c3/pro c4/pro c5/pro c6/pro", audience.Estimate{Total: 7, Eligible: 4, Unsubscribed: 1, Suppressed: 1, TopicOptOut: 1}},
			{audience.Target{List: list}, "", audience.Estimate{Total: 1, Pending: 1}},
			{audience.Target{List: plain, Segment: segment}, "c1/pro c4/pro c5/pro c6/pro", audience.Estimate{Total: 7, Eligible: 4, Unsubscribed: 2, Suppressed: 1}},
		} {
			if got := reached(c.target); got != c.want {
				t.Errorf("%+v: %s", c.target, got)
			}
			h.in(func(tx *db.Tx, s *audience.Service) error {
				counts, err := s.Estimate(tx, h.Workspace, c.target, nil)
				if err == nil && counts != c.counts {
					t.Errorf("%+v: %+v", c.target, counts)
				}
				return err
			})
		}
		h.in(func(tx *db.Tx, s *audience.Service) error {
			page, err := s.Recipients(tx, h.Workspace, audience.Target{List: plain}, 0, 10)
			if err != nil {
				return err
			}
			still, err := s.StillEligible(tx, h.Workspace, audience.Target{List: plain, Topic: topic}, []int64{page[0].Number, page[1].Number, 1 << 40})
			if err == nil && (still[page[0].Number] || !still[page[1].Number] || len(still) != 1) {
				t.Errorf("%v", still)
			}
			out, err := s.OptedOut(tx, h.Workspace, topic, []string{"C1@example.net", "c4@example.net", "stranger@example.net"})
			if err == nil && (len(out) != 1 || !out["c1@example.net"]) {
				t.Errorf("%v", out)
			}
			return err
		})
	})
}

func TestAutomationsChangeContacts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.property("plan", "string")
		list, segment, topic := h.made("/audience/lists", "A", nil), h.made("/segments", "B", nil), h.made("/topics", "C", nil)
		name := "Ann"
		h.in(func(tx *db.Tx, s *audience.Service) error {
			c, created, err := s.Ensure(tx, h.Workspace, plan.Unlimited, "ANN@example.net")
			if err != nil || !created {
				t.Fatal(created, err)
			}
			if _, created, err = s.Ensure(tx, h.Workspace, plan.Unlimited, "ann@example.net"); err != nil || created {
				t.Fatal(created, err)
			}
			_, err = s.Change(tx, h.Workspace, c.ID, audience.Change{FirstName: &name, Properties: map[string]json.RawMessage{"plan": json.RawMessage(`"pro"`)}, Lists: []string{list},
				Segments: []string{segment}, Topics: map[string]audience.Subscription{topic: audience.OptOut}})
			return err
		})
		read := h.must(200, "GET", "/contacts/ann@example.net", nil)
		if read.Pick("first_name", "properties", "segment_ids") != fmt.Sprintf(`["Ann",{"plan":"pro"},[%q]]`, segment) || h.membership(read.Text("id"), list) != "subscribed" ||
			read.Text("consent", "source") != "event" {
			t.Errorf("%s", read.Raw)
		}
		id := audience.ContactID(read.Text("id"))
		for rules, want := range map[string]bool{
			`{"type":"rule","field":"properties.plan","operator":"eq","value":"PRO"}`:           true,
			`{"type":"rule","field":"event.amount","operator":"gt","value":10}`:                 true,
			`{"type":"rule","field":"event.amount","operator":"gt","value":20}`:                 false,
			`{"type":"rule","field":"event.missing","operator":"neq","value":"x"}`:              true,
			`{"type":"rule","field":"event.missing","operator":"exists"}`:                       false,
			`{"type":"rule","field":"event.kind","operator":"in","value":["NEW","old"]}`:        true,
			`{"type":"rule","field":"event.at","operator":"lt","value":"2026-01-01T00:00:00Z"}`: true,
			`{"type":"rule","field":"event.paid","operator":"eq","value":true}`:                 true,
		} {
			h.in(func(tx *db.Tx, s *audience.Service) error {
				got, err := s.Matches(tx, h.Workspace, json.RawMessage(rules), id, map[string]any{"amount": 15.0, "kind": "new", "at": "2025-01-01T00:00:00Z", "paid": true})
				if err == nil && got != want {
					t.Errorf("%s is %v", rules, got)
				}
				return err
			})
		}
		h.in(func(tx *db.Tx, s *audience.Service) error {
			if was, err := s.LeaveList(tx, h.Workspace, id, list); err != nil || !was {
				t.Error(was, err)
			}
			was, err := s.LeaveSegment(tx, h.Workspace, id, segment)
			if !was {
				t.Error("the contact was not in the segment")
			}
			return err
		})
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Pick("lists", "segment_ids"); got != "[[],[]]" {
			t.Error(got)
		}
	})
}
