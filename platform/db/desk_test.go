package db_test

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

var errBad = errors.New("this one cannot be stored")

func TestThingsThatComeTogetherAreStoredTogetherAndFailAlone(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.DiscardHandler))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		var mu sync.Mutex
		most := 0
		desk := db.NewDesk(d, func(tx *db.Tx, ids []string) error {
			mu.Lock()
			most = max(most, len(ids))
			mu.Unlock()
			var values []any
			for _, id := range ids {
				if id == "bad" {
					return errBad
				}
				values = append(values, id, "desk", 25, true, tx.Now())
			}
			_, err := tx.InsertRows(`INSERT INTO inbound_receiver (node_id, hostname, port, starttls, seen_at)`, 5, values, ``)
			return err
		})
		const good = 200
		failures := make([]error, good)
		var bad error
		var all sync.WaitGroup
		all.Go(func() { bad = desk.Write(t.Context(), "bad") })
		for i := range good {
			all.Go(func() { failures[i] = desk.Write(t.Context(), w.NewID()) })
		}
		all.Wait()
		if !errors.Is(bad, errBad) {
			t.Errorf("the bad one: %v", bad)
		}
		if err := errors.Join(failures...); err != nil {
			t.Errorf("the good ones: %v", err)
		}
		var stored int64
		err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
			stored, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM inbound_receiver`)
			return err
		})
		if err != nil || stored != good || most < 2 {
			t.Errorf("%d stored, at most %d together, %v", stored, most, err)
		}
	})
}

// A thing that nobody foresaw must not be the last one that is stored.
func TestAPanicOverOneThingLeavesTheDeskOpenForOthers(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.DiscardHandler))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		desk := db.NewDesk(d, func(tx *db.Tx, ids []string) error {
			if slices.Contains(ids, "bad") {
				panic("unforeseen")
			}
			return nil
		})
		failures := make([]error, 50)
		var told atomic.Int64
		var all sync.WaitGroup
		for i := range failures {
			all.Go(func() {
				defer func() {
					if recover() == "unforeseen" {
						told.Add(1)
					}
				}()
				if i%10 == 0 {
					_ = desk.Write(t.Context(), "bad")
				}
				failures[i] = desk.Write(t.Context(), w.NewID())
			})
		}
		all.Wait()
		if err := errors.Join(failures...); err != nil || told.Load() != 5 {
			t.Errorf("%d were told, %v", told.Load(), err)
		}
	})
}
