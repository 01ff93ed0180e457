package db_test

import (
	"context"
	"errors"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

// FULL syncs at every commit; with less, an answer that was given could be forgotten by a power cut.
func TestTheEmbeddedDatabaseSyncsAtEveryCommit(t *testing.T) {
	t.Parallel()
	const full = 2
	d := dbtest.Open(t, testWorld(), "sqlite")
	var level int64
	write(t, d, func(tx *db.Tx) (err error) {
		level, err = db.One(tx, db.Value[int64], `PRAGMA synchronous`)
		return err
	})
	if level != full {
		t.Errorf("synchronous is %d", level)
	}
}

func TestAWriteWhoseCallerHasGoneBeforeIsNotMade(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		gone, leave := context.WithCancel(t.Context())
		leave()
		for n := range 50 {
			if err := d.Write(gone, func(tx *db.Tx) error { return addThing(tx, n, "late") }); !errors.Is(err, context.Canceled) {
				t.Errorf("write %d: %v", n, err)
			}
		}
		if found := names(t, d); found != "" {
			t.Errorf("stored: %q", found)
		}
	})
}
