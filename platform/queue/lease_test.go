package queue_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/world"
)

func write(t *testing.T, d *db.DB, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := d.Write(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func TestRenewedLeasesOutliveThoseOfOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now.Add(-time.Minute)}, queue.Item{ID: id(2), Lane: lane, Due: clock.now})
		claim(t, d, 1, 1)
		claim(t, d, 2, 1)
		write(t, d, func(tx *db.Tx) error { return queue.Renew(tx, "node1", time.Minute) })
		clock.now = clock.now.Add(29 * time.Second)
		write(t, d, func(tx *db.Tx) error { _, err := queue.ReleaseExpired(tx); return err })
		if got := claim(t, d, 3, 10); len(got) != 0 {
			t.Errorf("free is %q before any lease has run out", ids(got))
		}
		clock.now = clock.now.Add(2 * time.Second)
		write(t, d, func(tx *db.Tx) error { _, err := queue.ReleaseExpired(tx); return err })
		if got := ids(claim(t, d, 3, 10)); got != "2" {
			t.Errorf("free is %q, want what was not renewed", got)
		}
		clock.now = clock.now.Add(30 * time.Second)
		write(t, d, func(tx *db.Tx) error { _, err := queue.ReleaseExpired(tx); return err })
		if got := ids(claim(t, d, 4, 10)); got != "1" {
			t.Errorf("free is %q after a minute", got)
		}
	})
}

func TestKeptItemsAreHeldForLonger(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
		items := claim(t, d, 1, 1)
		write(t, d, func(tx *db.Tx) error {
			if kept, err := queue.Keep(tx, "node1", items, time.Hour); err != nil || len(kept) != 1 {
				return fmt.Errorf("kept %q: %w", ids(kept), err)
			}
			return nil
		})
		clock.now = clock.now.Add(59 * time.Minute)
		write(t, d, func(tx *db.Tx) error {
			if freed, err := queue.ReleaseExpiredOf(tx, lane); err != nil || freed != 0 {
				return fmt.Errorf("%d freed: %w", freed, err)
			}
			return nil
		})
	})
}

// Nobody has claimed the item again, but it is not held either: it may have been given another time since.
func TestAClaimThatHasRunOutHoldsAndPostponesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
		stale := claim(t, d, 1, 1)[0]
		write(t, d, func(tx *db.Tx) error {
			if _, err := queue.ReleaseOwner(tx, "node1"); err != nil {
				return err
			}
			if held, err := queue.Postpone(tx, stale, clock.now.Add(time.Hour)); err != nil || held {
				return fmt.Errorf("postponed %v: %w", held, err)
			}
			if held, err := queue.Hold(tx, "node1", []queue.Item{stale}); err != nil || len(held) != 0 {
				return fmt.Errorf("held %q: %w", ids(held), err)
			}
			return nil
		})
		if got := ids(claim(t, d, 2, 1)); got != "1" {
			t.Errorf("due is %q", got)
		}
	})
}

// What waited for one thing and is postponed waits for its time alone; otherwise the next retry would come with the next free road.
func TestPostponedItemsAreNoLongerSetAside(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
		claim(t, d, 1, 1)
		lease := queue.Lease{Owner: "node", For: time.Minute, Token: 2}
		write(t, d, func(tx *db.Tx) error {
			if err := queue.SetAside(tx, "node1", []string{id(1)}, "road", clock.now.Add(time.Hour)); err != nil {
				return err
			}
			items, err := queue.ClaimAside(tx, lane, "road", lease, 1)
			if err != nil || len(items) != 1 {
				return fmt.Errorf("claimed %q: %w", ids(items), err)
			}
			if _, err := queue.Postpone(tx, items[0], clock.now.Add(time.Hour)); err != nil {
				return err
			}
			if again, err := queue.ClaimAside(tx, lane, "road", lease, 1); err != nil || len(again) != 0 {
				return fmt.Errorf("claimed %q before its time: %w", ids(again), err)
			}
			return nil
		})
	})
}

func TestClaimsOfAnotherOwnerAreNotTakenBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
		claim(t, d, 1, 1)
		write(t, d, func(tx *db.Tx) error { return queue.ReleaseClaims(tx, "node2", 1) })
		if got := claim(t, d, 3, 1); len(got) != 0 {
			t.Errorf("free is %q", ids(got))
		}
	})
}

func TestNobodyTakesOverWhatIsHeldUntilTheTransactionEnds(t *testing.T) {
	t.Parallel()
	clock := &hand{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
	d := dbtest.Open(t, world.World{Clock: clock}, "postgres") // the embedded database has one writer
	add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
	items := claim(t, d, 1, 1)
	write(t, d, func(tx *db.Tx) error {
		if held, err := queue.Hold(tx, "node1", items); err != nil || len(held) != 1 {
			return fmt.Errorf("held %q: %w", ids(held), err)
		}
		return d.Write(t.Context(), func(other *db.Tx) error {
			free, err := db.All(other, db.Value[string], `SELECT id FROM queue_item WHERE id = $1 {skip_locked}`, id(1))
			if len(free) != 0 {
				t.Error("another transaction may take it")
			}
			return err
		})
	})
}
