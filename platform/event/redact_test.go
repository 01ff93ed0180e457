package event_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
)

// newReader returns a follower that keeps what events say, as those do that write it into tables of their own.
func newReader(name string, window *event.Window) *listener {
	l := newListener(name, window)
	l.hears = func(e event.Event) string { return e.ID[len(e.ID)-1:] + e.Recipient + string(e.Data) }
	return l
}

// tell writes that something happened to Ann, and what.
func tell(t *testing.T, d *db.DB, n int) {
	t.Helper()
	e := newEvent(n)
	e.Recipient, e.Data = "ann", []byte(`{"to":"ann"}`)
	write(t, d, func(tx *db.Tx) error { return event.Append(tx, e) })
}

func forget(t *testing.T, d *db.DB, n int) {
	t.Helper()
	write(t, d, func(tx *db.Tx) error {
		_, err := event.Redact(tx, workspace, newEvent(n).Subject, "ann", newEvent(n).OccurredAt.Add(time.Minute))
		return err
	})
}

func TestWhatIsForgottenWhileAFollowerThinksIsNotWritten(t *testing.T) {
	t.Parallel()
	for _, prepares := range []bool{false, true} {
		dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
			r, thinking := newReader("thinker", event.NewWindow()), 0
			r.Choose = func(_ *db.Tx, events []event.Event) ([]event.Event, error) { // it has read them, and writes them down later
				if thinking > 0 {
					forget(t, d, thinking)
				}
				thinking = 0
				return events, nil
			}
			if handle := r.Handle; prepares {
				r.Handle, r.Prepare = nil, func(events []event.Event) func(tx *db.Tx) error {
					return func(tx *db.Tx) error { return handle(tx, events) }
				}
			}
			for n := 1; n < 5; n += 2 { // it has no place in the record yet, and has one
				tell(t, d, n)
				tell(t, d, n+1)
				thinking = n
				if !r.step(t, d) {
					t.Error("was kept from writing")
				}
			}
			if want := []string{"1{}", `2ann{"to":"ann"}`, "3{}", `4ann{"to":"ann"}`}; !slices.Equal(r.told, want) {
				t.Errorf("kept %q, want %q", r.told, want)
			}
		})
	}
}

func TestAFollowerThatChoseWhatIsForgottenMeanwhileChoosesAnew(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		r, chosen := newReader("chooser", event.NewWindow()), 0
		r.Types = []string{"test.happened"}
		r.Choose = func(_ *db.Tx, events []event.Event) (wanted []event.Event, err error) {
			for _, e := range events {
				if e.Recipient == "ann" {
					wanted = append(wanted, e)
				}
			}
			if chosen++; chosen == 1 {
				forget(t, d, 1)
			}
			return wanted, nil
		}
		strange := newEvent(3)
		strange.Type, strange.Recipient = "test.strange", "ann"
		tell(t, d, 1)
		write(t, d, func(tx *db.Tx) error { return event.Append(tx, strange) })
		tell(t, d, 2)
		r.step(t, d)
		tell(t, d, 4) // is after what was handled, and only that
		r.step(t, d)
		if want := []string{`2ann{"to":"ann"}`, `4ann{"to":"ann"}`}; !slices.Equal(r.told, want) {
			t.Errorf("kept %q, want %q", r.told, want)
		}
	})
}

func TestWhatOneFollowerReadBeforeItWasForgottenIsNotToldToAnother(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		window := event.NewWindow()
		quick, slow := newReader("quick", window), newReader("slow", window)
		elsewhere := newReader("slow", event.NewWindow())
		tell(t, d, 1)
		quick.step(t, d)
		forget(t, d, 1)
		slow.step(t, d)
		tell(t, d, 2)
		quick.step(t, d)
		settled(t, d)
		if waits, err := elsewhere.Waiting(t.Context(), d); err != nil || !waits { // reads it into the window of its node
			t.Fatalf("waits %v, %v", waits, err)
		}
		forget(t, d, 2)
		slow.step(t, d)
		tell(t, d, 3)
		quick.step(t, d)
		forget(t, d, 2) // finds nothing any more, and takes nothing from anybody
		elsewhere.step(t, d)
		if got := append(slow.told, elsewhere.told...); !slices.Equal(got, []string{"1{}", "2{}", `3ann{"to":"ann"}`}) {
			t.Errorf("kept %q", got)
		}
	})
}

