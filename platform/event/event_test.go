package event_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
	"postrider/world"
)

const workspace = "00000000-0000-7000-8000-000000000001"

func testWorld() world.World { return world.New(slog.New(slog.NewTextHandler(io.Discard, nil))) }

func newEvent(n int) event.Event {
	id := fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
	return event.Event{ID: id, Workspace: workspace, Type: "test.happened", Subject: id, OccurredAt: time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)}
}

func add(t *testing.T, d *db.DB, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		if err := d.Write(context.Background(), func(tx *db.Tx) error { return event.Append(tx, newEvent(n)) }); err != nil {
			t.Fatal(err)
		}
	}
}

// settled waits until all transactions have ended that are open now: followers stay behind them. The hint to other nodes that an event is there
// is one, and the test has no other sign of its end.
func settled(t *testing.T, d *db.DB) {
	t.Helper()
	var next int64
	err := d.Glance(t.Context(), func(tx *db.Tx) (err error) {
		next, _, err = tx.NextTransaction()
		return err
	})
	for deadline, horizon := time.Now().Add(time.Minute), int64(-1); err == nil && horizon < next; {
		if time.Now().After(deadline) {
			t.Fatal("a transaction never ends")
		}
		horizon, err = d.Horizon(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drain steps a follower until it rests.
func drain(t *testing.T, d *db.DB, f event.Follower) {
	t.Helper()
	settled(t, d)
	for range 1000 {
		busy, err := f.Step(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if !busy {
			return
		}
	}
	t.Fatal("the follower never rests")
}

func TestFollowerSeesEveryEventOnceAndInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		var seen []string
		var batch []string
		follower := event.Follower{Name: "test", Handle: func(_ *db.Tx, events []event.Event) error {
			batch = nil // a write function may run again
			for _, e := range events {
				batch = append(batch, strings.TrimLeft(e.ID[24:], "0"))
			}
			return nil
		}}
		step := func() {
			batch = nil
			drain(t, d, follower)
		}
		add(t, d, 1, 2, 3)
		step()
		seen = append(seen, batch...)
		add(t, d, 4, 5)
		step()
		seen = append(seen, batch...)
		step()
		seen = append(seen, batch...)
		if got := strings.Join(seen, " "); got != "1 2 3 4 5" {
			t.Fatalf("saw %q", got)
		}
	})
}

func TestFollowerThatFailsSeesTheSameEventsAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		add(t, d, 1)
		broken := errors.New("broken")
		follower := event.Follower{Name: "test", Handle: func(*db.Tx, []event.Event) error { return broken }}
		settled(t, d)
		if _, err := follower.Step(context.Background(), d); !errors.Is(err, broken) {
			t.Fatalf("err = %v", err)
		}
		seen := 0
		follower.Handle = func(_ *db.Tx, events []event.Event) error { seen = len(events); return nil }
		drain(t, d, follower)
		if seen != 1 {
			t.Fatalf("saw %d events after the failure", seen)
		}
	})
}

func TestEventOfASlowTransactionIsNotSkipped(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, testWorld(), "postgres")
	seen := map[string]bool{}
	follower := event.Follower{Name: "test", Handle: func(_ *db.Tx, events []event.Event) error {
		for _, e := range events {
			seen[e.ID] = true
		}
		return nil
	}}
	appended, finish := make(chan struct{}, 1), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() {
		rehearsal := true // writes of tests run twice; only the real run is slow
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if err := event.Append(tx, newEvent(1)); err != nil {
				return err
			}
			if rehearsal {
				rehearsal = false
				return nil
			}
			appended <- struct{}{}
			<-finish
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-appended
	add(t, d, 2) // has a higher number, and commits first
	if _, err := follower.Step(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 0 {
		t.Fatalf("the follower ran ahead of an open transaction: %v", seen)
	}
	if waiting, err := follower.Waiting(context.Background(), d); err != nil || !waiting {
		t.Fatalf("an event that may not be seen yet is not waited for: %v, %v", waiting, err)
	}
	close(finish)
	slow.Wait()
	drain(t, d, follower)
	if len(seen) != 2 {
		t.Fatalf("saw %v, want both", seen)
	}
	if waiting, err := follower.Waiting(context.Background(), d); err != nil || waiting {
		t.Fatalf("nothing is left, but it waits: %v, %v", waiting, err)
	}
}

func TestFailedTransactionLeavesNoEvent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		_ = d.Write(context.Background(), func(tx *db.Tx) error {
			if err := event.Append(tx, newEvent(1)); err != nil {
				return err
			}
			return errors.New("no")
		})
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			found, err := event.OfSubject(tx, workspace, newEvent(1).Subject, "", 10, 0)
			if len(found) != 0 {
				t.Errorf("found %d events", len(found))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
