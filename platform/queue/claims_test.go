package queue_test

import (
	"testing"

	"postrider/platform/db"
	"postrider/platform/queue"
)

// A node renews its leases by its name. What it claimed in a transaction whose answer was lost it does not know of.
func TestAClaimWhoseAnswerWasLostCanBeTakenBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now, Payload: "{}"}, queue.Item{ID: id(2), Lane: lane, Due: clock.now, Payload: "{}"})
		known, lost := claim(t, d, 7, 1), int64(8)
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := queue.Claim(tx, lane, queue.Lease{Owner: "node7", For: 1 << 40, Token: lost}, 1)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error { return queue.ReleaseClaims(tx, "node7", lost) }); err != nil {
			t.Fatal(err)
		}
		free := claim(t, d, 9, 10)
		if len(free) != 1 || free[0].ID == known[0].ID {
			t.Errorf("free are %v; %v is still held", ids(free), ids(known))
		}
	})
}
