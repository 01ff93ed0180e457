package broadcast

import (
	"context"

	"postrider/platform/db"
	"postrider/platform/space"
)

// deletePage is how many rows of recipients one transaction deletes. All rows of a large broadcast at once would keep everybody else from
// writing.
const deletePage = 2000

// erase deletes a broadcast that has not begun, or was cancelled. Nobody finds it once that is answered; the worker deletes what is left of
// a large one.
func (s *Service) erase(ctx context.Context, ws space.ID, id string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		b, err := lock(tx, ws, id)
		if err != nil {
			return err
		}
		if b.Status != Draft && b.Status != Cancelled {
			return b.refuse(Draft, Cancelled)
		}
		b.Status = deleting
		if err := s.wake(tx, &b, tx.Now()); err != nil {
			return err
		}
		if err := s.eraseSome(tx, &b); err != nil {
			return err
		}
		return updateProgress(tx, b)
	})
}

// eraseSome deletes some rows of a broadcast, and the broadcast after the last.
func (s *Service) eraseSome(tx *db.Tx, b *Broadcast) error {
	n, err := deleteRecipients(tx, b.ID, deletePage)
	if err != nil || n == deletePage {
		return err
	}
	if err := s.rest(tx, b); err != nil {
		return err
	}
	return remove(tx, *b)
}
