package event_test

import (
	"context"
	"slices"
	"strings"
	"sync"
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
			settled(t, d)
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
			settled(t, d)
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

func TestAFollowerIsToldOfWhatItChooses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		follower := newListener("chooser", event.NewWindow())
		follower.Choose = func(tx *db.Tx, events []event.Event) ([]event.Event, error) {
			return slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return !strings.HasSuffix(e.ID, "7") }), nil
		}
		add := func(from, to int) {
			t.Helper()
			if err := d.Write(context.Background(), func(tx *db.Tx) error {
				for n := from; n < to; n++ {
					if err := event.Append(tx, newEvent(n)); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
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
		add(1, 7)
		writes := d.Stats().Writes
		settled(t, d)
		if waits, err := follower.Waiting(t.Context(), d); err != nil || waits || behind() != 0 {
			t.Errorf("waits %v, %d behind (%v)", waits, behind(), err)
		}
		if follower.step(t, d) || d.Stats().Writes != writes {
			t.Error("something was written for what it does not choose")
		}
		add(7, 30)
		if got := behind(); got != 3 {
			t.Errorf("%d behind, want 3", got)
		}
		for follower.step(t, d) {
		}
		if len(follower.told) != 3 || behind() != 0 {
			t.Errorf("told of %v, %d behind", follower.told, behind())
		}
	})
}

// What another follower has read lately may have happened after this one began to look, and so may what it is chosen by.
func TestAFollowerChoosesByADatabaseThatIsNoOlderThanTheEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		window := event.NewWindow()
		chooser, other := newListener("chooser", window), newListener("other", window)
		meanwhile := sync.OnceFunc(func() {
			add(t, d, 2)
			other.step(t, d)
		})
		chooser.Choose = func(tx *db.Tx, events []event.Event) (chosen []event.Event, err error) {
			meanwhile()
			for _, e := range events {
				there, err := event.OfSubject(tx, e.Workspace, e.Subject, "", 1, 0)
				if err != nil {
					return nil, err
				}
				if len(there) > 0 && e.ID != newEvent(1).ID {
					chosen = append(chosen, e)
				}
			}
			return chosen, nil
		}
		add(t, d, 1)
		other.step(t, d)
		chooser.step(t, d)
		chooser.step(t, d)
		if want := []string{newEvent(2).ID}; !slices.Equal(chooser.told, want) {
			t.Errorf("told of %v, want %v", chooser.told, want)
		}
	})
}
