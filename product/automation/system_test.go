package automation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/suppression"
)

// total returns how many runs an automation has had.
func (h house) total(id string) string {
	h.t.Helper()
	return h.must(200, "GET", "/automations/"+id+"/runs", nil).Text("total")
}

func TestWhatHappensToContactsBeginsRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		segment := h.must(201, "POST", "/segments", fields{"name": "Hand-picked"}).Text("id")
		h.must(201, "POST", "/contacts", fields{"email": "old@example.net", "list_ids": []string{list}})
		h.work()
		end := step("end", "exit", nil)
		created := h.enabled(line(on("system:contact.created"), end))
		joined := h.enabled(line(on("system:list.joined", fields{"list_id": list}), end))
		entered := h.enabled(line(on("system:segment.entered", fields{"segment_id": segment}), end))
		left := h.enabled(line(on("system:segment.left", fields{"segment_id": segment}), end))
		pro := h.enabled(line(on("system:contact.created", fields{"filter_rule": fields{"type": "rule", "field": "event.first_name", "operator": "eq", "value": "Pro"}}), end))

		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list}})
		h.must(200, "PATCH", "/contacts/old@example.net", fields{"first_name": "Old"})
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Ann", "segments": []string{segment}})
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"last_name": "Lee"})
		h.must(201, "POST", "/contacts", fields{"email": "pro@example.net", "first_name": "Pro"})
		h.work()
		payer, ann := h.must(200, "GET", "/contacts/pro@example.net", nil).Text("id"), h.must(200, "GET", "/contacts/ann@example.net", nil).Text("id")
		h.must(200, "POST", "/contacts/old@example.net/segments/"+segment, nil)
		h.must(200, "POST", "/segments/"+segment+"/contacts", fields{"contact_ids": []string{payer, ann}})
		h.must(200, "POST", "/segments/"+segment+"/contacts", fields{"contact_ids": []string{payer, ann}})
		h.work()
		for id, want := range map[string]string{created: "2", joined: "1", entered: "3", left: "0", pro: "1"} {
			if got := h.total(id); got != want {
				t.Errorf("%s began %s runs, want %s", h.must(200, "GET", "/automations/"+id, nil).Text("triggers"), got, want)
			}
		}
		h.must(409, "DELETE", "/segments/"+segment, nil)
	})
}

// confirm presses the button behind the link that a list with double opt-in sent last.
func (h house) confirm(contact, list string) {
	h.t.Helper()
	asked := h.must(202, "POST", "/audience/contacts/"+contact+"/send-confirmation", fields{"list_id": list})
	letter := h.must(200, "GET", "/emails/"+asked.Text("email_id"), nil).Text("text")
	link := regexp.MustCompile(`/audience/confirm/[^\s"<]+`).FindString(letter)
	if answer := h.CallAs("", "POST", link, nil, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}); answer.Status != 200 {
		h.t.Fatalf("confirm: %d: %s", answer.Status, answer.Raw)
	}
}

func TestWhoConfirmsAListJoinsItAndIsWelcomed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News", "double_opt_in": true, "confirmation": fields{"from": "a@acme.test", "subject": "Please confirm"}}).Text("id")
		welcome := step("mail", "send_email", fields{"from": "a@acme.test", "subject": "Welcome", "text": "x"})
		id := h.enabled(line(on("system:list.joined", fields{"list_id": list}), welcome))
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list}})
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Ann"})
		h.work()
		if got := h.total(id); got != "0" {
			t.Fatalf("%s runs before the contact confirmed", got)
		}
		h.confirm("ann@example.net", list)
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Anna"})
		h.work()
		if got := h.mails(); h.total(id) != "1" || !slices.Contains(got, "Welcome") {
			t.Errorf("after the confirmation: %s runs, mails %v", h.total(id), got)
		}
	})
}

func TestWhoLeavesAListAndComesBackJoinsItAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		id := h.enabled(line(on("system:list.joined", fields{"list_id": list}), step("end", "exit", nil)))
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list}})
		h.work()
		link := h.App.Suppressions.Link("", suppression.Claims{Workspace: h.Workspace, Address: "ann@example.net", List: list})
		_, link, _ = strings.Cut(link, "/v1")
		left := h.CallAs("", "POST", link, []byte("scope=list"), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
		h.work()
		if left.Status != 200 || h.total(id) != "1" {
			t.Fatalf("leaving: %d, %s runs", left.Status, h.total(id))
		}
		h.must(200, "POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list}, "resubscribe": true})
		h.work()
		if got := h.total(id); got != "2" {
			t.Errorf("%s runs", got)
		}
	})
}

