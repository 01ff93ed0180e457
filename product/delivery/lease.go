package delivery

import (
	"context"
	"fmt"
	"slices"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// renewBatch bounds the leases that one transaction renews.
const renewBatch = 1000

// RenewLeases keeps what this node holds, and frees what nodes that vanished did. What this node has leased without knowing it,
// because the answer to a claim was lost, is not renewed and so comes free too.
func (s *Service) RenewLeases(ctx context.Context) (bool, error) {
	for batch := range slices.Chunk(s.leased(), renewBatch) {
		if err := s.db.Write(ctx, func(tx *db.Tx) error {
			_, err := queue.Keep(tx, s.config.Node, batch, leaseFor)
			return err
		}); err != nil {
			return false, err
		}
	}
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		freed, err := queue.ReleaseExpired(tx)
		if err == nil && freed > 0 {
			tx.Wake(email.Lane.Topic())
			s.world.Log.Warn("expired leases freed", "items", freed)
		}
		return err
	})
}

func (s *Service) leased() []queue.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := make([]queue.Item, 0, len(s.held))
	for _, h := range s.held {
		items = append(items, h.due.Item)
	}
	return items
}

// Drain lets conversations under way end, writes their outcomes down, and gives back what is left; nothing that waits has cost an
// attempt. Call it once no step runs any more.
func (s *Service) Drain(ctx context.Context) error {
	s.mu.Lock()
	for id := range s.connections {
		s.release(id)
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		s.world.Log.Warn("conversations cut off by shutdown; they may be held again")
		s.cutOff()
		<-ended
	}
	s.mu.Lock()
	outcomes := s.finished
	s.mu.Unlock()
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer done()
	if err := s.db.Write(writing, func(tx *db.Tx) error {
		if err := s.emails.Record(tx, outcomes); err != nil {
			return err
		}
		_, err := queue.ReleaseOwner(tx, s.config.Node)
		return err
	}); err != nil {
		return fmt.Errorf("settle at shutdown: %w", err)
	}
	s.settled(outcomes)
	_, err := s.saveState(writing)
	return err
}
