package audience_test

import (
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/audience"
)

// hidden makes a table unreadable while something is done.
func (h *house) hidden(table string, do func()) {
	h.t.Helper()
	rename := func(from, to string) {
		h.in(func(tx *db.Tx, _ *audience.Service) error {
			_, err := tx.Exec(`ALTER TABLE ` + from + ` RENAME TO ` + to)
			return err
		})
	}
	rename(table, "out_of_reach")
	do()
	rename("out_of_reach", table)
}

func (h *house) waitingToBeDiscarded() (n int64) {
	h.t.Helper()
	h.in(func(tx *db.Tx, _ *audience.Service) (err error) {
		n, err = queue.Depth(tx, audience.DiscardLane)
		return err
	})
	return n
}

func TestWhatADeletedListLeavesBehindIsRemovedLater(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		list := h.made("/audience/lists", "A", fields{"double_opt_in": true})
		h.contact("ann@example.net", fields{"list_id": list})
		h.hidden("list_contact", func() { h.must(200, "DELETE", "/audience/lists/"+list, nil) })
		h.must(404, "GET", "/audience/lists/"+list, nil)
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Text("status"); got != "pending" {
			t.Fatalf("the test wants somebody to be left behind, who is %s", got)
		}
		h.work()
		if h.waitingToBeDiscarded() != 1 {
			t.Fatal("the request is given no time")
		}
		h.Clock.Advance(time.Minute)
		h.work()
		if got := h.must(200, "GET", "/contacts/ann@example.net", nil).Text("status"); got != "subscribed" || h.waitingToBeDiscarded() != 0 {
			t.Errorf("waits for a list that is gone: %s", got)
		}
	})
}

func TestWhatIsDeletedInOneGoLeavesNothingToDo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *house) {
		property := h.property("plan", "string")
		list, topic := h.made("/audience/lists", "A", nil), h.made("/topics", "T", fields{"default_subscription": "opt_in"})
		segment := h.made("/segments", "S", nil)
		h.contact("ann@example.net", fields{"list_id": list, "segments": []string{segment}, "topics": []fields{{"id": topic, "subscription": "opt_out"}}, "properties": fields{"plan": "pro"}})
		for _, path := range []string{"/audience/lists/" + list, "/topics/" + topic, "/segments/" + segment, "/contact-properties/" + property} {
			h.must(200, "DELETE", path, nil)
		}
		for _, table := range []string{"list_contact", "contact_topic", "segment_contact", "contact_value"} {
			h.in(func(tx *db.Tx, _ *audience.Service) error {
				left, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+table)
				if left != 0 {
					t.Errorf("%d rows of %s are left", left, table)
				}
				return err
			})
		}
		if n := h.waitingToBeDiscarded(); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}