func TestWhoMayNotBeMailedIsInASegmentAllTheSame(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		rule := fields{"type": "rule", "field": "last_name", "operator": "eq", "value": "Lee"}
		segment := h.must(201, "POST", "/segments", fields{"name": "Lees", "filter": rule}).Text("id")
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "last_name": "Lee", "unsubscribed": true})
		h.work()
		end := step("end", "exit", nil)
		entered := h.enabled(line(on("system:segment.entered", fields{"segment_id": segment}), end))
		left := h.enabled(line(on("system:segment.left", fields{"segment_id": segment}), end))
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"first_name": "Ann"})
		h.work()
		if h.total(entered) != "0" || h.total(left) != "0" {
			t.Errorf("a new name: %s entered, %s left", h.total(entered), h.total(left))
		}
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"last_name": "Ray"})
		h.work()
		if h.total(entered) != "0" || h.total(left) != "1" {
			t.Errorf("another last name: %s entered, %s left", h.total(entered), h.total(left))
		}
	})
}

func TestWhatHappensToMailBeginsRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		opened := h.enabled(line(on("system:email.opened"), hello))
		received := h.enabled(line(on("system:email.received"), hello))
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			happened := func(kind, data string) event.Event {
				return event.Event{ID: h.App.World.NewID(), Workspace: h.Workspace, Type: kind, Subject: h.DomainID, Recipient: "ann@example.net", OccurredAt: tx.Now(), Data: json.RawMessage(data)}
			}
			return event.Append(tx, happened("email.opened", `{"plan":"x","open":{"automated":false}}`), happened("email.opened", `{"open":{"automated":true}}`),
				happened("email.received", `{"plan":"x","from":"Ann <ann@example.net>"}`), happened("email.received", `{"from":"Ann <ann@example.net>","auto_submitted":true}`),
				happened("email.received", `{"from":"stranger@example.net"}`), happened("email.received", `{"from":""}`))
		})
		if err != nil {
			t.Fatal(err)
		}
		h.work()
		if h.total(opened) != "1" || h.total(received) != "1" || len(h.mails()) != 2 {
			t.Errorf("opened %s, received %s, mails %v", h.total(opened), h.total(received), h.mails())
		}
	})
}

// thanks answers whatever was received.
var thanks = step("thanks", "send_email", fields{"from": "Acme <support@acme.test>", "subject": "Thank you", "text": "We read it. {{{UNSUBSCRIBE_URL}}}"})

func TestAnAnswerToReceivedMailSaysThatAProgramWroteIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		id := h.enabled(line(on("system:email.received"), thanks))
		question := "From: ann@example.net\r\nTo: support@acme.test\r\nMessage-ID: <q@example.net>\r\nSubject: Question\r\n"
		h.must(201, "POST", "/emails/receiving", fields{"to": []string{"support@acme.test"}, "raw": question + "\r\nHow are you?\r\n"})
		h.work()
		list, _ := h.must(200, "GET", "/emails", nil).Body["data"].([]any)
		if len(list) != 1 {
			t.Fatalf("%d answers", len(list))
		}
		answer, _ := list[0].(fields)
		sent, _ := h.must(200, "GET", fmt.Sprintf("/emails/%s", answer["id"]), nil).Body["headers"].(fields)
		if sent["Auto-Submitted"] != "auto-replied" || sent["In-Reply-To"] != "<q@example.net>" || sent["References"] != "<q@example.net>" {
			t.Errorf("headers %v", sent)
		}
		// Whoever runs the same program at the other end does not answer this.
		back := question + fmt.Sprintf("Auto-Submitted: %s\r\n\r\nThank you for your mail.\r\n", sent["Auto-Submitted"])
		h.must(201, "POST", "/emails/receiving", fields{"to": []string{"support@acme.test"}, "raw": back})
		h.work()
		if got := h.total(id); got != "1" {
			t.Errorf("%s runs", got)
		}
	})
}

