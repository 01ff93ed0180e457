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
			if err := queue.MoveTo(tx, Lane, over); err != nil {
				return err
			}
			moved += len(over)
		}
		return nil
	})
	return moved > 0, err
}

// selectExpired returns those of the recipients whose mail may not be sent any more. It serves work across workspaces.
func selectExpired(tx *db.Tx, recipients []string) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT email_recipient.id FROM email_recipient
		JOIN email ON email.id = email_recipient.email_id
		WHERE email_recipient.id {in $1} AND email.expires_at <= $2`, recipients, tx.Now())
}
