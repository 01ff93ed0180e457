package event_test

import (
	"context"
	"slices"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

func TestFollowerOfSomeTypesIsToldOfThoseAndRestsOtherwise(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		var seen, batch []string
		follower := event.Follower{Name: "choosy", Types: []string{"test.wanted", "test.also"}, Handle: func(_ *db.Tx, events []event.Event) error {
			batch = nil // a write function may run again
			for _, e := range events {
				batch = append(batch, e.Type+e.ID[33:])
			}
			return nil
		}}
		drain := func() {
			t.Helper()
			for busy := true; busy; {
				var err error
				batch = nil
				if busy, err = follower.Step(context.Background(), d); err != nil {
					t.Fatal(err)
				}
				seen = append(seen, batch...)
			}
		}
		addOf := func(kind string, from, to int) {
			t.Helper()
			var events []event.Event
			for n := from; n < to; n++ {
				e := newEvent(n)
				e.Type = kind
				events = append(events, e)
			}
			if err := d.Write(context.Background(), func(tx *db.Tx) error { return event.Append(tx, events...) }); err != nil {
				t.Fatal(err)
			}
		}
		behind := func() (n int64) {
			t.Helper()
			if err := d.Read(context.Background(), func(tx *db.Tx) (err error) { n, err = follower.Behind(tx, 5000); return err }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		waits := func() bool {
			t.Helper()
			waiting, err := follower.Waiting(context.Background(), d)
			if err != nil {
				t.Fatal(err)
			}
			return waiting
		}

		addOf("test.other", 0, 20)
		if waits() || behind() != 0 {
			t.Error("waits for what it does not want")
		}
		addOf("test.wanted", 100, 101)
		addOf("test.other", 200, 900) // more than a batch of what it does not want
		addOf("test.also", 901, 902)
		if !waits() || behind() != 2 {
			t.Errorf("waits %v, %d behind, want 2", waits(), behind())
		}
		drain()
		if want := []string{"test.wanted100", "test.also901"}; !slices.Equal(seen, want) {
			t.Errorf("saw %v, want %v", seen, want)
		}
		addOf("test.other", 1000, 1010)
		addOf("test.wanted", 1010, 1011)
		drain()
		if waits() || len(seen) != 3 {
			t.Errorf("waits %v, saw %v", waits(), seen)
		}
	})
}