func TestMailThatWentToManyIsNotAnswered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net"})
		id := h.enabled(line(on("system:email.received"), thanks))
		for _, mark := range []string{"Precedence: bulk", "List-Id: <friends.example.net>"} {
			raw := "From: ann@example.net\r\nTo: friends@example.net\r\nSubject: News\r\n" + mark + "\r\n\r\nHi all.\r\n"
			came := h.must(201, "POST", "/emails/receiving", fields{"to": []string{"support@acme.test"}, "raw": raw})
			if came.Body["bulk"] != true {
				t.Errorf("%s: %v", mark, came.Body)
			}
		}
		h.work()
		runs, _ := h.must(200, "GET", "/automations/"+id+"/runs", nil).Body["data"].([]any)
		if len(runs) != 2 || len(h.mails()) != 0 {
			t.Fatalf("%d runs, mails %v", len(runs), h.mails())
		}
		for _, run := range runs {
			one := h.must(200, "GET", fmt.Sprintf("/automations/%s/runs/%s", id, run.(fields)["id"]), nil)
			if text := fmt.Sprint(one.Body["steps"]); !strings.Contains(text, "skipped") || !strings.Contains(text, "bulk") {
				t.Errorf("steps %s", text)
			}
		}
	})
}

func TestMailThatWasDeletedInTheMeantimeBeginsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("system:email.received"), step("end", "exit", nil)))
		came := h.must(201, "POST", "/emails/receiving", fields{"to": []string{"support@acme.test"}, "raw": "From: ann@example.net\r\nSubject: Question\r\n\r\nHi\r\n"})
		h.must(200, "DELETE", "/emails/receiving/"+came.Text("id"), nil)
		h.work()
		if got := h.total(id); got != "0" {
			t.Errorf("%s runs", got)
		}
	})
}

func TestAScheduleBeginsARunForEachContactOfItsSegment(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "All", "filter": fields{"type": "rule", "field": "email", "operator": "exists"}}).Text("id")
		for _, who := range []string{"a", "b", "c"} {
			h.must(201, "POST", "/contacts", fields{"email": who + "@example.net"})
		}
		id := h.enabled(line(on("system:schedule", fields{"cron": "0 9 * * *", "timezone": "Europe/Berlin", "segment_id": segment}), step("end", "exit", nil)))
		alone := h.enabled(line(on("system:schedule", fields{"cron": "*/30 * * * *"}), step("end", "exit", nil)))
		h.work()
		if h.total(id) != "0" {
			t.Error("a schedule began before its time")
		}
		h.Clock.Advance(24 * time.Hour)
		h.work()
		if h.total(id) != "3" || h.total(alone) != "1" {
			t.Errorf("after a day: %s and %s", h.total(id), h.total(alone))
		}
		h.must(200, "PATCH", "/automations/"+id, fields{"status": "disabled"})
		h.must(200, "PATCH", "/automations/"+id, fields{"status": "enabled"})
		h.Clock.Advance(24 * time.Hour)
		h.work()
		if h.total(id) != "6" {
			t.Errorf("a schedule that was off and on again: %s", h.total(id))
		}
		h.must(200, "POST", "/automations/"+id+"/stop", nil)
		h.Clock.Advance(24 * time.Hour)
		h.work()
		if h.total(id) != "6" {
			t.Errorf("a schedule that was stopped: %s", h.total(id))
		}
	})
}

func TestAScheduleWhoseSegmentIsGoneStopsNoOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "Gone"}).Text("id")
		at := func(cron string, more fields) fields { return on("system:schedule", fields{"cron": cron}, more) }
		broken := h.enabled(line(at("0 9 * * *", fields{"segment_id": segment}), step("end", "exit", nil)))
		sound := h.enabled(line(at("1 9 * * *", nil), step("end", "exit", nil)))
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(`DELETE FROM segment WHERE id = $1`, segment)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1", "2"} {
			h.Clock.Advance(24 * time.Hour)
			h.work()
			if h.total(broken) != "0" || h.total(sound) != want {
				t.Errorf("%s and %s runs, want 0 and %s", h.total(broken), h.total(sound), want)
			}
		}
	})
}

