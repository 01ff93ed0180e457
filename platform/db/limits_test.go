package db_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

// openWith opens a database of PostgreSQL with a further word in its address.
func openWith(t *testing.T, word string) (*db.DB, error) {
	t.Helper()
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: dbtest.URL(t, "postgres") + "&" + word})
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

func TestANodeTakesNoMoreConnectionsThanItsAddressAllows(t *testing.T) {
	t.Parallel()
	d, err := openWith(t, "pool_max_conns=5")
	if err != nil {
		t.Fatal(err)
	}
	const askers = 40
	var most int64
	var mu sync.Mutex
	var all sync.WaitGroup
	for range askers {
		all.Go(func() {
			err := d.Read(context.Background(), func(tx *db.Tx) error {
				n, err := db.One(tx, db.Value[int64], `
					SELECT COUNT(*) FROM pg_stat_activity
					WHERE datname = current_database() AND backend_type = 'client backend' AND query <> '' AND query NOT LIKE 'LISTEN%'`) // but the one that listens
				mu.Lock()
				most = max(most, n)
				mu.Unlock()
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most > 5 || most < 2 {
		t.Errorf("%d connections at once", most)
	}
	for _, word := range []string{"pool_max_conns=3", "pool_max_conns=many"} {
		if _, err := openWith(t, word); err == nil || !strings.Contains(err.Error(), "must be a whole number of at least 4") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

func TestAStatementThatPassesItsLimitIsRefusedAsUnavailable(t *testing.T) {
	t.Parallel()
	d, err := openWith(t, "statement_timeout=50ms")
	if err != nil {
		t.Fatal(err)
	}
	err = d.Read(t.Context(), func(tx *db.Tx) error {
		_, err := db.One(tx, db.Value[string], `SELECT CAST(pg_sleep(10) AS TEXT)`)
		return err
	})
	if !errors.Is(err, db.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
