package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

// There are three ways to claim, and each has to keep what claims promise.
func TestEveryWayToClaimLeavesAloneWhatIsHeldAndGivesANumberOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error){
		"claim": func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error) { return queue.Claim(tx, lane, lease, 10) },
		"fair": func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error) {
			items, _, err := queue.ClaimFairly(tx, lane, queue.Fair{Lease: lease, Limit: 10})
			return items, err
		},
		"aside": func(tx *db.Tx, lease queue.Lease) ([]queue.Item, error) {
			return queue.ClaimAside(tx, lane, "road", lease, 10)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, d *db.DB, clock *hand) {
				add(t, d, queue.Item{ID: id(1), Lane: lane, Flow: "a", Due: clock.now}, queue.Item{ID: id(2), Lane: lane, Flow: "a", Due: clock.now})
				claimFairly(t, d, 1, queue.Fair{Limit: 10})
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					return queue.SetAside(tx, "node", []string{id(1), id(2)}, "road", clock.now)
				})
				if err != nil {
					t.Fatal(err)
				}
				add(t, d, queue.Item{ID: id(3), Lane: lane, Flow: "a", Due: clock.now.Add(time.Hour)})
				claimed := func(token int64) (items []queue.Item) {
					t.Helper()
					if err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
						items, err = take(tx, queue.Lease{Owner: "node", For: time.Minute, Token: token})
						return err
					}); err != nil {
						t.Fatal(err)
					}
					return items
				}
				stale := claimed(2)
				if len(stale) != 2 {
					t.Fatalf("%q, want the two that are due", ids(stale))
				}
				if again := claimed(3); len(again) != 0 {
					t.Fatalf("%q is held and was claimed again", ids(again))
				}
				clock.now = clock.now.Add(2 * time.Minute)
				if err := d.Write(context.Background(), func(tx *db.Tx) error { _, err := queue.ReleaseExpiredOf(tx, lane); return err }); err != nil {
					t.Fatal(err)
				}
				if newer := claimed(4); len(newer) != 2 {
					t.Fatalf("%q after the lease had run out", ids(newer))
				}
				if err := d.Write(context.Background(), func(tx *db.Tx) error {
					if held, err := queue.Hold(tx, "node", stale); err != nil || len(held) != 0 {
						return fmt.Errorf("%q held by a claim that is not the newest: %w", ids(held), err)
					}
					if held, err := queue.Postpone(tx, stale[0], clock.now); err != nil || held {
						return fmt.Errorf("postponed by a claim that is not the newest: %w", err)
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestEveryFlowIsServedHoweverMuchTheFirstOnesHave(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		var items []queue.Item
		for n := range 100 {
			for more := range 20 {
				items = append(items, queue.Item{ID: id(n*100 + more), Lane: lane, Flow: fmt.Sprintf("flow%03d", n), Due: clock.now})
			}
		}
		add(t, d, items...)
		seen := map[string]bool{}
		fair := queue.Fair{Limit: 500}
		for round := range 2 {
			var got []queue.Item
			got, fair.Turn = claimFairly(t, d, int64(round), fair)
			for _, item := range got {
				seen[item.Flow] = true
			}
		}
		if len(seen) != 100 {
			t.Errorf("%d of 100 flows were served with 1000 claims", len(seen))
		}
	})
}

func TestUrgentWorkThatFillsAClaimLeavesALittleToTheRest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		var items []queue.Item
		for n := range 100 {
			items = append(items, queue.Item{ID: id(n), Lane: lane, Flow: "a", Due: clock.now.Add(-time.Hour)})
		}
		add(t, d, append(items, queue.Item{ID: id(200), Lane: lane, Flow: "b", Rank: queue.Bulk, Due: clock.now})...)
		if got, _ := claimFairly(t, d, 1, queue.Fair{Limit: 40}); countFlows(got)["b"] != 1 {
			t.Errorf("claimed %v", countFlows(got))
		}
	})
}

func TestALeaseIsNotProlongedByWhoHadItBefore(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Flow: "a", Due: clock.now})
		stale := claim(t, d, 1, 1)
		if err := d.Write(context.Background(), func(tx *db.Tx) error {
			if _, err := queue.ReleaseOwner(tx, "node1"); err != nil {
				return err
			}
			if _, err := queue.Claim(tx, lane, queue.Lease{Owner: "node2", For: time.Minute, Token: 2}, 1); err != nil {
				return err
			}
			_, err := queue.Keep(tx, "node1", stale, time.Hour)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		clock.now = clock.now.Add(2 * time.Minute)
		if err := d.Write(context.Background(), func(tx *db.Tx) error {
			if freed, err := queue.ReleaseExpiredOf(tx, lane); err != nil || freed != 1 {
				return fmt.Errorf("%d freed: %w", freed, err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestNoFlowWaitsForOthersThatAlwaysHaveWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		var items []queue.Item
		for n := range 60 { // as many as one claim looks at, and more than it brings items
			for more := range 5 {
				items = append(items, queue.Item{ID: id(n*10 + more), Lane: lane, Flow: fmt.Sprintf("flow%03d", n), Due: clock.now})
			}
		}
		add(t, d, items...)
		seen := map[string]bool{}
		fair := queue.Fair{Limit: 20}
		for round := range 4 {
			var got []queue.Item
			got, fair.Turn = claimFairly(t, d, int64(round), fair)
			for _, item := range got {
				seen[item.Flow] = true
			}
		}
		if len(seen) != 60 {
			t.Errorf("%d of 60 flows were served with 80 claims", len(seen))
		}
	})
}
