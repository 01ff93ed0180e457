package node

import (
	"context"
	"errors"
	"time"

	"postrider/platform/db"
)

// ErrDouble means that another process runs under the id of this node: its data directory is a copy. Each would take what the other has
// leased for its own of an earlier run, and send it again.
var ErrDouble = errors.New("another server runs under the same id")

// watchFor is long enough to see whether somebody else says that this node is there.
const watchFor = sayEvery + sayEvery/2

// CheckDouble looks for another process under the id of this node, before anything is taken for what an earlier run has left. The node was on
// this machine, by its name, when it was here last: then nobody waits.
func (s *Service) CheckDouble(ctx context.Context) error {
	known, elsewhere, err := s.elsewhere(ctx)
	if err != nil || !elsewhere {
		return err
	}
	s.world.Log.Warn("this node was on another machine a moment ago; looking whether it still is", "name", known.Name, "hostname", known.Hostname)
	over, giveUp := s.world.Clock.After(watchFor)
	defer giveUp()
	select {
	case <-over:
	case <-ctx.Done():
		return ctx.Err()
	}
	now, elsewhere, err := s.elsewhere(ctx)
	if err == nil && elsewhere && !now.SeenAt.Equal(known.SeenAt) {
		err = ErrDouble
	}
	return err
}

// elsewhere tells whether this node was on another machine a moment ago. One that has left is not.
func (s *Service) elsewhere(ctx context.Context) (known Node, yes bool, err error) {
	if s.config.ID == "" {
		return known, false, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		known, err = selectNode(tx, s.config.ID)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return known, false, nil
	}
	other := known.Name != s.config.Name || known.Hostname != s.config.Hostname
	return known, other && known.DrainingAt.IsZero() && s.world.Clock.Now().Sub(known.SeenAt) < goneAfter, err
}

// overwritten tells whether another process has said, since this one did, that the node is there: one that has the same name, and was let in.
func (s *Service) overwritten(tx *db.Tx) (bool, error) {
	if !s.said.Load() {
		return false, nil
	}
	known, err := selectNode(tx, s.config.ID)
	if err != nil {
		return false, db.OrMissing(err, nil)
	}
	return !known.StartedAt.Equal(s.started.Truncate(time.Microsecond)), nil
}
