package db

import (
	"context"
	"time"
)

// Clock returns what time the server has that all nodes share; ok is false on the embedded engine, which has no clock but ours.
func (d *DB) Clock(ctx context.Context) (at time.Time, ok bool, err error) {
	if d.dialect.catalog.clock == "" {
		return time.Time{}, false, nil
	}
	err = d.Glance(ctx, func(tx *Tx) error {
		micros, err := One(tx, Value[int64], d.dialect.catalog.clock)
		at = time.UnixMicro(micros).UTC()
		return err
	})
	return at, true, err
}
