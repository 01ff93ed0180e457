package domain

import (
	"context"

	"postrider/platform/api"
	"postrider/platform/db"
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
