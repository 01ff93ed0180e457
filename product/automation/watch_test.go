package automation_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
)

// throng imports more people named Lee than one transaction notes.
func (h house) throng(more fields) {
	h.t.Helper()
	var people []fields
	for n := range 600 {
		people = append(people, fields{"email": fmt.Sprintf("p%d@example.net", n), "last_name": "Lee"})
	}
	body := fields{"contacts": people}
	for name, value := range more {
		body[name] = value
	}
	h.must(202, "POST", "/contacts/imports", body)
	for _, w := range h.App.Audience.Workers() {
		h.Finish(w.Step)
	}
	h.Clock.Advance(time.Second)
}

// noted counts the people whom the triggers of an automation take to be where they watch.
func (h house) noted(id string) (n int64) {
	h.t.Helper()
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM automation_member WHERE automation_id = $1`, id)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

// hear lets followers handle what has happened, and nothing else be done.
func (h house) hear() {
	h.t.Helper()
	h.CatchUp(h.App.Automations.Followers())
}

// workOnly does what is due, and hears of nothing new.
func (h house) workOnly() {
	h.t.Helper()
	for _, w := range h.App.Automations.Workers() {
		h.Finish(w.Step)
	}
}

func TestWhoIsOnALargeListAlreadyIsNotedPageByPageAndWhoJoinsMeanwhileIsMissedByNone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		h.throng(fields{"list_id": list})
		h.must(201, "POST", "/contacts", fields{"email": "old@example.net", "list_ids": []string{list}})
		for _, who := range []string{"ann", "bob", "cid"} {
			h.must(201, "POST", "/contacts", fields{"email": who + "@example.net"})
		}
		h.work()
		h.Clock.Advance(time.Second)
		id := h.enabled(line(on("system:list.joined", fields{"list_id": list}), step("end", "exit", nil)))
		if n := h.noted(id); n == 0 || n >= 600 {
			t.Errorf("%d are noted with the answer", n)
		}
		join := func(who string) {
			t.Helper()
			h.must(200, "PATCH", "/contacts/"+who+"@example.net", fields{"list_ids": []string{list}})
		}
		change := func(name string, who ...string) {
			t.Helper()
			for _, one := range who {
				h.must(200, "PATCH", "/contacts/"+one+"@example.net", fields{"first_name": name})
			}
		}
		join("ann")
		change("A", "p1", "p599", "old", "ann") // those of the first page, of the second, who has told of himself, and who has just joined
		h.must(201, "POST", "/contacts", fields{"email": "new@example.net", "list_ids": []string{list}})
		h.hear()
		if got := h.total(id); got != "2" {
			t.Errorf("while they are noted: %s runs, want those of ann and of who is new", got)
		}
		join("bob") // is noted before anybody hears that he joined
		h.workOnly()
		h.work()
		if n := h.noted(id); n != 604 || h.total(id) != "3" {
			t.Errorf("%d are noted, %s runs", n, h.total(id))
		}
		change("B", "p1", "p599", "old", "ann", "bob", "new")
		join("cid")
		h.work()
		if got := h.total(id); got != "4" {
			t.Errorf("once all are noted: %s runs", got)
		}
	})
}

func TestWhoEntersOrLeavesALargeSegmentWhileItsPeopleAreNotedBeginsRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		segment := h.must(201, "POST", "/segments", fields{"name": "Lees", "filter": fields{"type": "rule", "field": "last_name", "operator": "eq", "value": "Lee"}}).Text("id")
		h.throng(nil)
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "last_name": "Lee"})
		h.must(201, "POST", "/contacts", fields{"email": "bob@example.net"})
		h.work()
		end := step("end", "exit", nil)
		entered := h.enabled(line(on("system:segment.entered", fields{"segment_id": segment}), end))
		left := h.enabled(line(on("system:segment.left", fields{"segment_id": segment}), end))
		change := func(who, last string) {
			h.must(200, "PATCH", "/contacts/"+who+"@example.net", fields{"last_name": last})
		}
		for range 2 {
			change("p599", "Lee")
			change("ann", "Ray")
			change("bob", "Lee")
			h.hear()
			if h.total(entered) != "1" || h.total(left) != "1" {
				t.Errorf("while they are noted: %s entered, %s left", h.total(entered), h.total(left))
			}
		}
		h.work()
		change("ann", "Lee")
		change("bob", "Ray")
		change("p599", "Lee")
		h.work()
		if h.total(entered) != "2" || h.total(left) != "2" {
			t.Errorf("once all are noted: %s entered, %s left", h.total(entered), h.total(left))
		}
	})
}

func TestNobodyIsNotedForATriggerThatIsOverAndAllAreAgainForOneThatBeginsAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		h.throng(fields{"list_id": list})
		id := h.enabled(line(on("system:list.joined", fields{"list_id": list}), step("end", "exit", nil)))
		turn := func(status string) { h.must(200, "PATCH", "/automations/"+id, fields{"status": status}) }
		turn("disabled") // before all are noted
		turn("enabled")
		h.work()
		turn("disabled")
		h.must(200, "DELETE", "/contacts/p0@example.net", nil)
		turn("enabled") // before all are forgotten
		h.work()
		if n := h.noted(id); n != 599 {
			t.Errorf("%d are noted of an automation that is on again", n)
		}
		h.must(200, "PATCH", "/contacts/p599@example.net", fields{"first_name": "A"})
		h.work()
		if got := h.total(id); got != "0" {
			t.Errorf("%s runs", got)
		}
		turn("disabled")
		h.work()
		if n := h.noted(id); n != 0 {
			t.Errorf("%d are noted of an automation that is off", n)
		}
	})
}

func TestWhoJoinedJustBeforeAnotherVersionWasPublishedIsWelcomed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h house) {
		list := h.must(201, "POST", "/audience/lists", fields{"name": "News"}).Text("id")
		id := h.enabled(line(on("system:list.joined", fields{"list_id": list}), step("end", "exit", nil)))
		h.must(201, "POST", "/contacts", fields{"email": "ann@example.net", "list_ids": []string{list}})
		h.must(200, "POST", "/automations/"+id+"/publish", nil)
		h.work()
		if got := h.total(id); got != "1" {
			t.Errorf("%s runs", got)
		}
	})
}