func TestContactsMoveBetweenListsSegmentsAndTopics(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		segment := h.must(201, "POST", "/segments", fields{"name": "Hand-picked"}).Text("id")
		topic := h.must(201, "POST", "/topics", fields{"name": "Offers", "default_subscription": "opt_in"}).Text("id")
		id := h.enabled(line(on("go"), step("a", "add_to_list", fields{"list_id": list}), step("b", "add_to_segment", fields{"segment_id": segment}),
			step("c", "set_topic", fields{"topic_id": topic, "subscription": "opt_out"}),
			step("mail", "send_email", fields{"from": "a@acme.test", "subject": "x", "text": "x", "topic_id": topic}),
			step("wait", "delay", fields{"duration": "1 minute"}),
			step("d", "remove_from_list", fields{"list_id": list}), step("e", "remove_from_segment", fields{"segment_id": segment}), step("f", "contact_delete", nil),
			step("late", "send_email", fields{"from": "a@acme.test", "subject": "x", "text": "x"})))
		run := h.send("go", "ann@example.net", nil)[0]
		h.work()
		if got := path(h.run(id, run)); got != "start:completed a:completed b:completed c:completed mail:skipped wait:waiting" {
			t.Fatalf("%s", got)
		}
		for _, place := range []string{"/audience/contacts?list_id=" + list, "/audience/contacts?segment_id=" + segment} {
			if got := h.must(200, "GET", place, nil).Text("total"); got != "1" {
				t.Errorf("%s: %s", place, got)
			}
		}
		h.Clock.Advance(aMinute)
		h.work()
		over := h.run(id, run)
		if over.Text("status") != "failed" || over.Text("error", "message") != "The contact is gone." || over.Text("error", "step") != "late" {
			t.Errorf("run %s", over.Raw)
		}
		h.must(404, "GET", "/contacts/ann@example.net", nil)
	})
}

func TestSomebodyWhoIsTakenOffByAStepIsToldOf(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		segment := h.must(201, "POST", "/segments", fields{"name": "Hand-picked"}).Text("id")
		for _, who := range []string{"ann", "bob"} {
			h.must(201, "POST", "/audience/contacts", fields{"email": who + "@example.net", "list_ids": []string{list}, "segments": []fields{{"id": segment}}})
		}
		left := h.enabled(line(on("system:segment.left", fields{"segment_id": segment}), hello))
		changed := h.enabled(line(on("system:contact.updated"), hello))
		h.enabled(line(on("off"), step("off", "remove_from_list", fields{"list_id": list})))
		h.enabled(line(on("out"), step("out", "remove_from_segment", fields{"segment_id": segment})))
		h.work()

		for _, step := range []struct{ event, left, changed string }{
			{"off", "0", "1"}, {"off", "0", "1"}, {"out", "1", "2"}, {"out", "1", "2"},
		} {
			h.send(step.event, "ann@example.net", nil)
			h.work()
			if h.total(left) != step.left || h.total(changed) != step.changed {
				t.Errorf("after %s: left %s, changed %s, want %s and %s", step.event, h.total(left), h.total(changed), step.left, step.changed)
			}
		}
		h.must(200, "DELETE", "/segments/"+segment+"/contacts/bob@example.net", nil)
		h.work()
		if h.total(left) != "2" || h.total(changed) != "3" {
			t.Errorf("by the API: left %s, changed %s", h.total(left), h.total(changed))
		}
	})
}

func TestATriggerOfAnAutomationThatIsRenamedGoesOnAsBefore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		daily := h.enabled(line(on("system:schedule", fields{"cron": "0 9 * * *"}), step("end", "exit", nil)))
		joined := h.enabled(line(on("system:list.joined", fields{"list_id": list}), step("end", "exit", nil)))
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list}})
		h.Clock.Advance(time.Second)
		for _, id := range []string{daily, joined} {
			h.must(200, "PATCH", "/automations/"+id, fields{"name": "Other"})
		}
		h.Clock.Advance(24 * time.Hour)
		h.work()
		if h.total(daily) != "1" || h.total(joined) != "1" {
			t.Errorf("renamed: %s runs at its time, %s for who joined just before", h.total(daily), h.total(joined))
		}
		h.must(200, "POST", "/automations/"+daily+"/versions/1/rollback", nil)
		h.Clock.Advance(24 * time.Hour)
		h.work()
		if h.total(daily) != "2" {
			t.Errorf("another version: %s runs", h.total(daily))
		}
	})
}

