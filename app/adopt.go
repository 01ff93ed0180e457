package app

import (
	"context"

	"postrider/platform/custody"
	"postrider/world"
)

// Adopt makes an installation the one that sweeps its blob store, whichever database did so before. Servers on it may run.
func Adopt(ctx context.Context, w world.World, s Storage) error {
	if err := s.CheckPresent(); err != nil {
		return err
	}
	stores, err := s.Open(ctx, w)
	if err != nil {
		return err
	}
	defer stores.DB.Close()
	return custody.Claim(ctx, w, stores.DB, stores.Blobs)
}
