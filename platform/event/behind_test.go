package event_test

import (
	"context"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

func TestHowFarAFollowerIsBehindIsCountedUpToABound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		follower := event.Follower{Name: "test", Handle: func(*db.Tx, []event.Event) error { return nil }}
		behind := func(most int) (n int64) {
			t.Helper()
			if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
				n, err = follower.Behind(tx, most)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return n
		}
		add(t, d, 1, 2, 3)
		if all, bounded := behind(10), behind(2); all != 3 || bounded != 2 {
			t.Errorf("three events: %d, at most two: %d", all, bounded)
		}
		drain(t, d, follower)
		add(t, d, 4)
		if left := behind(10); left != 1 {
			t.Errorf("one event: %d", left)
		}
	})
}
