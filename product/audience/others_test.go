package audience_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/plan"
)

func TestNobodySeesTheAudienceOfAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		h.made("/audience/lists", "A", nil)
		h.made("/segments", "B", nil)
		h.made("/topics", "C", nil)
		h.property("plan", "string")
		ann := h.contact("ann@example.net", nil)
		im := h.must(202, "POST", "/contacts/imports", fields{"contacts": []fields{{"email": "bob@example.net"}}}).Text("id")
		h.work()
		ws, key := h.NewWorkspace(plan.Pro)
		as := func(method, path string, body any) int { return h.CallAs(key, method, path, body, nil).Status }

		for _, path := range []string{"/audience/lists", "/segments", "/topics", "/contact-properties", "/contacts", "/contacts/imports"} {
			if got := h.CallAs(key, "GET", path, nil, nil).Pick("data", "total"); got != "[[],0]" {
				t.Errorf("%s: %s", path, got)
			}
		}
		for _, path := range []string{"/contacts/" + ann, "/contacts/" + ann + "/topics", "/contacts/" + ann + "/properties", "/contacts/imports/" + im} {
			if got := as("GET", path, nil); got != 404 {
				t.Errorf("GET %s: %d", path, got)
			}
		}
		patched, deleted := as("PATCH", "/contacts/"+ann, fields{"first_name": "Eve"}), as("DELETE", "/contacts/"+ann, nil)
		if patched != 404 || deleted != 404 {
			t.Errorf("a contact was changed with %d and deleted with %d", patched, deleted)
		}
		everybody := h.CallAs(key, "POST", "/segments", fields{"name": "All", "filter": rule("email", "exists", true)}, nil)
		if got := everybody.Pick("contact_count"); got != "[0]" {
			t.Errorf("a segment counts %s", got)
		}
		id := everybody.Text("id")
		if got := h.CallAs(key, "GET", "/segments/"+id+"/contacts", nil, nil).Column("email"); got != "" {
			t.Errorf("a segment has %s", got)
		}
		added := h.CallAs(key, "POST", "/segments/"+id+"/contacts", fields{"contact_ids": []string{ann}}, nil)
		if got := added.Pick("added", "not_found"); got != `[0,["`+ann+`"]]` {
			t.Errorf("put in by hand: %s", got)
		}
		h.in(func(tx *db.Tx, s *audience.Service) error {
			page, err := s.Recipients(tx, ws, audience.Target{}, 0, 10)
			if len(page) > 0 {
				t.Errorf("%d recipients", len(page))
			}
			return err
		})
	})
}

// happened records what became of mail.
func (h *house) happened(ws space.ID, kind, to string, at time.Time, data string) {
	h.t.Helper()
	h.in(func(tx *db.Tx, _ *audience.Service) error {
		return event.Append(tx, event.Event{ID: h.App.World.NewID(), Workspace: ws, Type: kind, Subject: h.DomainID, Recipient: to, OccurredAt: at,
			Data: json.RawMessage(data)})
	})
}

func TestOpensAndClicksOfPeopleAreCountedForTheContactOfTheWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.contact("ann@example.net", nil)
		_, key := h.NewWorkspace(plan.Pro)
		other := h.CallAs(key, "POST", "/contacts", fields{"email": "ann@example.net"}, nil).Text("id")
		now := h.Clock.Now().Truncate(time.Millisecond)
		h.happened(h.Workspace, "email.accepted", "ann@example.net", now.Add(-time.Hour), `{}`)
		h.happened(h.Workspace, "email.opened", "Ann@example.net", now, `{"open":{"automated":false}}`)
		h.happened(h.Workspace, "email.opened", "ann@example.net", now.Add(time.Minute), `{"open":{"automated":true}}`)
		h.happened(h.Workspace, "email.clicked", "ann@example.net", now, `{"click":{"automated":false}}`)
		h.happened(h.Workspace, "email.clicked", "ann@example.net", now.Add(time.Minute), `{"click":{"automated":true}}`)
		h.follow()
		h.happened(h.Workspace, "email.opened", "ann@example.net", now.Add(-time.Hour), `{}`)
		h.follow()

		moment := func(at time.Time) string { return `"` + at.UTC().Format("2006-01-02T15:04:05.000Z") + `"` }
		if got, want := h.must(200, "GET", "/contacts/"+id, nil).Pick("last_emailed_at", "last_opened_at", "last_clicked_at"),
			"["+strings.Join([]string{moment(now.Add(-time.Hour)), moment(now), moment(now)}, ",")+"]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		counted := fields{"type": "and", "rules": []fields{rule("engagement.sent_count", "eq", 1), rule("engagement.open_count", "eq", 2),
			rule("engagement.click_count", "eq", 1)}}
		if got := h.must(201, "POST", "/segments", fields{"name": "Counted", "filter": counted}).Pick("contact_count"); got != "[1]" {
			t.Error("the counts are others")
		}
		elsewhere := h.CallAs(key, "GET", "/contacts/"+other, nil, nil)
		if got := elsewhere.Pick("last_emailed_at", "last_opened_at", "last_clicked_at"); got != "[null,null,null]" {
			t.Errorf("in another workspace: %s", got)
		}
	})
}

// excluded are the reasons why those who were meant may not be mailed any more, in the order of the addresses.
func (h *house) excluded(target audience.Target, numbers []int64) (reasons []string) {
	h.t.Helper()
	h.in(func(tx *db.Tx, s *audience.Service) error {
		out, err := s.Excluded(tx, h.Workspace, target, numbers)
		reasons = nil
		for _, number := range numbers {
			reasons = append(reasons, string(out[number]))
		}
		return err
	})
	return reasons
}

func TestWhoMayNotBeMailedAnyMoreIsLeftOutForTheirReason(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list, topic, segment := h.made("/audience/lists", "A", nil), h.made("/topics", "B", nil), h.made("/segments", "C", nil)
		for _, name := range []string{"stays", "gone", "blocked", "left", "quit", "silent"} {
			h.contact(name+"@example.net", fields{"list_id": list, "segments": []string{segment}})
		}
		target := audience.Target{List: list, Topic: topic, Segment: segment}
		var numbers []int64
		err := h.App.DB.Read(context.Background(), func(tx *db.Tx) error {
			page, err := h.App.Audience.Meant(tx, h.Workspace, target, 0, 10)
			for _, m := range page {
				numbers = append(numbers, m.Number)
			}
			return err
		})
		if err != nil || len(numbers) != 6 {
			t.Fatal(numbers, err)
		}
		form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
		h.must(200, "DELETE", "/segments/"+segment+"/contacts/stays@example.net", nil)
		h.must(200, "DELETE", "/contacts/gone@example.net", nil)
		h.must(201, "POST", "/suppressions", fields{"email": "blocked@example.net", "reason": "manual"})
		h.ask("POST", h.unsubscribeLink("left@example.net", "", list), []byte("scope=list"), form)
		h.ask("POST", h.unsubscribeLink("quit@example.net", "", list), []byte("scope=all"), form)
		h.ask("POST", h.unsubscribeLink("silent@example.net", topic, list), []byte("scope=topic"), form)
		h.follow()

		if got, want := strings.Join(h.excluded(target, numbers), " "), " contact_deleted suppressed unsubscribed unsubscribed topic_opt_out"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
