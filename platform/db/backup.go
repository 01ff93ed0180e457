package db

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

var errNoBackup = errors.New("PostgreSQL is backed up with its own tools, such as pg_dump")

// Backup writes a copy of the embedded database, as it is at one moment, to a file that must not exist. Readers and writers go on.
func (d *DB) Backup(ctx context.Context, path string) error {
	lite, ok := d.engine.(*sqliteEngine)
	if !ok {
		return errNoBackup
	}
	conn, err := lite.handle.Conn(ctx)
	if err != nil {
		return classOf(err)
	}
	defer conn.Close()
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "backup", Path: path, Err: fs.ErrExist}
	}
	// SQLite would make a file that everybody on the machine can read. It takes one that is there and empty.
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*") // 0600
	if err != nil {
		return err
	}
	defer part.Close()
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", part.Name()); err != nil {
		return errors.Join(classOf(err), os.Remove(part.Name()))
	}
	if err := part.Sync(); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return appear(part.Name(), path)
}

// appear gives a file that is whole its name, for good.
func appear(part, path string) error {
	if err := os.Rename(part, path); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
