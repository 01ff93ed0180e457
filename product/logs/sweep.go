package logs

import (
	"context"
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// sweepEvery is how long what has expired may lie around; nobody can see it. sweepBatch is how much of it one transaction removes:
	// its words cost more than it does, and on the embedded database everybody else waits for that long.
	sweepEvery = time.Hour
	sweepBatch = 100
)

// sweep removes what nobody may look at any more, workspace by workspace. What a plan keeps is decided now, so that an upgrade counts for
// all that is still there.
func (s *Service) sweep(ctx context.Context) (bool, error) {
	var ws space.ID
	var removed int
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if ws, err = nextWorkspace(tx, s.swept); err != nil {
			return err
		}
		plans, err := s.parts.Accounts.Plans(tx, []space.ID{ws})
		if err != nil {
			return err
		}
		removed, err = deleteBefore(tx, ws, tx.Now().Add(-s.retention(plans[ws])), sweepBatch)
		return err
	})
	switch {
	case errors.Is(err, db.ErrNotFound):
		s.swept = "" // all were visited
		return false, nil
	case err == nil && removed < sweepBatch:
		s.swept = ws
	}
	return err == nil, err
}
