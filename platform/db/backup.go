package db

import (
	"context"
	"errors"
	"os"
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
	// SQLite would make a file that everybody on the machine can read. It takes one that is there and empty.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	file.Close()
	if _, err = conn.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		os.Remove(path)
	}
	return classOf(err)
}
