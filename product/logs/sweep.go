package logs

import (
	"context"
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
	return s.swept.Step(ctx, s.db, nextWorkspace, func(tx *db.Tx, ws space.ID) (more bool, err error) {
		plans, err := s.parts.Accounts.Plans(tx, []space.ID{ws})
		if err != nil {
			return false, err
		}
		removed, err := deleteBefore(tx, ws, tx.Now().Add(-s.retention(plans[ws])), sweepBatch)
		return removed == sweepBatch, err
	})
}