// What it goes on to remove includes what that follower wrote.
func TestForgettingWaitsForAFollowerThatIsWriting(t *testing.T) {
	t.Parallel()
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: dbtest.URL(t, "postgres")}) // the embedded database has one writer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	write(t, d, func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TABLE IF NOT EXISTS note (text TEXT)`)
		return err
	})
	tell(t, d, 0)
	drain(t, d, event.Follower{Name: "writer", Handle: func(*db.Tx, []event.Event) error { return nil }})
	tell(t, d, 1)
	forgetting := func(ctx context.Context) (removed int64, err error) {
		err = d.Write(ctx, func(tx *db.Tx) error {
			if _, err := event.Redact(tx, workspace, newEvent(1).Subject, "ann", newEvent(1).OccurredAt.Add(time.Minute)); err != nil {
				return err
			}
			removed, err = tx.Exec(`DELETE FROM note`)
			return err
		})
		return removed, err
	}
	var patient sync.WaitGroup
	meanwhile := sync.OnceFunc(func() {
		impatient, end := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer end()
		if _, err := forgetting(impatient); err == nil {
			t.Error("it did not wait")
		}
		patient.Go(func() {
			if removed, err := forgetting(t.Context()); err != nil || removed != 1 {
				t.Errorf("removed %d notes, %v", removed, err)
			}
		})
	})
	follower := event.Follower{Name: "writer", Handle: func(tx *db.Tx, events []event.Event) error {
		if _, err := tx.Exec(`INSERT INTO note (text) VALUES ($1)`, string(events[0].Data)); err != nil {
			return err
		}
		meanwhile()
		return nil
	}}
	drain(t, d, follower)
	patient.Wait()
	var told int64
	write(t, d, func(tx *db.Tx) (err error) {
		told, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM event_follower WHERE redactions = (SELECT redactions FROM event_redaction)`)
		return err
	})
	if told != 1 {
		t.Error("the follower is not told that something was forgotten")
	}
}

func TestNothingForgottenIsKeptHoweverOftenFollowersWriteMeanwhile(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error {
			_, err := tx.Exec(`CREATE TABLE IF NOT EXISTS note (event {id}, follower TEXT, text TEXT)`)
			return err
		})
		const events = 60
		var all sync.WaitGroup
		var forgotten atomic.Bool
		window := event.NewWindow()
		for _, name := range []string{"a", "a", "b", "c"} { // of the first there are two nodes
			f := event.Follower{Name: name, Window: window, Handle: func(tx *db.Tx, events []event.Event) error {
				for _, e := range events {
					if _, err := tx.Exec(`INSERT INTO note (event, follower, text) VALUES ($1, $2, $3)`, e.ID, name, string(e.Data)); err != nil {
						return err
					}
				}
				return nil
			}}
			all.Go(func() {
				for last := false; !last; {
					last = forgotten.Load()
					if _, err := f.Step(t.Context(), d); err != nil {
						t.Error(err)
					}
				}
			})
		}
		var forgetting sync.WaitGroup
		for half := range 2 {
			forgetting.Go(func() {
				for n := half; n < events; n += 2 {
					tell(t, d, n)
					if err := d.Write(t.Context(), func(tx *db.Tx) error {
						told, err := event.Redact(tx, workspace, newEvent(n).Subject, "ann", newEvent(n).OccurredAt.Add(time.Minute))
						if err != nil {
							return err
						}
						_, err = tx.Exec(`UPDATE note SET text = '{}' WHERE event {in $1}`, told)
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		forgetting.Wait()
		forgotten.Store(true)
		all.Wait()
		var kept int64
		write(t, d, func(tx *db.Tx) (err error) {
			kept, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM note WHERE text <> '{}'`)
			return err
		})
		if kept > 0 {
			t.Errorf("%d facts were kept", kept)
		}
	})
}
