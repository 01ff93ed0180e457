package app

import (
	"context"
	"errors"

	"postrider/platform/custody"
	"postrider/platform/db"
	"postrider/world"
)

var (
	errCopy = Misconfigured{errors.New("this database comes from a backup, and what waits in it would be sent again if the original has sent it since; " +
		"if the original is gone for good, run postrider adopt with the same flags, and to look around start with --roles api")}
	errMovedAway = Misconfigured{errors.New("this database was moved to another storage, or is being moved: start the server there; " +
		"if that was given up and this one is to go on, run postrider adopt with the same flags")}
)

// Adopt makes an installation the one that does the work: a copy may send what waits in it, the source of a move that was given up is open
// again, and its sweeper owns the blob store, whichever database did so before. Servers on it may run.
func Adopt(ctx context.Context, w world.World, s Storage) error {
	if err := s.CheckPresent(); err != nil {
		return err
	}
	// It is not opened as all others do: they would be refused.
	if _, err := markDatabase(ctx, w, s.database(), ""); err != nil {
		return err
	}
	stores, err := s.Open(ctx, w)
	if err != nil {
		return err
	}
	defer stores.DB.Close()
	return custody.Claim(ctx, w, stores.DB, stores.Blobs)
}

// markDatabase sets a database aside, or no longer if there is no reason to, and returns why it was before.
func markDatabase(ctx context.Context, w world.World, address string, why custody.Reason) (before custody.Reason, err error) {
	d, err := db.Open(ctx, w, db.Config{URL: address})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if before, err = custody.Aside(ctx, d); err != nil || before == why {
		return before, err
	}
	return before, custody.SetAside(ctx, d, why)
}
