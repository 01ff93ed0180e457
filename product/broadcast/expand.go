package broadcast

import (
	"context"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
)

// start begins to send. Who is a contact now can be a recipient; who comes later cannot.
func (s *Service) start(ctx context.Context, seen Broadcast) error {
	return s.change(ctx, seen, func(tx *db.Tx, b *Broadcast) (err error) {
		b.Status, b.StartedAt, b.place = Sending, tx.Now(), 0
		if b.ceiling, err = s.parts.Audience.Newest(tx, b.Workspace); err != nil {
			return err
		}
		return addCounts(tx, b.ID, counts{})
	})
}

// expand writes down the next recipients. How far it is moves in the same transaction.
func (s *Service) expand(ctx context.Context, seen Broadcast) error {
	return s.change(ctx, seen, func(tx *db.Tx, b *Broadcast) error {
		found, err := s.parts.Audience.Meant(tx, b.Workspace, b.Target, b.place, expandPage)
		if isMissing(err) {
			return s.fail(tx, b, reasonAudience, "The audience, segment or topic was deleted before all recipients were known.")
		}
		if err != nil {
			return err
		}
		last := len(found) < expandPage
		for i, r := range found {
			if r.Number > b.ceiling {
				found, last = found[:i], true
				break
			}
		}
		if err := insertRecipients(tx, *b, found, s.world.NewID); err != nil {
			return err
		}
		n := int64(len(found))
		if err := addCounts(tx, b.ID, counts{recipients: n, queued: n}); err != nil {
			return err
		}
		if n > 0 {
			b.place = found[n-1].Number
		}
		if !last {
			return nil
		}
		b.ExpandedAt = tx.Now()
		return s.handedIfAll(tx, b)
	})
}

// isMissing tells that something a broadcast names is gone.
func isMissing(err error) bool { return errors.Is(err, api.ErrNotFound) }
