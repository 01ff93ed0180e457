package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postrider/platform/db"
	"postrider/product/delivery/internal/shape"
)

// adopt takes over what the former owners of paths that are this node's now were told about them: a server that has asked to be left
// alone, and an operator who has stopped a path, do not care who owns it.
func (s *Service) adopt(ctx context.Context, before crew) error {
	for _, former := range before.alive {
		if former == s.config.Node {
			continue
		}
		var text string
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			text, err = selectState(tx, former)
			return err
		})
		if errors.Is(err, db.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		var told shape.Snapshot
		if err := json.Unmarshal([]byte(text), &told); err != nil {
			return fmt.Errorf("stored state of delivery of node %s: %w", former, err)
		}
		s.heed(former, before, told.Holds)
	}
	return nil
}

// heed holds what a former owner has held.
func (s *Service) heed(former string, before crew, holds []shape.Hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range holds {
		if strings.HasPrefix(string(h.Path.Site), relaySite) {
			holds[i].Path.Source = s.config.Source // a relay is the same to all, whatever they send from
		}
	}
	s.shaper.Adopt(s.world.Clock.Now(), slices.DeleteFunc(holds, func(h shape.Hold) bool {
		return before.owner(h.Path) != former || !s.crew.owns(h.Path)
	}))
}
