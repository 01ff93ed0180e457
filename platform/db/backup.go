package db

import (
	"context"
	"errors"
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
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", path)
	return classOf(err)
}
