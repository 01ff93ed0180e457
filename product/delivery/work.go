package delivery

import (
	"context"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// Start frees what this node held before it stopped, however it stopped, and remembers what it had learned.
func (s *Service) Start(ctx context.Context) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		freed, err := queue.ReleaseOwner(tx, s.config.Node)
		if err == nil && freed > 0 {
			s.world.Log.Info("mail of an earlier run taken back", "items", freed)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.restoreSources(ctx); err != nil {
		return err
	}
	if err := s.restoreAside(ctx); err != nil {
		return err
	}
	if err := s.restoreState(ctx); err != nil {
		return err
	}
	_, err = s.lookAround(ctx) // before anything is claimed: paths may be others'
	return err
}

// round is what one step does, in one transaction.
type round struct {
	outcomes  []email.Outcome
	returning []returning
	jobs      []*job
	// lasting and ageing are the items of the jobs, by how long their leases last.
	lasting, ageing []queue.Item
	order           order

	// What the transaction found.
	renewed []queue.Item
	taken   []email.Taken
	harvest harvest
}

func (r *round) empty() bool {
	return len(r.outcomes) == 0 && len(r.returning) == 0 && len(r.jobs) == 0 && len(r.order.pulls) == 0 && len(r.order.piles) == 0
}

// Step settles finished conversations, puts back what has to wait, counts an attempt for what is about to be sent, and claims what
// is due; then the conversations begin.
func (s *Service) Step(ctx context.Context) (bool, error) {
	s.gather(ctx)
	r := s.plan()
	if r.empty() {
		if due, ok, err := s.nextDue(ctx); err != nil || r.order.room <= 0 || r.order.paused || !ok || due.After(r.order.now) {
			return false, err
		}
		r.order.expected = true
	}
	token := int64(s.world.Uint64() >> 1)
	begun := s.world.Clock.Now()
	// If it fails, everything is still in its list and the next step tries again.
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return s.write(tx, &r, token) }); err != nil {
		return false, err
	}
	s.pace(s.world.Clock.Now().Sub(begun), len(r.jobs))
	s.settled(r.outcomes)
	s.wasPutBack(r.returning)
	s.noteClaims(r.order, r.harvest)
	s.sure(r.renewed, r.order.now)
	s.begin(r.jobs, r.taken)
	s.receive(r.harvest, r.order.now)
	return len(r.jobs) > 0 || len(r.harvest.due) > 0 || len(r.returning) > 0 || s.config.Inline && len(r.outcomes) > 0, nil
}

// plan says what the next step has to do.
func (s *Service) plan() round {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.world.Clock.Now()
	s.schedule(now)
	r := round{outcomes: s.ended(), returning: s.returning[:len(s.returning):len(s.returning)],
		jobs: s.jobs[:min(len(s.jobs), s.begins)]}
	r.lasting, r.ageing = beginning(r.jobs, now)
	r.order = s.orderClaims(now)
	return r
}

// ended returns the outcomes that wait to be written down. The caller holds mu.
func (s *Service) ended() []email.Outcome {
	for i := range s.finished { // the lease may have been lost and won again meanwhile
		if h := s.held[s.finished[i].Taken.Item.ID]; h != nil {
			s.finished[i].Taken.Item = h.due.Item
		}
	}
	return s.finished[:len(s.finished):len(s.finished)]
}

// schedule asks the shaper what may be sent, what comes back, and which connections are to be closed. The caller holds mu.
func (s *Service) schedule(now time.Time) {
	for len(s.jobs) < s.begins {
		work, ok := s.shaper.Next(now)
		if !ok {
			break
		}
		s.jobs = append(s.jobs, &job{held: s.held[work.Items[0].Recipient], work: work})
	}
	for _, r := range s.shaper.Returned() {
		s.giveBack(s.held[r.Item.Recipient], r.Back)
	}
	for _, id := range s.shaper.Closing() {
		s.release(id)
	}
}

// write is the transaction of a step.
func (s *Service) write(tx *db.Tx, r *round, token int64) error {
	r.taken, r.renewed, r.harvest = nil, nil, harvest{}
	if err := s.settle(tx, r.outcomes); err != nil {
		return err
	}
	if err := s.putBack(tx, r.returning); err != nil {
		return fmt.Errorf("put back %d recipients: %w", len(r.returning), err)
	}
	if len(r.jobs) > 0 {
		kept, err := s.keep(tx, r)
		if err != nil {
			return fmt.Errorf("keep leases: %w", err)
		}
		if r.taken, err = s.emails.Take(tx, kept); err != nil {
			return fmt.Errorf("begin %d attempts: %w", len(kept), err)
		}
	}
	if r.order.room <= 0 {
		return nil
	}
	var err error
	if r.harvest, err = s.claim(tx, r.order, token); err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	return nil
}

// settle writes outcomes down.
func (s *Service) settle(tx *db.Tx, outcomes []email.Outcome) error {
	if err := s.emails.Record(tx, outcomes); err != nil {
		return fmt.Errorf("settle %d outcomes: %w", len(outcomes), err)
	}
	if err := s.emails.PlayOn(tx, outcomes); err != nil {
		return fmt.Errorf("play simulated recipients: %w", err)
	}
	return nil
}

// settled forgets what has been written down.
func (s *Service) settled(outcomes []email.Outcome) {
	s.mu.Lock()
	for _, o := range outcomes {
		if h := s.held[o.Taken.Item.ID]; h != nil && h.assigned && o.Attempt.MXIP.IsValid() {
			s.sources.count(h.path.Source, s.world.Clock.Now())
		}
		s.letGo(o.Taken.Item.ID)
	}
	s.finished = s.finished[len(outcomes):]
	s.mu.Unlock()
	for _, o := range outcomes {
		s.world.Log.Info("delivery attempted", "email", o.Taken.Email.ID, "attempt", o.Attempt.Number, "outcome", o.Attempt.Outcome,
			"stage", o.Attempt.Stage, "mx", o.Attempt.MXHost, "code", o.Attempt.Code, "took_ms", o.Attempt.FinishedAt.Sub(o.Attempt.StartedAt).Milliseconds())
	}
}

// Next tells when a step will have something to do.
func (s *Service) Next(ctx context.Context) (time.Time, bool, error) {
	s.mu.Lock()
	wake, room, after := s.shaper.NextWake(s.world.Clock.Now()), s.config.MaxHeld-len(s.held), s.desk.after
	if pull := s.desk.pullAt; !pull.IsZero() && (wake.IsZero() || pull.Before(wake)) {
		wake = pull
	}
	s.mu.Unlock()
	if room <= 0 {
		return wake, !wake.IsZero(), nil
	}
	due, ok, err := s.nextDue(ctx)
	if due.Before(after) {
		due = after
	}
	if !ok || !wake.IsZero() && wake.Before(due) {
		return wake, !wake.IsZero(), err
	}
	return due, true, err
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
