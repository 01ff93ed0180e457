package db

import (
	"context"
	"math"
)

// Horizon returns a transaction id below which nothing new can appear any more: every transaction with a lower id has ended. What
// these wrote is seen by transactions that begin after it is known, so a reader that stays below misses nothing. It must not be
// asked for inside the transaction that reads: that may see things as they were before.
func (d *DB) Horizon(ctx context.Context) (horizon int64, err error) {
	if d.dialect.horizon == "" {
		return math.MaxInt64, nil
	}
	err = d.Glance(ctx, func(tx *Tx) (err error) {
		horizon, err = horizonOf(tx)
		return err
	})
	return horizon, err
}

func horizonOf(tx *Tx) (int64, error) { return One(tx, Value[int64], tx.db.dialect.horizon) }
