package queue_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/queue"
	"postrider/world"
)

const lane queue.Lane = "test"

// hand is a clock that only moves when told to.
type hand struct{ now time.Time }

func (h *hand) Now() time.Time                                 { return h.now }
func (h *hand) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func each(t *testing.T, test func(t *testing.T, d *db.DB, clock *hand)) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			clock := &hand{now: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
			w := world.World{Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
			test(t, dbtest.Open(t, w, engine), clock)
		})
	}
}

func id(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

func add(t *testing.T, d *db.DB, items ...queue.Item) {
	t.Helper()
	if err := d.Write(context.Background(), func(tx *db.Tx) error { return queue.Add(tx, items...) }); err != nil {
		t.Fatal(err)
	}
}

func claim(t *testing.T, d *db.DB, token int64, limit int) []queue.Item {
	t.Helper()
	var items []queue.Item
	err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
		items, err = queue.Claim(tx, lane, queue.Lease{Owner: fmt.Sprint("node", token), For: 30 * time.Second, Token: token}, limit)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func ids(items []queue.Item) string {
	var names []string
	for _, item := range items {
		names = append(names, strings.TrimLeft(item.ID[24:], "0"))
	}
	return strings.Join(names, " ")
}

func TestClaimTakesDueItemsByRankThenAge(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d,
			queue.Item{ID: id(1), Lane: lane, Rank: queue.Bulk, Due: clock.now.Add(-time.Hour)},
			queue.Item{ID: id(2), Lane: lane, Rank: queue.Urgent, Due: clock.now.Add(-time.Minute)},
			queue.Item{ID: id(3), Lane: lane, Rank: queue.Urgent, Due: clock.now.Add(-time.Hour)},
			queue.Item{ID: id(4), Lane: lane, Rank: queue.Urgent, Due: clock.now.Add(time.Second)},
			queue.Item{ID: id(5), Lane: "other", Rank: queue.Urgent, Due: clock.now})
		if got := ids(claim(t, d, 1, 10)); got != "3 2 1" {
			t.Fatalf("claimed %q, want the due ones of the lane, urgent and old first", got)
		}
		if got := ids(claim(t, d, 2, 10)); got != "" {
			t.Fatalf("claimed leased items again: %q", got)
		}
	})
}

func TestItemReturnsWhenItsLeaseExpires(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
		stale := claim(t, d, 1, 1)
		clock.now = clock.now.Add(31 * time.Second)
		if err := d.Write(context.Background(), func(tx *db.Tx) error { _, err := queue.ReleaseExpired(tx); return err }); err != nil {
			t.Fatal(err)
		}
		again := claim(t, d, 2, 1)
		if len(again) != 1 || again[0].Claims != 2 {
			t.Fatalf("after the lease: %+v", again)
		}
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			held, err := queue.Postpone(tx, stale[0], clock.now)
			if held {
				t.Error("an expired claim postponed an item that another holds")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestRestartedNodeTakesBackItsOwnLeases(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now}, queue.Item{ID: id(2), Lane: lane, Due: clock.now})
		claim(t, d, 1, 1)
		claim(t, d, 2, 1)
		if err := d.Write(context.Background(), func(tx *db.Tx) error { _, err := queue.ReleaseOwner(tx, "node1"); return err }); err != nil {
			t.Fatal(err)
		}
		if got := claim(t, d, 1, 10); len(got) != 1 {
			t.Fatalf("node1 got back %d items, want its own one", len(got))
		}
	})
}

func TestPostponedItemIsDueLaterAndFinishedIsGone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now})
		item := claim(t, d, 1, 1)[0]
		later := clock.now.Add(time.Minute)
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			_, err := queue.Postpone(tx, item, later)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := claim(t, d, 2, 1); len(got) != 0 {
			t.Fatal("claimed before it was due")
		}
		clock.now = later
		if got := claim(t, d, 3, 1); len(got) != 1 {
			t.Fatal("not due at its time")
		}
		err = d.Write(context.Background(), func(tx *db.Tx) error {
			if err := queue.Finish(tx, id(1)); err != nil {
				return err
			}
			depth, err := queue.Depth(tx, lane)
			if depth != 0 {
				t.Errorf("depth = %d", depth)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestRescheduleLosesAgainstAClaim(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: clock.now.Add(time.Hour)})
		move := func() (moved bool) {
			if err := d.Write(context.Background(), func(tx *db.Tx) (err error) {
				moved, err = queue.Reschedule(tx, lane, id(1), clock.now)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return moved
		}
		if !move() {
			t.Fatal("a free item was not moved")
		}
		claim(t, d, 1, 1)
		if move() {
			t.Fatal("a claimed item was moved")
		}
	})
}

func TestParallelClaimsNeverShareAnItem(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		var items []queue.Item
		for n := range 300 {
			items = append(items, queue.Item{ID: id(n), Lane: lane, Rank: queue.Rank(n % 3), Due: clock.now})
		}
		add(t, d, items...)
		var mu sync.Mutex
		seen := map[string]int{}
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for round := range 100 {
					got := claim(t, d, int64(worker*1000+round), 7)
					mu.Lock()
					for _, item := range got {
						seen[item.ID]++
					}
					mu.Unlock()
					if len(got) == 0 {
						return
					}
				}
			})
		}
		all.Wait()
		for item, times := range seen {
			if times != 1 {
				t.Fatalf("%s was claimed %d times", item, times)
			}
		}
		if len(seen) != 300 {
			t.Fatalf("%d of 300 claimed", len(seen))
		}
	})
}

func TestNextDueSeesTheEarliestOfAllRanks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d,
			queue.Item{ID: id(1), Lane: lane, Rank: queue.Urgent, Due: clock.now.Add(time.Hour)},
			queue.Item{ID: id(2), Lane: lane, Rank: queue.Bulk, Due: clock.now.Add(time.Minute)})
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			due, ok, err := queue.NextDue(tx, lane)
			if !ok || !due.Equal(clock.now.Add(time.Minute)) {
				t.Errorf("next due = %v, %v", due, ok)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
