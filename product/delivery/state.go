package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/product/delivery/internal/shape"
)

// saveEvery is how much of what was learned a crash may cost. What operators say is saved at once.
const saveEvery = 5 * time.Second

// saveState writes down what the shaper has learned and was told, if it is news.
func (s *Service) saveState(ctx context.Context) (bool, error) {
	s.mu.Lock()
	snapshot := s.shaper.Snapshot(s.world.Clock.Now())
	before := s.saved
	s.mu.Unlock()
	raw, err := json.Marshal(snapshot)
	if err != nil {
		return false, fmt.Errorf("encode the state of delivery: %w", err)
	}
	state := string(raw)
	if state == before {
		return false, nil
	}
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return upsertState(tx, s.config.Node, state) }); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = state
	return false, nil
}

// restoreState takes over what an earlier run has left. Without it this node would begin anew with servers that have asked to be
// left alone.
func (s *Service) restoreState(ctx context.Context) error {
	var state string
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		state, err = selectState(tx, s.config.Node)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var snapshot shape.Snapshot
	if err := json.Unmarshal([]byte(state), &snapshot); err != nil {
		return fmt.Errorf("stored state of delivery: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shaper.Restore(s.world.Clock.Now(), snapshot)
	s.saved = state
	return nil
}
