package db

import (
	"context"
	"fmt"
)

// Check looks through the whole embedded database for damage, which takes as long as it takes to read it. PostgreSQL looks after its own:
// with data checksums it notices a damaged page when it reads one.
func (d *DB) Check(ctx context.Context) error {
	lite, ok := d.engine.(*sqliteEngine)
	if !ok {
		return nil
	}
	conn, err := lite.handle.Conn(ctx)
	if err != nil {
		return classOf(err)
	}
	defer conn.Close()
	var found string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return classOf(err)
	}
	if found != "ok" {
		return fmt.Errorf("%w (%s)", ErrDamaged, found)
	}
	return nil
}
