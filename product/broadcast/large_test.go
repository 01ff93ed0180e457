package broadcast_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// throng adds rows of people who do not exist to a broadcast that is held, as many as no transaction settles at once.
func (h *house) throng(id string, people int) {
	h.t.Helper()
	err := h.App.DB.Write(context.Background(), func(tx *db.Tx) error {
		values := make([]any, 0, 8*people)
		for n := range people {
			values = append(values, fmt.Sprintf("00000000-0000-7000-8000-%012x", n+1), h.Workspace, id, int64(1_000_000+n), nobody, fmt.Sprintf("nobody%d@example.net", n), "pending", tx.Now())
		}
		if _, err := tx.InsertRows(`
			INSERT INTO broadcast_recipient (id, workspace_id, broadcast_id, contact, contact_id, address, state, updated_at)`, 8, values, ``); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE broadcast_count SET recipients = recipients + $1, queued = queued + $1 WHERE broadcast_id = $2`, people, id)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestTheRestOfALargeBroadcastIsSettledPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		const people = 10_500
		cancelled := h.held(h.list("ann@example.net"), nil)
		h.throng(cancelled, people)
		h.must(200, "POST", "/broadcasts/"+cancelled+"/cancel", nil)
		if got := h.stats(cancelled, "queued", "cancelled"); got != "queued 501, cancelled 10000" {
			t.Errorf("with the answer: %s", got)
		}
		h.hand()
		if got := h.stats(cancelled, "recipients", "queued", "cancelled"); got != "recipients 10501, queued 0, cancelled 10501" {
			t.Errorf("soon after: %s", got)
		}
		h.must(200, "DELETE", "/broadcasts/"+cancelled, nil)

		failed := h.held(h.list("bob@example.net"), nil)
		h.throng(failed, people)
		h.write(`UPDATE domain SET verified = FALSE WHERE id = $1`, h.DomainID)
		h.release()
		if got := h.stats(failed, "recipients", "queued", "failed"); got != "recipients 10501, queued 0, failed 10501" || h.get(failed).Text("failure", "reason") != "domain_auth_broken" {
			t.Errorf("%s %s", got, h.get(failed).Raw)
		}
		if h.step() {
			t.Error("there is work left for a broadcast that is over")
		}
	})
}

// rowsOf counts what the database has of a broadcast.
func (h *house) rowsOf(id string) (n int64) {
	h.t.Helper()
	err := h.App.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, err = db.One(tx, db.Value[int64], `
			SELECT (SELECT COUNT(*) FROM broadcast WHERE id = $1) + (SELECT COUNT(*) FROM broadcast_count WHERE broadcast_id = $1) + (
				SELECT COUNT(*) FROM broadcast_recipient WHERE broadcast_id = $1) + (SELECT COUNT(*) FROM broadcast_part WHERE broadcast_id = $1) + (
				SELECT COUNT(*) FROM broadcast_link WHERE broadcast_id = $1) + (SELECT COUNT(*) FROM broadcast_click)`, id)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestNothingIsLeftOfADeletedBroadcast(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.sent(h.list("ann@example.net", "bob@example.net"), fields{"throttle_per_hour": 360, "tracking": fields{"clicks": true}})
		h.finish() // ann has it
		h.Clock.Advance(time.Minute)
		h.visit("ann@example.net", trackedLink, person)
		h.follow()
		h.must(200, "POST", "/broadcasts/"+id+"/cancel", nil)
		h.hand()
		if got := h.links(id); got != "https://acme.test/start 1 1" {
			t.Fatal(got)
		}
		h.must(200, "DELETE", "/broadcasts/"+id, nil)
		h.hand()
		if got := h.rowsOf(id); got != 0 {
			t.Errorf("%d rows are left", got)
		}
	})
}

func TestALargeBroadcastIsGoneAtOnceAndItsRowsPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.held(h.list("ann@example.net"), nil)
		h.throng(id, 4500)
		h.must(200, "POST", "/broadcasts/"+id+"/cancel", nil)
		h.hand()
		h.must(200, "DELETE", "/broadcasts/"+id, nil)
		if got := h.rowsOf(id); got != 2503 {
			t.Errorf("with the answer %d rows are left", got)
		}
		h.must(404, "GET", "/broadcasts/"+id, nil)
		h.must(404, "GET", "/broadcasts/"+id+"/recipients", nil)
		h.must(404, "DELETE", "/broadcasts/"+id, nil)
		h.must(404, "POST", "/broadcasts/"+id+"/duplicate", fields{})
		if rows := h.rows("/broadcasts"); len(rows) != 0 {
			t.Errorf("listed: %v", rows)
		}
		if got := h.must(200, "GET", "/broadcasts/summary", nil).Text("total"); got != "0" {
			t.Errorf("%s are counted", got)
		}

		other := h.on(h.App.DB, "another-node") // the one that answered has died
		h.Finish(other.Step)
		if got := h.rowsOf(id); got != 0 {
			t.Errorf("%d rows stay", got)
		}
		if h.step() {
			t.Error("there is work left for a broadcast that is gone")
		}
	})
}

func TestThoseWhoFailedInALargeBroadcastWaitAgainPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		id := h.held(h.list("ann@example.net"), nil)
		h.throng(id, 4500)
		h.write(`UPDATE domain SET verified = FALSE WHERE id = $1`, h.DomainID)
		h.release()
		if got := h.stats(id, "queued", "failed"); got != "queued 0, failed 4501" {
			t.Fatal(got)
		}
		h.write(`UPDATE domain SET verified = TRUE WHERE id = $1`, h.DomainID)
		h.Clock.Advance(2 * time.Second) // the standing of a domain is remembered for a moment

		h.must(202, "POST", "/broadcasts/"+id+"/retry", nil)
		if got := h.stats(id, "queued", "failed"); got != "queued 2000, failed 2501" {
			t.Errorf("with the answer: %s", got)
		}
		h.must(409, "POST", "/broadcasts/"+id+"/retry", nil)
		other := h.on(h.App.DB, "another-node")
		h.Finish(other.Step)
		h.finish()
		if got := h.stats(id, "recipients", "queued", "delivered", "skipped", "failed"); got != "recipients 4501, queued 0, delivered 1, skipped 4500, failed 0" {
			t.Errorf("after: %s", got)
		}
		if got := h.get(id).Text("status"); got != "sent" || len(h.Mailbox("ann@example.net")) != 1 {
			t.Errorf("%s, %d mails", got, len(h.Mailbox("ann@example.net")))
		}
		h.must(409, "POST", "/broadcasts/"+id+"/retry", nil)
	})
}

func TestNoMoreIsHandedOverWhileEnoughMailWaits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.list("ann@example.net")
		waiting := make([]queue.Item, 20_000)
		for i := range waiting {
			waiting[i] = queue.Item{ID: h.App.World.NewID(), Lane: email.Lane, Rank: queue.Bulk, Flow: "waiting", Due: h.Clock.Now()}
		}
		if err := h.App.DB.Write(t.Context(), func(tx *db.Tx) error { return queue.Add(tx, waiting...) }); err != nil {
			t.Fatal(err)
		}
		// Both moments are those of the last page: how long the machine takes between two pages says nothing.
		rested := func(id string) time.Duration {
			t.Helper()
			h.hand()
			if got := h.stats(id, "queued"); got != "queued 1" {
				t.Fatal(got)
			}
			var micros int64
			err := h.App.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				micros, err = db.One(tx, db.Value[int64], `SELECT next_at - updated_at FROM broadcast WHERE id = $1`, id)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(micros) * time.Microsecond
		}
		if got := rested(h.sent(list, nil)); got != 250*time.Millisecond {
			t.Errorf("while 20,000 mails wait, the next page follows after %s", got)
		}
		h.write(`DELETE FROM queue_item WHERE flow = 'waiting'`)
		if got := rested(h.sent(list, nil)); got != 0 {
			t.Errorf("while little waits, the next page follows after %s", got)
		}
	})
}
