package db_test

import (
	"errors"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

func TestGlanceSeesWhatIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error { return addThing(tx, 1, "there") })
		for want, n := range map[string]int{"there": 1, "": 2} {
			var name string
			err := d.Glance(t.Context(), func(tx *db.Tx) (err error) {
				name, err = db.One(tx, db.Value[string], `SELECT name FROM thing WHERE id = $1`, id(n))
				return err
			})
			if name != want || errors.Is(err, db.ErrNotFound) != (want == "") || err != nil && want != "" {
				t.Errorf("thing %d is %q, %v", n, name, err)
			}
		}
	})
}

func TestGlanceChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		defer func() {
			if recover() == nil {
				t.Error("a glance has written")
			}
		}()
		_ = d.Glance(t.Context(), func(tx *db.Tx) error { return addThing(tx, 1, "new") })
	})
}

func TestServerIsAskedOnceForAGlance(t *testing.T) {
	t.Parallel()
	asked := &questions{server: dbtest.URL(t, "postgres")}
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: asked.listen(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const looks = 100
	count := func(read func(look func(*db.Tx) error) error) int64 {
		before := asked.count.Load()
		for range looks {
			if err := read(func(tx *db.Tx) error {
				_, err := db.One(tx, db.Value[int64], `SELECT 1`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		return asked.count.Load() - before
	}
	glances := count(func(look func(*db.Tx) error) error { return d.Glance(t.Context(), look) })
	reads := count(func(look func(*db.Tx) error) error { return d.Read(t.Context(), look) })
	// The preparing of a statement is asked once a connection, and those who listen for wakes ask something too.
	if glances < looks || glances > looks+10 || reads < 3*looks {
		t.Errorf("%d looks asked %d times as glances and %d times as reads", looks, glances, reads)
	}
}
