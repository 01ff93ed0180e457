package event_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

// listener is a follower that remembers what it was told.
type listener struct {
	event.Follower
	hears       func(event.Event) string
	told, batch []string
}

func newListener(name string, window *event.Window, types ...string) *listener {
	l := &listener{hears: func(e event.Event) string { return e.ID }}
	l.Follower = event.Follower{Name: name, Types: types, Window: window, Handle: func(_ *db.Tx, events []event.Event) error {
		l.batch = nil // a write function may run again
		for _, e := range events {
			l.batch = append(l.batch, l.hears(e))
		}
		return nil
	}}
	return l
}

func (l *listener) step(t *testing.T, d *db.DB) bool {
	t.Helper()
	settled(t, d)
	l.batch = nil
	moved, err := l.Step(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	l.told = append(l.told, l.batch...)
	return moved
}

func TestFollowersThatShareAWindowAreEachToldOfTheirEventsOnceAndInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		kinds := []string{"test.a", "test.b", "test.rare"}
		window, other := event.NewWindow(), event.NewWindow() // of two processes
		all := []*listener{newListener("all", window), newListener("a", window, "test.a"), newListener("rare", window, "test.rare"), newListener("elsewhere", other), newListener("slow", window)}
		written := map[string][]string{}
		random, next := rand.New(rand.NewPCG(1, 2)), 0
		for round := range 60 {
			var events []event.Event
			for range random.IntN(90) {
				e := newEvent(next)
				if next++; next%400 == 0 {
					e.Type = kinds[2]
				} else {
					e.Type = kinds[random.IntN(2)]
				}
				events, written[e.Type], written[""] = append(events, e), append(written[e.Type], e.ID), append(written[""], e.ID)
			}
			if err := d.Write(context.Background(), func(tx *db.Tx) error { return event.Append(tx, events...) }); err != nil {
				t.Fatal(err)
			}
			for _, l := range all {
				if random.IntN(3) == 0 && (l.Name != "slow" || round > 40) {
					l.step(t, d)
				}
			}
			if round == 30 { // the process is another now
				all[1].Window, all[2].Window = other, other
			}
		}
		for _, l := range all {
			for range 100 {
				if !l.step(t, d) {
					break
				}
			}
			want := written[""]
			if len(l.Types) > 0 {
				want = written[l.Types[0]]
			}
			if !slices.Equal(l.told, want) {
				t.Errorf("%s was told of %d events, want %d", l.Name, len(l.told), len(want))
			}
		}
	})
}

func TestWhatAFollowerDoesNotWantIsNotReadAgainAfterARestart(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		follower := newListener("choosy", event.NewWindow(), "test.wanted")
		for n := range 60 { // few at a time, as on a quiet day
			var events []event.Event
			for i := range 20 {
				events = append(events, newEvent(n*20+i))
			}
			if err := d.Write(context.Background(), func(tx *db.Tx) error { return event.Append(tx, events...) }); err != nil {
				t.Fatal(err)
			}
			follower.step(t, d)
		}
		var behind int64
		if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			behind, err = event.Follower{Name: "choosy"}.Behind(tx, 5000) // all that comes after its place
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if behind >= 500 {
			t.Errorf("%d events would be read again", behind)
		}
	})
}

func TestAFollowerThatIsFurtherBehindThanTheWindowShowsMissesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		window := event.NewWindow()
		fast, slow := newListener("fast", window), newListener("slow", window)
		var written []string
		happen := func() {
			t.Helper()
			var events []event.Event
			for range 500 {
				e := newEvent(len(written))
				events, written = append(events, e), append(written, e.ID)
			}
			write(t, d, func(tx *db.Tx) error { return event.Append(tx, events...) })
		}
		for range 6 { // more than a window shows
			happen()
			fast.step(t, d)
		}
		settled(t, d)
		if moved, more, err := slow.Advance(t.Context(), d); err != nil || !moved || !more {
			t.Fatalf("moved %v, more %v, %v", moved, more, err)
		}
		slow.told = append(slow.told, slow.batch...)
		for round := range 16 {
			if round < 5 {
				happen()
			}
			slow.step(t, d)
			fast.step(t, d)
		}
		for _, l := range []*listener{fast, slow} {
			if !slices.Equal(l.told, written) {
				t.Errorf("%s was told of %d events, want %d", l.Name, len(l.told), len(written))
			}
		}
	})
}
