package event_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

// newTail begins to listen after a place, or to what happens from now on.
func newTail(t *testing.T, d *db.DB, place string) *event.Tail {
	t.Helper()
	var tail *event.Tail
	horizon, err := d.Horizon(t.Context())
	if err == nil {
		err = d.Read(t.Context(), func(tx *db.Tx) (err error) {
			tail, err = event.NewTail(tx, workspace, place, horizon)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return tail
}

// told returns the last digits of the ids of what the tail tells until there is no more.
func told(t *testing.T, d *db.DB, tail *event.Tail) string {
	t.Helper()
	var all []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); { // others on the same server hold the horizon up
		var more bool
		horizon, err := d.Horizon(t.Context())
		if err == nil {
			err = d.Read(t.Context(), func(tx *db.Tx) error {
				var events []event.Event
				events, more, err = tail.Next(tx, horizon)
				for _, e := range events {
					all = append(all, e.ID[len(e.ID)-1:])
				}
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return strings.Join(all, " ")
		}
	}
	t.Fatal("the tail never rests")
	return ""
}

func TestATailTellsWhatHappensFromItsBeginningOn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		add(t, d, 1, 2)
		tail := newTail(t, d, "")
		add(t, d, 3, 4)
		if got := told(t, d, tail); got != "3 4" {
			t.Errorf("told %s", got)
		}
	})
}

// Programs come back with the last place they saw, although the record may have moved to another engine since, or been restored.
func TestAPlaceThatCannotBeReadOrIsOfAnotherRecordIsNow(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"9223372036854775807-x", "8000000000000000000-7"} {
		dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
			tail := newTail(t, d, place)
			add(t, d, 1)
			if got := told(t, d, tail); got != "1" {
				t.Errorf("after %s: told %q", place, got)
			}
		})
	}
}

func TestATailTellsWhatWasUnderWayWhenItBegan(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: dbtest.URL(t, "postgres")}) // the embedded database has one writer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	began, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- d.Write(context.WithoutCancel(t.Context()), func(tx *db.Tx) error {
			if err := event.Append(tx, newEvent(1)); err != nil {
				return err
			}
			close(began)
			<-end
			return nil
		})
	}()
	<-began
	add(t, d, 2)
	tail := newTail(t, d, "")
	add(t, d, 3)
	close(end)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := told(t, d, tail); got != "1 3" {
		t.Errorf("told %s, want the one that was under way and the one that followed", got)
	}
}

func TestATailTellsItsWorkspaceAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		foreign := func(n int) {
			e := newEvent(n)
			e.Workspace = stranger
			write(t, d, func(tx *db.Tx) error { return event.Append(tx, e) })
		}
		tail := newTail(t, d, "")
		for _, n := range []int{2, 5} { // at first from the beginning of the record, then from within it
			foreign(n - 1)
			add(t, d, n)
			foreign(n + 1)
			if got := told(t, d, tail); got != strconv.Itoa(n) {
				t.Errorf("told %s, want %d", got, n)
			}
		}
	})
}

func TestATailGoesOnAfterThePlaceOfAnEventHoweverMuchHasHappenedSince(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		var events []event.Event
		for n := range 1100 { // more than two looks bring
			events = append(events, newEvent(n))
		}
		write(t, d, func(tx *db.Tx) error { return event.Append(tx, events...) })
		var place string
		write(t, d, func(tx *db.Tx) error {
			seen, err := event.OfSubject(tx, workspace, events[9].Subject, "", 1, 0)
			place = seen[0].Place()
			return err
		})
		if got := strings.Fields(told(t, d, newTail(t, d, place))); len(got) != 1090 {
			t.Errorf("told of %d events, want 1090", len(got))
		}
	})
}
