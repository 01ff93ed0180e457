package queue_test

import (
	"fmt"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

func TestCountsTellApartWhatIsDueLaterAndHeld(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		for n, due := range []time.Duration{-time.Hour, -time.Minute, 0, time.Second, time.Hour, time.Hour} {
			add(t, d, queue.Item{ID: id(n), Lane: lane, Rank: queue.Bulk, Due: clock.now.Add(due)})
		}
		add(t, d,
			queue.Item{ID: id(10), Lane: "other", Rank: queue.Bulk, Due: clock.now},
			queue.Item{ID: id(11), Lane: lane, Rank: queue.Normal, Due: clock.now.Add(time.Hour)})
		claim(t, d, 1, 1)
		write(t, d, func(tx *db.Tx) error {
			if ready, later, err := queue.Waiting(tx, lane); err != nil || ready != 2 || later != 4 {
				return fmt.Errorf("%d ready, %d later: %w", ready, later, err)
			}
			if depth, err := queue.Depth(tx, lane); err != nil || depth != 7 {
				return fmt.Errorf("depth %d: %w", depth, err)
			}
			for many, want := range map[int]bool{1: true, 2: true, 3: false} {
				if got, err := queue.AtLeast(tx, lane, queue.Bulk, many); err != nil || got != want {
					return fmt.Errorf("at least %d: %v, %w", many, got, err)
				}
			}
			return nil
		})
	})
}
