package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

func testWorld() world.World {
	return world.World{Clock: world.SystemClock{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func each(t *testing.T, test func(t *testing.T, d *db.DB)) {
	dbtest.Each(t, testWorld(), func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error {
			_, err := tx.Exec(`CREATE TABLE thing (id {id} PRIMARY KEY, name TEXT, size BIGINT, made_at BIGINT, body {blob})`)
			return err
		})
		test(t, d)
	})
}

func write(t testing.TB, d *db.DB, fn func(tx *db.Tx) error) {
	t.Helper()
	if err := d.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func id(n int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", n) }

func addThing(tx *db.Tx, n int, name string) error {
	_, err := tx.Exec(`INSERT INTO thing (id, name, size) VALUES ($1, $2, $3)`, id(n), name, n)
	return err
}

func names(t *testing.T, d *db.DB) string {
	t.Helper()
	var found []string
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		found, err = db.All(tx, db.Value[string], `SELECT name FROM thing ORDER BY id`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

func TestArgumentsKeepTheirNumbersWhateverTheirOrder(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO thing (name, size, id) VALUES ($2, $3, $1)`, id(1), "first", 7)
			return err
		})
		if got := names(t, d); got != "first" {
			t.Fatalf("names = %q", got)
		}
	})
}

func TestFailedWriteLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		refused := errors.New("refused")
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			if err := addThing(tx, 1, "lost"); err != nil {
				return err
			}
			return refused
		})
		if !errors.Is(err, refused) || names(t, d) != "" {
			t.Fatalf("err = %v, names = %q", err, names(t, d))
		}
	})
}

func TestWritesOfManyCallersShareCommitsAndFailAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		before := d.Stats()
		var all sync.WaitGroup
		failed := make([]error, 200)
		for n := range 200 {
			all.Go(func() {
				failed[n] = d.Write(context.Background(), func(tx *db.Tx) error {
					if err := addThing(tx, n, "x"); err != nil {
						return err
					}
					if n%10 == 0 {
						return errors.New("odd one out")
					}
					return nil
				})
			})
		}
		all.Wait()
		for n, err := range failed {
			if (err != nil) != (n%10 == 0) {
				t.Fatalf("write %d: %v", n, err)
			}
		}
		if got := len(strings.Fields(names(t, d))); got != 180 {
			t.Fatalf("%d rows, want 180", got)
		}
		stats := d.Stats()
		if stats.Commits > 0 && stats.Commits-before.Commits >= stats.Writes-before.Writes {
			t.Fatalf("no write shared a commit: %+v", stats)
		}
	})
}

func TestPanicOfOneWriteReachesItsCallerOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = d.Write(context.Background(), func(tx *db.Tx) error { panic("broken invariant") })
		}()
		write(t, d, func(tx *db.Tx) error { return addThing(tx, 1, "after") })
		if got := names(t, d); got != "after" {
			t.Fatalf("names = %q", got)
		}
	})
}

func TestUniqueViolationIsRecognised(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error { return addThing(tx, 1, "a") })
		err := d.Write(context.Background(), func(tx *db.Tx) error { return addThing(tx, 1, "b") })
		if !errors.Is(err, db.ErrUnique) {
			t.Fatalf("err = %v", err)
		}
	})
}

func TestListsTimesAndNullsSurviveStorage(t *testing.T) {
	t.Parallel()
	type name string
	each(t, func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 2, 13, 0, 123456000, time.UTC)
		write(t, d, func(tx *db.Tx) error {
			values := []any{}
			for n := range 100 {
				values = append(values, id(n), name(fmt.Sprint("n", n)), n, at, []byte{0, 1})
			}
			count, err := tx.InsertRows(`INSERT INTO thing (id, name, size, made_at, body)`, 5, values, `ON CONFLICT DO NOTHING`)
			if err == nil && count != 100 {
				return fmt.Errorf("inserted %d", count)
			}
			return err
		})
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			type row struct {
				name name
				at   time.Time
				body []byte
			}
			found, err := db.All(tx, func(s db.Scanner) (r row, err error) {
				err = s.Scan(db.Text(&r.name), db.Time(&r.at), &r.body)
				return r, err
			}, `SELECT name, made_at, body FROM thing WHERE id {in $1} AND name {in $2} ORDER BY id`,
				[]string{id(3), id(5), id(400)}, []name{"n3", "n5"})
			if err != nil {
				return err
			}
			if len(found) != 2 || found[1].name != "n5" || !found[1].at.Equal(at) || len(found[1].body) != 2 {
				return fmt.Errorf("found %+v", found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestHostileTextIsMadeStorable(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error { return addThing(tx, 1, "a\x00b\xffc") })
		if got := names(t, d); got != "a\uFFFDb\uFFFDc" {
			t.Fatalf("stored %q", got)
		}
	})
}

func TestWakeComesAfterTheCommitAndOnlyThen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		news, stop := d.Subscribe("mail")
		defer stop()
		_ = d.Write(context.Background(), func(tx *db.Tx) error { tx.Wake("mail"); return errors.New("no") })
		select {
		case <-news:
			t.Fatal("woken by a write that failed")
		default:
		}
		write(t, d, func(tx *db.Tx) error { tx.Wake("mail"); return addThing(tx, 1, "a") })
		select {
		case <-news:
		case <-t.Context().Done():
		}
		if got := names(t, d); got != "a" {
			t.Fatalf("woken before the commit: %q", got)
		}
	})
}

func TestWakesReachOtherNodes(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	open := func() *db.DB {
		d, err := db.Open(context.Background(), testWorld(), db.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	}
	here, there := open(), open()
	news, stop := there.Subscribe("mail")
	defer stop()
	for { // the listener of the other node may still be connecting
		write(t, here, func(tx *db.Tx) error { tx.Wake("mail"); return nil })
		wait, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		select {
		case <-news:
			cancel()
			return
		case <-wait.Done():
			cancel()
		}
		if t.Context().Err() != nil {
			t.Fatal("no wake-up arrived")
		}
	}
}

func TestReadOnlyFileIsUnavailableAndKeepsNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "dir")
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err == nil {
		if _, err := db.Open(context.Background(), testWorld(), db.Config{URL: path}); err == nil {
			t.Fatal("opened a database under a file")
		}
	}
	d := dbtest.Open(t, testWorld(), "sqlite")
	d.Close()
	if err := d.Write(context.Background(), func(tx *db.Tx) error { return nil }); !errors.Is(err, db.ErrUnavailable) {
		t.Fatalf("write after close: %v", err)
	}
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		if err := d.Migrate(context.Background()); err != nil {
			t.Fatal(err)
		}
		ready, err := d.Migrated(context.Background())
		if err != nil || !ready {
			t.Fatalf("migrated = %v, %v", ready, err)
		}
	})
}

func TestConflictingCountersLoseNoIncrement(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d *db.DB) {
		write(t, d, func(tx *db.Tx) error { return addThing(tx, 0, "counter") })
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				err := d.WriteSerializable(context.Background(), func(tx *db.Tx) error {
					size, err := db.One(tx, db.Value[int64], `SELECT size FROM thing WHERE id = $1`, id(0))
					if err != nil {
						return err
					}
					_, err = tx.Exec(`UPDATE thing SET size = $1 WHERE id = $2`, size+1, id(0))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_ = d.Read(context.Background(), func(tx *db.Tx) error {
			size, err := db.One(tx, db.Value[int64], `SELECT size FROM thing WHERE id = $1`, id(0))
			if err != nil || size != 20 {
				t.Errorf("size = %d, %v", size, err)
			}
			return nil
		})
	})
}
