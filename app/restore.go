package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"postrider/platform/blob"
	"postrider/platform/custody"
	"postrider/platform/move"
	"postrider/world"
)

var errOccupied = errors.New("the directory already holds a database; restore into another, or move that one (all files postrider.db*) away yourself")

var (
	errNeedsPostgres  = Misconfigured{errors.New("the backup is of PostgreSQL; name an empty database with --database-url")}
	errNeedsDirectory = Misconfigured{errors.New("the backup is of the embedded database; restore it without --database-url, " +
		"and then move it with: postrider migrate --from DIRECTORY --to postgres://…")}
)

// Restore puts a backup into a storage that has no database yet, and compares what came with what the manifest says. It is a copy until
// somebody adopts it. load reads a
// dump into PostgreSQL; it is called only for a backup of one.
func Restore(ctx context.Context, w world.World, from string, s Storage, load func(file string) error, tell move.Tell) (Manifest, error) {
	m, err := ReadManifest(from)
	if err != nil {
		return m, err
	}
	if err := s.check(); err != nil {
		return m, err
	}
	switch {
	case m.Engine == "postgres" && s.DatabaseURL == "":
		return m, errNeedsPostgres
	case m.Engine != "postgres" && s.DatabaseURL != "":
		return m, errNeedsDirectory
	}
	if err := s.makeDir(); err != nil {
		return m, err
	}
	release, err := lockDir(s.Dir)
	if err != nil {
		return m, err
	}
	defer release()
	path := s.database()
	if m.Engine == "sqlite" && occupied(path) {
		return m, fmt.Errorf("%s: %w", s.Dir, errOccupied)
	}
	if err := carryFiles(from, s.Dir); err != nil {
		return m, err
	}
	if err := m.restoreBlobs(ctx, w, from, s, tell); err != nil {
		return m, fmt.Errorf("blobs: %w", err)
	}
	if m.Engine == "postgres" {
		if err := load(filepath.Join(from, DumpFile)); err != nil {
			return m, err
		}
		_, err := markDatabase(ctx, w, path, custody.Copied)
		return m, err
	}
	return m, m.restoreDatabase(ctx, w, filepath.Join(from, backupDatabase), path)
}

// occupied tells whether there is a database, or the log of one: SQLite would write what is in it over the database that comes.
func occupied(path string) bool {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if _, err := os.Stat(path + suffix); err == nil {
			return true
		}
	}
	return false
}

func (m Manifest) restoreBlobs(ctx context.Context, w world.World, from string, s Storage, tell move.Tell) error {
	source, err := blob.NewFiles(filepath.Join(from, backupBlobs), w.Clock, w.Random)
	if err != nil {
		return err
	}
	if err := m.countBlobs(ctx, source); err != nil {
		return err
	}
	target, err := s.blobs(w)
	if err != nil {
		return err
	}
	_, _, err = move.CopyBlobs(ctx, source, target, tell)
	return err
}

// countBlobs finds out whether a backup still has the blobs that it was made with.
func (m Manifest) countBlobs(ctx context.Context, source blob.Store) error {
	var blobs, bytes int64
	err := source.List(ctx, m.MadeAt.AddDate(1000, 0, 0), func(info blob.Info, _ time.Time) error {
		blobs, bytes = blobs+1, bytes+info.Size
		return nil
	})
	if err == nil && (blobs != m.Blobs || bytes != m.Bytes) {
		err = fmt.Errorf("the backup has %d (%d bytes), and was made with %d (%d bytes): get the others, or write what there is into its %s to go on without them",
			blobs, bytes, m.Blobs, m.Bytes, manifestFile)
	}
	return err
}

// restoreDatabase copies beside and renames, so that there is a database only once it is whole.
func (m Manifest) restoreDatabase(ctx context.Context, w world.World, from, to string) error {
	beside := to + ".restoring"
	if err := copyFile(from, beside); err != nil {
		return err
	}
	defer os.Remove(beside)
	sum, err := hashFile(beside)
	if err != nil {
		return err
	}
	if sum != m.SHA256 {
		return errors.New("the database in the backup is damaged: it is not the one that the manifest describes")
	}
	rows, err := countRows(ctx, w, beside)
	if err != nil {
		return err
	}
	if !maps.Equal(rows, m.Rows) {
		return errors.New("the tables in the backup do not have the rows that the manifest counts")
	}
	if _, err := markDatabase(ctx, w, beside, custody.Copied); err != nil {
		return err
	}
	if err := os.Rename(beside, to); err != nil {
		return err
	}
	return syncPath(filepath.Dir(to))
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}
