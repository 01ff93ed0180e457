package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// Start frees what this node held before it stopped, however it stopped.
func (s *Service) Start(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		freed, err := queue.ReleaseOwner(tx, s.config.Node)
		if err == nil && freed > 0 {
			s.world.Log.Info("mail of an earlier run taken back", "items", freed)
		}
		return err
	})
}

// Step settles finished conversations, claims due recipients and starts new conversations with them.
func (s *Service) Step(ctx context.Context) (bool, error) {
	outcomes, room := s.collect()
	if len(outcomes) == 0 {
		if due, ok, err := s.nextDue(ctx); err != nil || room == 0 || !ok || due.After(s.world.Clock.Now()) {
			return false, err
		}
	}
	var taken []email.Taken
	token := int64(s.world.Uint64() >> 1)
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		taken = nil
		if err := s.emails.Record(tx, outcomes); err != nil {
			return fmt.Errorf("settle %d outcomes: %w", len(outcomes), err)
		}
		if room == 0 {
			return nil
		}
		items, err := s.claim(tx, queue.Lease{Owner: s.config.Node, For: leaseFor, Token: token}, room)
		if err != nil {
			return fmt.Errorf("claim: %w", err)
		}
		taken, err = s.emails.Take(tx, items)
		return err
	})
	if err != nil {
		s.putBack(outcomes)
		return false, err
	}
	s.settled(len(outcomes), outcomes)
	s.begin(ctx, taken)
	return len(taken) > 0 || s.config.Inline && len(outcomes) > 0, nil
}

// lanes are what this node delivers: its own mail first, then that of any.
func (s *Service) lanes() []queue.Lane { return []queue.Lane{email.LaneOf(s.config.Node), email.Lane} }

func (s *Service) claim(tx *db.Tx, lease queue.Lease, room int) ([]queue.Item, error) {
	var items []queue.Item
	for _, lane := range s.lanes() {
		more, err := queue.Claim(tx, lane, lease, room-len(items))
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
	}
	return items, nil
}

// collect returns what is finished and how many more recipients may be claimed.
func (s *Service) collect() ([]email.Outcome, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	outcomes := s.finished
	s.finished = nil
	return outcomes, min(claimBatch, s.config.MaxInFlight-s.inFlight+len(outcomes))
}

// putBack keeps outcomes that could not be written: the conversations have been held and must not be forgotten.
func (s *Service) putBack(outcomes []email.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = append(outcomes, s.finished...)
}

func (s *Service) settled(count int, outcomes []email.Outcome) {
	s.mu.Lock()
	s.inFlight -= count
	s.mu.Unlock()
	for _, o := range outcomes {
		s.world.Log.Info("delivery attempted", "email", o.Taken.Email.ID, "attempt", o.Attempt.Number, "outcome", o.Attempt.Outcome,
			"stage", o.Attempt.Stage, "mx", o.Attempt.MXHost, "code", o.Attempt.Code, "took_ms", o.Attempt.FinishedAt.Sub(o.Attempt.StartedAt).Milliseconds())
	}
}

// begin starts a conversation for each recipient. Recipients of one email share its composed message.
func (s *Service) begin(ctx context.Context, taken []email.Taken) {
	s.mu.Lock()
	s.inFlight += len(taken)
	s.mu.Unlock()
	letters := map[email.ID]*letter{}
	for _, t := range taken {
		l := letters[t.Email.ID]
		if l == nil {
			l = s.newLetter(t)
			letters[t.Email.ID] = l
		}
		if s.config.Inline {
			s.finish(s.attempt(ctx, t, l))
			continue
		}
		// The conversation outlives the step and even a shutdown's first signal: see Drain.
		s.running.Go(func() { s.finish(s.attempt(context.WithoutCancel(ctx), t, l)) })
	}
}

func (s *Service) finish(outcome email.Outcome) {
	s.mu.Lock()
	s.finished = append(s.finished, outcome)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Service) nextDue(ctx context.Context) (due time.Time, ok bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		for _, lane := range s.lanes() {
			next, some, err := queue.NextDue(tx, lane)
			if err != nil {
				return err
			}
			if some && (!ok || next.Before(due)) {
				due, ok = next, true
			}
		}
		return nil
	})
	return due, ok, err
}

// RenewLeases keeps what this node is working on, and frees what nodes that vanished were.
func (s *Service) RenewLeases(ctx context.Context) (bool, error) {
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		if err := queue.Renew(tx, s.config.Node, leaseFor); err != nil {
			return err
		}
		freed, err := queue.ReleaseExpired(tx)
		if err == nil && freed > 0 {
			tx.Wake(email.Lane.Topic())
			s.world.Log.Warn("expired leases freed", "items", freed)
		}
		return err
	})
}

// Drain lets conversations under way end, writes their outcomes down, and gives back what is left. Call it once no step runs any more.
func (s *Service) Drain(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		s.world.Log.Warn("conversations cut off by shutdown; they may be held again")
	}
	s.pool.close()
	outcomes, _ := s.collect()
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer done()
	err := s.db.Write(writing, func(tx *db.Tx) error {
		if err := s.emails.Record(tx, outcomes); err != nil {
			return err
		}
		_, err := queue.ReleaseOwner(tx, s.config.Node)
		return err
	})
	if err != nil {
		return fmt.Errorf("settle at shutdown: %w", err)
	}
	s.settled(len(outcomes), outcomes)
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}
