// Package dbtest gives tests a fresh, migrated database of each engine.
//
// The embedded engine is always there. PostgreSQL is used where POSTRIDER_TEST_POSTGRES names a server, or where its programs are
// installed: then each test process starts a throw-away cluster that ends with it.
package dbtest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"postrider/platform/db"
	"postrider/world"
)

// Each runs test once on every engine at hand, in parallel, each time on an empty migrated database in which writes are rehearsed.
func Each(t *testing.T, w world.World, test func(t *testing.T, d *db.DB)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, w, engine))
		})
	}
}

// Open returns an empty migrated database of the engine ("sqlite" or "postgres"), closed when the test ends.
func Open(t testing.TB, w world.World, engine string) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), w, db.Config{URL: URL(t, engine), Rehearse: true})
	if err != nil {
		t.Fatalf("open %s: %v", engine, err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// URL returns the address of an empty migrated database of the engine, removed when the test ends. A test of an engine that
// is not at hand is skipped.
func URL(t testing.TB, engine string) string {
	t.Helper()
	if engine == "postgres" {
		return postgresURL(t)
	}
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatalf("migrate template: %v", err)
	}
	path := filepath.Join(t.TempDir(), "postrider.db")
	if err := os.WriteFile(path, template, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sqliteTemplate migrates once a process; copying the file is much faster than migrating again.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "postrider-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	if err := migrateAt(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func migrateAt(url string) error {
	ctx := context.Background()
	quiet := world.World{Clock: world.SystemClock{}, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	d, err := db.Open(ctx, quiet, db.Config{URL: url})
	if err != nil {
		return err
	}
	if err := d.Migrate(ctx); err != nil {
		d.Close()
		return err
	}
	return d.Close()
}

var databaseCount atomic.Int64

func nextName() string {
	return fmt.Sprintf("postrider_test_%d_%d", os.Getpid(), databaseCount.Add(1))
}
