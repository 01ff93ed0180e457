package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/email"
)

// renewBatch bounds the leases that one transaction renews.
const renewBatch = 1000

// RenewLeases keeps what this node has held for a while, and frees what nodes that vanished did, even what only they may send: it has to end
// when its time is over. What this node has leased without knowing it, because the answer to a claim was lost, is not renewed and so comes
// free too.
func (s *Service) RenewLeases(ctx context.Context) (bool, error) {
	if err := s.renew(ctx); err != nil {
		return false, err
	}
	if !s.mayRelease() {
		return false, nil
	}
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		lanes, err := queue.ExpiredLanes(tx)
		if err != nil {
			return err
		}
		for _, lane := range lanes {
			if !email.IsMail(lane) {
				continue
			}
			freed, err := queue.ReleaseExpiredOf(tx, lane)
			if err != nil {
				return err
			}
			if freed > 0 {
				tx.Wake(lane.Topic())
				s.world.Log.Warn("expired leases freed", "items", freed)
			}
		}
		return nil
	})
}

// renew prolongs the leases that are not fresh.
func (s *Service) renew(ctx context.Context) error {
	leased := s.ageing()
	for first := 0; first == 0 || first < len(leased); first += renewBatch { // once at least: that it can be written is news too
		batch := leased[first:min(first+renewBatch, len(leased))]
		asked := s.world.Clock.Now()
		var kept []queue.Item
		if err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			kept, err = queue.Keep(tx, s.config.Node, batch, leaseFor)
			return err
		}); err != nil {
			return err
		}
		s.sure(kept, asked)
	}
	return nil
}

// renewUntil renews leases at once, and again until the context ends.
func (s *Service) renewUntil(ctx context.Context) {
	for {
		if err := s.renew(ctx); err != nil && ctx.Err() == nil {
			s.world.Log.Error("leases could not be renewed", "error", err)
		}
		again, stop := s.world.Clock.After(freshFor)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-again:
		}
	}
}

// errLeaseOver keeps a message from being sent that another node may be sending: this one slept, or could not renew its leases.
var errLeaseOver = errors.New("the lease of the message has run out")

// sure notes that the items are ours for the time of a lease after the moment before they were written.
func (s *Service) sure(items []queue.Item, asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range items {
		if h := s.held[item.ID]; h != nil {
			h.sureUntil = asked.Add(leaseFor)
		}
	}
}

// errCalledBack keeps a message from being sent whose sender cancelled it while the conversation was held.
var errCalledBack = errors.New("the message was called back")

// permit is asked at the last moment before a server has the message.
func (t *talk) permit() error {
	s := t.service
	if s.emails.IsCalledBack(t.job.taken.Email) {
		return errCalledBack
	}
	if s.config.Inline { // nothing renews leases while a conversation is held
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, until := s.world.Clock.Now().Add(s.behind()), t.job.held.sureUntil
	// A machine that slept knows it by its calendar only, and one whose calendar was set back by its stopwatch only (package time has both).
	if !now.Before(until) || !now.Round(0).Before(until) {
		return errLeaseOver
	}
	return nil
}

// inTime tells whether this node's clock is right enough for leases.
func (s *Service) inTime() bool { return s.config.Nodes == nil || s.config.Nodes.InTime() }

// behind is by how much leases of this node end earlier for the others, because its clock is behind theirs.
func (s *Service) behind() time.Duration {
	if s.config.Nodes == nil {
		return 0
	}
	return s.config.Nodes.Behind()
}

// mayRelease tells whether leases of others that have run out may be taken for abandoned. If this node could not renew its own
// for as long, because the database was away or the machine slept, the others may not have been able to either; they get the
// time of a lease to do so. Otherwise mail that they have sent and not yet written down would be sent again.
func (s *Service) mayRelease() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.world.Clock.Now().Round(0) // by the calendar, as leases are judged
	setBack := s.releaseFrom.Sub(now) > leaseFor
	if now.Sub(s.renewedAt) > leaseFor || setBack || !s.inTime() {
		s.releaseFrom = now.Add(leaseFor)
	}
	s.renewedAt = now
	return !now.Before(s.releaseFrom)
}

// freshFor is how long a lease that was just written is left alone. Most mail leaves meanwhile, and what does not has two more chances to
// keep its lease.
const freshFor = renewEvery / 2

// ageing are the items whose leases are not fresh.
func (s *Service) ageing() []queue.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	soon := s.world.Clock.Now().Add(leaseFor - freshFor)
	var items []queue.Item
	for _, h := range s.held {
		if h.sureUntil.Before(soon) {
			items = append(items, h.due.Item)
		}
	}
	return items
}

// beginning sorts the items of jobs by whether their leases last for as long as a conversation takes, most likely, or have to be
// written again first. The caller holds mu.
func beginning(jobs []*job, now time.Time) (lasting, ageing []queue.Item) {
	soon := now.Add(leaseFor / 2)
	for _, j := range jobs {
		if j.held.sureUntil.Before(soon) {
			ageing = append(ageing, j.held.due.Item)
		} else {
			lasting = append(lasting, j.held.due.Item)
		}
	}
	return lasting, ageing
}

// keep returns the items of a step that are still ours; the leases of those that are ageing are prolonged.
func (s *Service) keep(tx *db.Tx, r *round) (ours []queue.Item, err error) {
	if len(r.lasting) > 0 {
		if ours, err = queue.Hold(tx, s.config.Node, r.lasting); err != nil {
			return nil, err
		}
	}
	if len(r.ageing) > 0 {
		if r.renewed, err = queue.Keep(tx, s.config.Node, r.ageing, leaseFor); err != nil {
			return nil, err
		}
	}
	return append(ours, r.renewed...), nil
}

// Drain lets conversations under way end, writes their outcomes down, and gives back what is left; nothing that waits has cost an
// attempt. Call it once no step runs any more.
func (s *Service) Drain(ctx context.Context) error {
	s.mu.Lock()
	for id := range s.connections {
		s.release(id)
	}
	s.mu.Unlock()
	s.awaitEnd(ctx)
	s.mu.Lock()
	outcomes := s.ended()
	s.mu.Unlock()
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer done()
	if err := s.db.Write(writing, func(tx *db.Tx) error {
		if err := s.settle(tx, outcomes); err != nil {
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

// awaitEnd returns when nothing is under way any more. While attempts are, it renews leases, which no worker does now: another node would
// send again what a server has and is slow to answer.
func (s *Service) awaitEnd(ctx context.Context) {
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	underWay, over := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	s.mu.Lock()
	if s.talking > 0 {
		renewing.Go(func() { s.renewUntil(underWay) })
	}
	s.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
		s.world.Log.Warn("conversations cut off by shutdown; they may be held again")
		s.cutOff()
		<-ended
	}
	over()
	renewing.Wait()
}
