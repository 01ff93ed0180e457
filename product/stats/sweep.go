package stats

import (
	"context"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// keepNames is how long subjects, recipient domains and tags are kept by name: a year to compare with, and a month. Counts without
	// names stay.
	keepNames  = 396 * 24 * time.Hour
	sweepEvery = time.Hour
	sweepBatch = 500
)

// Workers returns what has to be done again and again.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "old statistics", Step: s.sweep, Every: sweepEvery, Gentle: true},
		{Name: "past days of statistics", Step: s.fold, Every: foldEvery, Gentle: true},
	}
}

// sweep removes names that are too old to be of use, and makes room for other tags.
func (s *Service) sweep(ctx context.Context) (bool, error) {
	var rows, days, tags int64
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if rows, err = deleteNames(tx, tx.Now().Add(-keepNames), sweepBatch); err != nil {
			return err
		}
		if days, err = deletePastNames(tx, tx.Now().Add(-keepNames), sweepBatch); err != nil {
			return err
		}
		tags, err = deleteTags(tx, tx.Now().Add(-freeAfter), sweepBatch)
		return err
	})
	return max(rows, days, tags) == sweepBatch, err
}
