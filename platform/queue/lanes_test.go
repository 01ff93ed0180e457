package queue_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

func TestOverdueItemsThatNobodyHasMoveToAnotherLane(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		add(t, d,
			queue.Item{ID: id(1), Lane: "gone", Due: clock.now.Add(-time.Hour)},
			queue.Item{ID: id(2), Lane: "gone", Due: clock.now.Add(-2 * time.Hour)},
			queue.Item{ID: id(3), Lane: "gone", Due: clock.now.Add(-3 * time.Hour)},
			queue.Item{ID: id(4), Lane: "gone", Due: clock.now.Add(time.Second)},
			queue.Item{ID: id(5), Lane: "gone", Rank: queue.Bulk, Due: clock.now},
			queue.Item{ID: id(6), Lane: "other", Due: clock.now})
		write(t, d, func(tx *db.Tx) error {
			_, err := queue.Claim(tx, "gone", queue.Lease{Owner: "node", For: time.Minute, Token: 1}, 1) // the third
			return err
		})
		write(t, d, func(tx *db.Tx) error {
			lanes, err := queue.Lanes(tx)
			if err != nil || fmt.Sprint(lanes) != "[gone other]" {
				return fmt.Errorf("lanes %v: %w", lanes, err)
			}
			for limit, want := range map[int][]string{1: {id(2), id(5)}, 9: {id(2), id(1), id(5)}} {
				if oldest, err := queue.Oldest(tx, "gone", limit); err != nil || fmt.Sprint(oldest) != fmt.Sprint(want) {
					return fmt.Errorf("the oldest are %v, want %v: %w", oldest, want, err)
				}
			}
			if err := queue.MoveTo(tx, lane, []string{id(1), id(3)}); err != nil {
				return err
			}
			if moved, err := queue.Depth(tx, lane); err != nil || moved != 1 {
				return fmt.Errorf("%d moved: %w", moved, err)
			}
			return nil
		})
		if got := ids(claim(t, d, 2, 10)); got != "1" {
			t.Errorf("claimed %q, want what was moved and free", got)
		}
	})
}

func TestLanesInWhichLeasesHaveRunOutAreToldOnceAndNoOthers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		for n, of := range []queue.Lane{"vanished", "gone", "gone", "held", "free"} {
			add(t, d, queue.Item{ID: id(n), Lane: of, Flow: "a", Due: clock.now})
		}
		write(t, d, func(tx *db.Tx) error {
			for of, lasting := range map[queue.Lane]time.Duration{"vanished": time.Minute, "gone": time.Minute, "held": time.Hour} {
				if _, err := queue.Claim(tx, of, queue.Lease{Owner: "node", For: lasting, Token: 1}, 9); err != nil {
					return err
				}
			}
			return nil
		})
		clock.now = clock.now.Add(2 * time.Minute)
		write(t, d, func(tx *db.Tx) error {
			lanes, err := queue.ExpiredLanes(tx)
			if fmt.Sprint(lanes) != "[gone vanished]" {
				t.Errorf("%v", lanes)
			}
			return err
		})
	})
}

func TestKeysOfWhatIsSetAsideAreToldOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		for n, key := range []string{"b", "a", "b", "c", "d"} {
			of := lane
			if key == "c" {
				of = "other"
			}
			add(t, d, queue.Item{ID: id(n), Lane: of, Due: clock.now})
			write(t, d, func(tx *db.Tx) error {
				if _, err := queue.Claim(tx, of, queue.Lease{Owner: "node", For: time.Minute, Token: 1}, 1); err != nil {
					return err
				}
				return queue.SetAside(tx, "node", []string{id(n)}, key, clock.now.Add(time.Hour))
			})
		}
		lease := queue.Lease{Owner: "node", For: time.Minute, Token: 2}
		write(t, d, func(tx *db.Tx) error {
			if first, err := queue.AsideKeys(tx, lane, 2); err != nil || fmt.Sprint(first) != "[a b]" {
				return fmt.Errorf("the first keys are %v: %w", first, err)
			}
			for _, key := range []string{"a", "d"} { // what is held waits no longer
				if held, err := queue.ClaimAside(tx, lane, key, lease, 1); err != nil || len(held) != 1 {
					return fmt.Errorf("claimed %q: %w", ids(held), err)
				}
			}
			if all, err := queue.AsideKeys(tx, lane, 9); err != nil || fmt.Sprint(all) != "[b]" {
				return fmt.Errorf("all keys are %v: %w", all, err)
			}
			if foreign, err := queue.ClaimAside(tx, lane, "c", lease, 1); err != nil || len(foreign) != 0 {
				return fmt.Errorf("claimed %q of another lane: %w", ids(foreign), err)
			}
			return nil
		})
	})
}

func TestWhatIsSetAsideIsCalledForInTheOrderOfItsTimes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		for n := range 3 {
			add(t, d, queue.Item{ID: id(n + 1), Lane: lane, Due: clock.now})
			claim(t, d, 1, 1)
			write(t, d, func(tx *db.Tx) error {
				return queue.SetAside(tx, "node1", []string{id(n + 1)}, "road", clock.now.Add(time.Duration(9-n)*time.Hour))
			})
		}
		write(t, d, func(tx *db.Tx) error {
			got, err := queue.ClaimAside(tx, lane, "road", queue.Lease{Owner: "node", For: time.Minute, Token: 2}, 2)
			if ids(got) != "3 2" {
				t.Errorf("called for two, got %q", ids(got))
			}
			return err
		})
	})
}
