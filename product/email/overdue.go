package email

import (
	"context"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	overdueEvery = 10 * time.Minute
	overdueBatch = 500
)

// EndOverdue lets any node end mail whose time is over and which only a certain node may send: if that one never comes back, it would wait
// without end.
func (s *Service) EndOverdue(ctx context.Context) (bool, error) {
	moved := 0
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		moved = 0
		lanes, err := queue.Lanes(tx)
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			if lane == Lane || !IsMail(lane) {
				continue
			}
			waiting, err := queue.Oldest(tx, lane, overdueBatch)
			if err != nil {
				return err
			}
			over, err := selectExpired(tx, waiting)
			if err != nil {
				return err
			}
			if len(over) == 0 {
				continue
			}
			if err := queue.MoveTo(tx, Lane, over); err != nil {
				return err
			}
			moved += len(over)
		}
		return nil
	})
	return moved > 0, err
}
