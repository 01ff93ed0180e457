package queue_test

import (
	"log/slog"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/world"
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

// A server that takes the table for nearly empty would run a subquery once for every row, and choose other items each time.
func TestAClaimBringsNoMoreThanItsLimitWhateverTheServerKnowsOfTheTable(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error){
		"claim": func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error) { return queue.Claim(tx, lane, lease, 3) },
		"fair": func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error) {
			items, _, err := queue.ClaimFairly(tx, lane, queue.Fair{Lease: lease, Limit: 3})
			return items, err
		},
		"aside": func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error) {
			return queue.ClaimAside(tx, lane, "key", lease, 3)
		},
	} {
		for _, engine := range []string{"sqlite", "postgres"} {
			t.Run(name+" on "+engine, func(t *testing.T) {
				t.Parallel()
				clock := &hand{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
				// Without rehearsal, which would leave a table behind that looks larger.
				d, err := db.Open(t.Context(), world.World{Clock: clock, Log: slog.New(slog.DiscardHandler)}, db.Config{URL: dbtest.URL(t, engine)})
				if err != nil {
					t.Fatal(err)
				}
				defer d.Close()
				statement := func(text string) {
					t.Helper()
					if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(text); return err }); err != nil {
						t.Fatal(err)
					}
				}
				items := make([]queue.Item, 26)
				for n := range items {
					items[n] = queue.Item{ID: id(n), Lane: lane, Flow: "a", Rank: queue.Normal, Due: clock.now.Add(time.Duration(n-60) * time.Second)}
				}
				add(t, d, items[0])
				statement(`ANALYZE queue_item`)
				add(t, d, items[1:]...)
				statement(`UPDATE queue_item SET aside = 'key'`)
				var got []queue.Item
				err = d.Write(t.Context(), func(tx *db.Tx) (err error) {
					got, err = take(tx, queue.Lease{Owner: "node", For: time.Minute, Token: 1})
					return err
				})
				if err != nil || len(got) != 3 {
					t.Errorf("%d items of 3, %v", len(got), err)
				}
			})
		}
	}
}
