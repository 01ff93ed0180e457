package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

func claimFairly(t *testing.T, d *db.DB, token int64, fair queue.Fair) ([]queue.Item, queue.Turn) {
	t.Helper()
	var items []queue.Item
	var turn queue.Turn
	fair.Lease = queue.Lease{Owner: "node", For: 30 * time.Second, Token: token}
	err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
		items, turn, err = queue.ClaimFairly(tx, lane, fair)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return items, turn
}

func countFlows(items []queue.Item) map[string]int {
	counts := map[string]int{}
	for _, item := range items {
		counts[item.Flow]++
	}
	return counts
}

func TestAFlowWithMuchWorkDoesNotHideAnother(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		var items []queue.Item
		for n := range 1000 {
			items = append(items, queue.Item{ID: id(n), Lane: lane, Flow: "a", Due: clock.now.Add(-time.Hour)})
		}
		add(t, d, append(items, queue.Item{ID: id(2000), Lane: lane, Flow: "b", Due: clock.now},
			queue.Item{ID: id(2001), Lane: lane, Flow: "c", Rank: queue.Bulk, Due: clock.now},
			queue.Item{ID: id(2002), Lane: lane, Flow: "later", Due: clock.now.Add(time.Minute)})...)
		got, _ := claimFairly(t, d, 1, queue.Fair{Limit: 40})
		if counts := countFlows(got); counts["a"] != 38 || counts["b"] != 1 || counts["c"] != 1 {
			t.Fatalf("claimed %v", counts)
		}
		got, _ = claimFairly(t, d, 2, queue.Fair{Limit: 40, Skip: func(flow string) bool { return flow == "a" }})
		if len(got) != 0 {
			t.Fatalf("claimed %v of a flow that was to be left alone", countFlows(got))
		}
	})
}

func TestFlowsTakeTurnsWhenThereAreMoreThanOneClaimServes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		const flows = 150
		var items []queue.Item
		for n := range flows {
			for more := range 3 {
				items = append(items, queue.Item{ID: id(n*10 + more), Lane: lane, Flow: fmt.Sprintf("flow%03d", n), Due: clock.now})
			}
		}
		add(t, d, items...)
		seen := map[string]int{}
		fair := queue.Fair{Limit: 50}
		for round := range 4 {
			var got []queue.Item
			got, fair.Turn = claimFairly(t, d, int64(round), fair)
			for flow, n := range countFlows(got) {
				if seen[flow] += n; seen[flow] > 2 {
					t.Fatalf("round %d: %s had %d before others had one", round, flow, seen[flow])
				}
			}
		}
		if len(seen) < 100 {
			t.Fatalf("only %d flows were served with 200 claims", len(seen))
		}
	})
}

func TestOnlyTheHolderOfALeaseKeepsIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now}, queue.Item{ID: id(2), Lane: lane, Due: clock.now})
		stale, _ := claimFairly(t, d, 1, queue.Fair{Limit: 10})
		clock.now = clock.now.Add(time.Minute)
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if _, err := queue.ReleaseExpired(tx); err != nil {
				return err
			}
			if _, err := queue.Claim(tx, lane, queue.Lease{Owner: "other", For: time.Minute, Token: 2}, 1); err != nil {
				return err
			}
			if _, err := queue.Claim(tx, lane, queue.Lease{Owner: "node", For: time.Minute, Token: 3}, 1); err != nil {
				return err
			}
			kept, err := queue.Keep(tx, "node", stale, time.Minute)
			if len(kept) != 0 {
				t.Errorf("kept %s, one of which another has and the other a newer claim", ids(kept))
			}
			if err != nil {
				return err
			}
			still, err := queue.Hold(tx, "node", stale)
			if len(still) != 0 {
				t.Errorf("%s are still held", ids(still))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestWhatIsSetAsideComesWhenDueOrWhenItIsCalledFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		for n := range 4 {
			add(t, d, queue.Item{ID: id(n), Lane: lane, Due: clock.now})
		}
		claimFairly(t, d, 1, queue.Fair{Limit: 10})
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if err := queue.SetAside(tx, "node", []string{id(0), id(1)}, "road", clock.now.Add(time.Hour)); err != nil {
				return err
			}
			return queue.SetAside(tx, "other", []string{id(2)}, "road", clock.now) // not its holder
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := claimFairly(t, d, 2, queue.Fair{Limit: 10}); len(got) != 0 {
			t.Fatalf("claimed %s before it was due", ids(got))
		}
		err = d.Write(context.Background(), func(tx *db.Tx) error {
			got, err := queue.ClaimAside(tx, lane, "road", queue.Lease{Owner: "node", For: time.Minute, Token: 3}, 1)
			if len(got) != 1 {
				t.Errorf("called for one, got %q", ids(got))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		clock.now = clock.now.Add(2 * time.Hour)
		if got, _ := claimFairly(t, d, 4, queue.Fair{Limit: 10}); len(got) != 1 {
			t.Fatalf("due again: %q", ids(got))
		}
	})
}

func TestExpiredLeasesOfFlowsAreFreedOnlyByWhoAsksForTheirLane(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Flow: "a", Due: clock.now}, queue.Item{ID: id(2), Lane: lane, Due: clock.now})
		claimFairly(t, d, 1, queue.Fair{Limit: 10})
		clock.now = clock.now.Add(time.Minute)
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if freed, err := queue.ReleaseExpired(tx); err != nil || freed != 1 {
				return fmt.Errorf("%d freed, want the one that is of no flow: %w", freed, err)
			}
			if freed, err := queue.ReleaseExpiredOf(tx, "other"); err != nil || freed != 0 {
				return fmt.Errorf("%d freed of another lane: %w", freed, err)
			}
			if freed, err := queue.ReleaseExpiredOf(tx, lane); err != nil || freed != 1 {
				return fmt.Errorf("%d freed of the lane: %w", freed, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