func TestAScheduleReachesEverybodyOfALargeSegmentOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "All", "filter": fields{"type": "rule", "field": "email", "operator": "exists"}}).Text("id")
		for i := range 205 { // more than one page
			h.send("hello", fmt.Sprintf("p%d@example.net", i), nil)
		}
		id := h.enabled(line(on("system:schedule", fields{"cron": "0 9 * * *", "segment_id": segment}), step("end", "exit", nil)))
		h.Clock.Advance(24 * time.Hour)
		h.work()
		whom := map[any]bool{}
		for _, offset := range []string{"0", "200"} {
			list, _ := h.must(200, "GET", "/automations/"+id+"/runs?limit=200&offset="+offset, nil).Body["data"].([]any)
			for _, one := range list {
				whom[one.(fields)["contact_id"]] = true
			}
		}
		if h.total(id) != "205" || len(whom) != 205 {
			t.Errorf("%s runs for %d contacts", h.total(id), len(whom))
		}
	})
}

func TestATriggerThatAsksAboutAContactNeedsOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		h.enabled(line(on("go", fields{"filter_rule": fields{"type": "rule", "field": "email_domain", "operator": "neq", "value": "example.com"}}), step("end", "exit", nil)))
		if got := len(h.send("go", "", nil)); got != 0 {
			t.Errorf("%d runs about nobody", got)
		}
		if got := len(h.send("go", "ann@example.net", nil)); got != 1 {
			t.Errorf("%d runs about a contact", got)
		}
	})
}

func TestAWaitEndsWithWhatHappensToTheMailOfItsContact(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		id := h.enabled(line(on("go"), step("wait", "wait_for_event", fields{"event_name": "system:email.opened", "timeout": "2 days"})))
		ann, bob := h.send("go", "ann@example.net", nil)[0], h.send("go", "bob@example.net", nil)[0]
		h.work()
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
			return event.Append(tx, event.Event{ID: h.App.World.NewID(), Workspace: h.Workspace, Type: "email.opened", Subject: h.DomainID, Recipient: "ann@example.net", OccurredAt: tx.Now(), Data: json.RawMessage(`{}`)})
		})
		if err != nil {
			t.Fatal(err)
		}
		h.work()
		if opened, other := h.run(id, ann).Text("status"), h.run(id, bob).Text("status"); opened != "completed" || other != "running" {
			t.Errorf("who opened: %s, who did not: %s", opened, other)
		}
	})
}

func TestWhoIsDeletedBeginsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "Hand-picked"}).Text("id")
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "segments": []string{segment}})
		h.work()
		left := h.enabled(line(on("system:segment.left", fields{"segment_id": segment}), step("end", "exit", nil)))
		h.must(200, "DELETE", "/contacts/ann@example.net", nil)
		h.work()
		if got := h.total(left); got != "0" {
			t.Errorf("%s runs", got)
		}
	})
}

func TestWhatWasRecordedBeforeAnAutomationWasEnabledBeginsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "Hand-picked"}).Text("id")
		end := step("end", "exit", nil)
		first := h.enabled(line(on("system:contact.created"), end))
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "segments": []string{segment}})
		again := on("system:contact.created")
		again["key"] = "other"
		next := line(again, end)
		next["status"] = "enabled"
		h.must(200, "PATCH", "/automations/"+first, next) // goes on listening
		late := h.enabled(line(on("system:contact.created"), end))
		entered := h.enabled(line(on("system:segment.entered", fields{"segment_id": segment}), end))
		h.must(200, "PATCH", "/contacts/ann@example.net", fields{"segments": []string{}})
		h.work() // whoever follows the record was behind
		h.must(201, "POST", "/contacts", fields{"email": "bob@example.net", "segments": []string{segment}})
		h.work()
		for name, c := range map[string]struct{ id, want string }{"the first": {first, "2"}, "the late one": {late, "1"}, "of a segment": {entered, "1"}} {
			if got := h.total(c.id); got != c.want {
				t.Errorf("%s began %s runs, want %s", name, got, c.want)
			}
		}
	})
}
