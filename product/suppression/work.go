package suppression

import (
	"context"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// sweepEvery is how late the end of an entry may be told. The entry itself stops nothing from its very moment on.
	sweepEvery = time.Minute
	// sweepBatch keeps the transaction of a sweep short.
	sweepBatch = 500
)

// Workers returns what has to be done again and again.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{{Name: "suppression sweep", Step: s.sweep, Every: sweepEvery, Gentle: true}}
}

// sweep deletes what has expired and tells of it, and forgets strikes that no longer count.
func (s *Service) sweep(ctx context.Context) (bool, error) {
	var waiting bool
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		waiting, err = anythingToSweep(tx, tx.Now().Add(-strikeWindow))
		return err
	})
	if err != nil || !waiting {
		return false, err
	}
	var swept int
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		rows, err := sweepExpired(tx, sweepBatch)
		if err != nil {
			return err
		}
		strikes, err := sweepStrikes(tx, tx.Now().Add(-strikeWindow), sweepBatch)
		if err != nil {
			return err
		}
		swept = max(len(rows), int(strikes))
		return s.removed(tx, rows)
	})
	return swept == sweepBatch, err
}
