package queue_test

import (
	"context"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

func TestASurveyTellsHowMuchWorkThereIsAndHowOldItIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB, clock *hand) {
		old := clock.now
		add(t, d, queue.Item{ID: id(1), Lane: lane, Due: old}, queue.Item{ID: id(2), Lane: lane, Due: old.Add(time.Minute)},
			queue.Item{ID: id(3), Lane: lane, Due: old.Add(2 * time.Minute)}, queue.Item{ID: id(4), Lane: "another", Due: old.Add(time.Hour)})
		clock.now = old.Add(90 * time.Second)
		claim(t, d, 1, 1) // the oldest
		var loads []queue.Load
		err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			loads, err = queue.Survey(tx)
			return err
		})
		want := []queue.Load{{Lane: "another", Later: 1}, {Lane: lane, Ready: 1, Later: 1, Leased: 1, Oldest: old.Add(time.Minute)}}
		if err != nil || len(loads) != 2 || loads[0] != want[0] || loads[1] != want[1] {
			t.Errorf("%+v, %v", loads, err)
		}
	})
}
