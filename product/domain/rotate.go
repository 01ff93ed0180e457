package domain

import (
	"context"
	"errors"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// Rotate makes a new RSA key. It signs once its record is published; until then, and in case it never is, the current one goes on.
func (s *Service) Rotate(ctx context.Context, ws space.ID, id string) (Domain, error) {
	d, err := s.Get(ctx, ws, id)
	if err != nil {
		return Domain{}, err
	}
	key, err := s.newKey(d.ID, RSA, s.newSelector("s"), Next, s.world.Clock.Now())
	if err != nil {
		return Domain{}, err
	}
	return s.change(ctx, ws, d.ID, func(tx *db.Tx, d *Domain) error {
		if _, rotating := d.key(Next, RSA); rotating {
			return api.ErrInvalidState.Saying("A new key is already waiting for its record to be published.").
				With("current", "rotating").With("allowed", []string{"published"})
		}
		if err := insertKeys(tx, *d, key); err != nil {
			return err
		}
		return loadKeys(tx, d)
	})
}

// change locks a domain, lets alter change it, stores it and tells of it.
func (s *Service) change(ctx context.Context, ws space.ID, id ID, alter func(*db.Tx, *Domain) error) (Domain, error) {
	var d Domain
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if d, err = lockDomain(tx, ws, id); err != nil {
			return err
		}
		if err := loadKeys(tx, &d); err != nil {
			return err
		}
		if err := alter(tx, &d); err != nil {
			return err
		}
		d.UpdatedAt = tx.Now()
		if err := updateDomain(tx, d); err != nil {
			return err
		}
		return event.Append(tx, s.newEvent(d, "domain.updated"))
	})
	if errors.Is(err, db.ErrNotFound) {
		return Domain{}, api.NotFound("domain")
	}
	s.Forget(d)
	return d, err
}
