package audience

import (
	"context"

	"postrider/platform/db"
)

// forgetLog forgets the person in the log of the workspace, batch by batch.
func (s *Service) forgetLog(ctx context.Context, e erasure) error {
	if s.parts.Logs == nil {
		return nil
	}
	place, done := db.PlaceAfter(s.world.Clock.Now()), false
	for !done {
		from := place
		err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			place, done, err = s.parts.Logs.Erase(tx, e.workspace, e.address, from, eraseBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
