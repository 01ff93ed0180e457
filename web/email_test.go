package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
)

func TestAnEmailWithManyAttemptsLeadsToAllOfThem(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	var to []string
	for i := range 30 {
		to = append(to, fmt.Sprintf("defer+%d@sandbox.test", i))
	}
	path := "/emails/" + in.Send(to...)
	in.Deliver()
	in.Clock.Advance(time.Hour)
	in.Deliver()
	owner := signedIn(t, in, api.Owner)
	first := main(owner.open(path))
	for _, want := range []string{"the first 12 of 60 attempts", "These are the first 50 of 60 attempts.", " and 29 others</b>", `SMTP attempts<span class="n">60</span>`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first tab does not say %q", want)
		}
	}
	for tab, mark := range map[string]string{"attempts": "<h2>Attempt ", "events": "<summary>Payload"} {
		page := main(owner.open(path + "?tab=" + tab))
		if strings.Count(page, mark) != 50 || !strings.Contains(page, "1 to 50") || !strings.Contains(page, "?offset=50&amp;tab="+tab) {
			t.Errorf("the tab of %s shows %d and leads to no more", tab, strings.Count(page, mark))
		}
		if next := main(owner.open(path + "?tab=" + tab + "&offset=50")); strings.Count(next, mark) < 10 || !strings.Contains(next, `rel="prev"`) {
			t.Errorf("the second page of %s shows %d", tab, strings.Count(next, mark))
		}
		if past := main(owner.open(path + "?tab=" + tab + "&offset=5000")); !strings.Contains(past, "past the end") {
			t.Errorf("the tab of %s does not lead back from a page past its end", tab)
		}
	}
}

func TestALongTimelineLeadsToItsLaterEvents(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	id := in.Send("ada@example.net")
	owner := signedIn(t, in, api.Owner)
	open := func(upTo int) {
		t.Helper()
		err := in.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			told, err := event.OfSubject(tx, in.Workspace, id, "", upTo, 0)
			var opens []event.Event
			for i := len(told); i < upTo; i++ {
				opens = append(opens, event.Event{ID: fmt.Sprintf("open-%d", i), Workspace: in.Workspace, Type: "email.opened", Subject: id, Recipient: "ada@example.net", OccurredAt: tx.Now(), Data: []byte("{}")})
			}
			if err != nil {
				return err
			}
			return event.Append(tx, opens...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	open(500)
	if page := main(owner.open("/emails/" + id)); strings.Contains(page, "there were more since") {
		t.Error("a timeline that is whole promises more")
	}
	open(501)
	if page := main(owner.open("/emails/" + id)); !strings.Contains(page, "the first 500 events") || !strings.Contains(page, "?offset=500&amp;tab=events") {
		t.Error("a timeline of 500 of 501 events does not say so")
	}
	if later := main(owner.open("/emails/" + id + "?offset=500&tab=events")); strings.Count(later, "<summary>Payload") != 1 {
		t.Error("the later event is not where the timeline leads")
	}
}

func TestABounceIsToldOnceAndNamesTheOthers(t *testing.T) {
	t.Parallel()
	in := apptest.New(t, "sqlite")
	path := "/emails/" + in.Send("bounce+ada@sandbox.test", "bounce+bob@sandbox.test")
	in.Deliver()
	page := main(signedIn(t, in, api.Owner).open(path))
	if n := strings.Count(page, `class="note bad"`); n != 1 || !strings.Contains(page, "1 more of the recipients bounced, too.") {
		t.Errorf("%d notes: %.3000s", n, page)
	}
}
