package queue_test

import (
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

// Workers rest for long: what comes into a lane, or comes earlier than they thought, has to wake them.
func TestWorkersAreWokenForAllThatComesIntoTheirLane(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		news, end := d.Subscribe(lane.Topic())
		defer end()
		woken := func(by string, fn func(tx *db.Tx) error) {
			t.Helper()
			write(t, d, fn)
			select {
			case <-news:
			default:
				t.Errorf("not woken by %s", by)
			}
		}
		add(t, d, queue.Item{ID: id(1), Lane: "other", Due: clock.now})
		woken("an item", func(tx *db.Tx) error {
			return queue.Add(tx, queue.Item{ID: id(2), Lane: "other", Due: clock.now}, queue.Item{ID: id(3), Lane: lane, Due: clock.now.Add(time.Hour)})
		})
		woken("a new time", func(tx *db.Tx) error { _, err := queue.Reschedule(tx, lane, id(3), clock.now); return err })
		item := claim(t, d, 1, 1)[0]
		woken("what is given back", func(tx *db.Tx) error { _, err := queue.Postpone(tx, item, clock.now); return err })
		woken("what comes from another lane", func(tx *db.Tx) error { return queue.MoveTo(tx, lane, []string{id(1)}) })
	})
}
