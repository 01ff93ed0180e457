package audience_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/audience"
)

func TestNobodyIsAskedWhoMayNotBeMailedOrHasLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		blocked := h.contact("blocked@example.net", fields{"list_id": list})
		h.contact("left@example.net", fields{"list_id": list})
		h.must(201, "POST", "/suppressions", fields{"email": "blocked@example.net", "reason": "manual"})
		h.leaves("left@example.net", list, "list")
		h.follow()

		refused := h.must(409, "POST", "/audience/contacts/"+blocked+"/send-confirmation", fields{"list_id": list})
		answer := h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil)

		if refused.Text("error", "code") != "invalid_state" || refused.Text("error", "details", "current") != "suppressed" {
			t.Errorf("%s", refused.Raw)
		}
		if got := answer.Pick("queued", "skipped"); got != `[0,{"already_confirmed":0,"recently_sent":0,"suppressed":1,"unsubscribed":1}]` {
			t.Error(got)
		}
	})
}

func TestALongListIsAskedToItsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		var rows []fields
		for i := range 1001 {
			rows = append(rows, fields{"email": fmt.Sprintf("c%d@example.net", i)})
		}
		h.must(202, "POST", "/contacts/imports", fields{"contacts": rows, "list_id": list})
		h.work()

		if got := h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil).Pick("queued"); got != "[1001]" {
			t.Error(got)
		}
	})
}

func TestALetterThatWaitsIsNotSentOnceThePersonHasConfirmed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		id := h.contact("ann@example.net", fields{"list_id": list})
		link := h.asked(id, list)
		h.Clock.Advance(11 * time.Minute)
		if got := h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil).Pick("queued"); got != "[1]" {
			t.Fatal(got)
		}
		h.browse("POST", link)

		h.work()
		h.Deliver()

		letters := h.Mailbox("ann@example.net")
		if len(letters) != 1 {
			t.Fatalf("%d letters", len(letters))
		}
		if !strings.Contains(letters[0].Raw, "Auto-Submitted: auto-generated\r\n") {
			t.Errorf("a program wrote this, and does not say so: %s", letters[0].Raw)
		}
	})
}

func TestALetterThatCouldNotBeHandedInIsTriedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		h.contact("ann@example.net", fields{"list_id": list})
		h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil)
		h.must(200, "PATCH", "/audience/lists/"+list, fields{"confirmation": fields{"from": "hello@elsewhere.test"}})
		h.work()
		h.must(200, "PATCH", "/audience/lists/"+list, fields{"confirmation": fields{"from": sender}})

		h.Clock.Advance(5 * time.Minute)
		h.work()
		h.Deliver()

		if got := len(h.Mailbox("ann@example.net")); got != 1 {
			t.Errorf("%d letters", got)
		}
	})
}

func TestNobodyIsAskedForASuspendedWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		h.contact("ann@example.net", fields{"list_id": list})
		h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil)
		for _, c := range []struct {
			then func(context.Context, space.ID) error
			want int
		}{{func(ctx context.Context, ws space.ID) error { return h.App.Accounts.Suspend(ctx, ws, "spam reports") }, 0}, {h.App.Accounts.Resume, 1}} {
			if err := c.then(t.Context(), h.Workspace); err != nil {
				t.Fatal(err)
			}
			h.Clock.Advance(5 * time.Minute)
			h.work()
			h.Deliver()
			if got := len(h.Mailbox("ann@example.net")); got != c.want {
				t.Errorf("%d letters, want %d", got, c.want)
			}
		}
	})
}

func TestALetterIsSentOnceThoughTheProcessDiesBeforeItIsSettled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.optIn(nil)
		h.contact("ann@example.net", fields{"list_id": list})
		h.must(202, "POST", "/audience/lists/"+list+"/send-confirmations", nil)
		var letters []queue.Item
		errLooked := errors.New("only looked")
		err := h.App.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
			letters, err = queue.Claim(tx, audience.ConfirmationLane, queue.Lease{Owner: "first/audience", For: time.Minute, Token: 1}, 10)
			return errors.Join(err, errLooked)
		})
		if !errors.Is(err, errLooked) || len(letters) != 1 {
			t.Fatal(letters, err)
		}
		h.work()

		// The letter was handed in, but the queue does not know it.
		h.in(func(tx *db.Tx, _ *audience.Service) error {
			again := letters[0]
			return queue.Add(tx, queue.Item{ID: again.ID, Lane: again.Lane, Rank: again.Rank, Flow: again.Flow, Due: tx.Now(), Payload: again.Payload})
		})
		h.work()
		h.Deliver()

		if got := len(h.Mailbox("ann@example.net")); got != 1 {
			t.Errorf("%d letters", got)
		}
	})
}
