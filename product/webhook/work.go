package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// claimBatch bounds what one transaction claims.
	claimBatch = 200
	// leaseFor is short, so that endpoints of a node that vanished move soon; leases are renewed well before they end.
	leaseFor   = 30 * time.Second
	renewEvery = 10 * time.Second
	// restFor is how long an endpoint for which nothing waits is left alone; news of it wakes it earlier.
	restFor = time.Hour
	// idleLook is how often the queue is looked at even if nobody announces work.
	idleLook = 5 * time.Second
	// sweepEvery is how long what has expired may lie around, sweepBatch how much of it one transaction removes.
	sweepEvery = 10 * time.Minute
	sweepBatch = 200
)

// Workers returns what has to run on a node that posts.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "webhooks", Step: s.Step, Topics: []string{Lane.Topic()}, Wake: s.wake, Every: idleLook, Next: s.next},
		{Name: "webhook leases", Step: s.renewLeases, Every: renewEvery},
		{Name: "webhook notices", Step: s.postNotices, Topics: []string{NoticeLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(NoticeLane)},
		{Name: "webhook cancel", Step: s.cancelNext, Topics: []string{CancelLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(CancelLane)},
		{Name: "webhook sweep", Step: s.sweep, Every: sweepEvery, Gentle: true},
	}
}

// Step settles posts that are done, looks after the lines of this process, claims endpoints that are due, and begins new posts.
func (s *Service) Step(ctx context.Context) (bool, error) {
	if err := s.holder.Resume(ctx); err != nil {
		return false, err
	}
	claims, err := s.turn(ctx)
	if err != nil {
		return false, err
	}
	jobs := s.desk.begin(s.world.Clock.Now())
	for _, j := range jobs {
		if s.config.Inline {
			s.desk.finish(s.post(ctx, j), s.world.Clock.Now())
			continue
		}
		// A post outlives the step and even a shutdown's first signal: see Drain.
		s.running.Go(func() { s.run(context.WithoutCancel(ctx), j) })
	}
	return claims > 0 || s.config.Inline && len(jobs) > 0, nil
}

// run posts a job, and then the next ones of its line as long as there are any: posting does not wait for the database.
func (s *Service) run(ctx context.Context, j job) {
	for more := true; more; {
		s.desk.finish(s.post(ctx, j), s.world.Clock.Now())
		j, more = s.desk.nextOf(j.delivery.Webhook, s.world.Clock.Now())
		s.nudge()
	}
}

func (s *Service) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// doubt makes this process read an endpoint again before it posts anything else to it.
func (s *Service) doubt(id ID) {
	s.desk.doubt(id)
	s.nudge()
}

// turn is the transaction of a step: settle, look, claim. It returns how many endpoints were claimed.
func (s *Service) turn(ctx context.Context) (int, error) {
	now := s.world.Clock.Now()
	outcomes, looks := s.desk.collect(now)
	room := s.desk.room()
	if len(outcomes) == 0 && len(looks) == 0 && len(s.doubtful) == 0 {
		if due, err := s.holder.IsDue(ctx, Lane); err != nil || room <= 0 || !due {
			return 0, err
		}
	}
	var lines []seen
	var claimed []queue.Item
	lease := s.holder.Lease(leaseFor)
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		claimed = nil
		if err := queue.ReleaseClaims(tx, s.holder.Name, s.doubtful...); err != nil {
			return err
		}
		if lines, err = s.settleAndLook(tx, outcomes, looks); err != nil {
			return err
		}
		// Claims come last: a claim waits for nobody, and nothing after it does, so no two transactions wait for each other.
		if room > 0 {
			claimed, err = queue.Claim(tx, Lane, lease, room)
		}
		return err
	})
	if err != nil {
		s.desk.putBack(outcomes)
		s.doubtful = append(s.doubtful, lease.Token)
		return 0, fmt.Errorf("settle %d webhook posts: %w", len(outcomes), err)
	}
	s.doubtful = nil
	s.desk.apply(outcomes, lines, claimed, now)
	return len(claimed), nil
}

// next returns when there is something to do for Step.
func (s *Service) next(ctx context.Context) (time.Time, bool, error) {
	due, ok, err := s.holder.NextIn(Lane)(ctx)
	if at, some := s.desk.nextLook(s.world.Clock.Now()); some && (!ok || at.Before(due)) {
		due, ok = at, true
	}
	return due, ok, err
}

// renewLeases keeps the endpoints of this node, and frees those of nodes that vanished.
func (s *Service) renewLeases(ctx context.Context) (bool, error) {
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		if err := queue.Renew(tx, s.holder.Name, leaseFor); err != nil {
			return err
		}
		freed, err := queue.ReleaseExpired(tx)
		if freed > 0 {
			tx.Wake(Lane.Topic())
		}
		return err
	})
}

func (s *Service) sweep(ctx context.Context) (bool, error) {
	var removed int64
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		removed, err = deleteExpired(tx, sweepBatch)
		return err
	})
	return removed == sweepBatch, err
}

// Drain lets posts under way end, writes their outcomes down, and gives back what is left. Call it once no step runs any more.
func (s *Service) Drain(ctx context.Context) error {
	s.desk.close()
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		s.world.Log.Warn("webhook posts cut off by shutdown; they may be made again")
	}
	s.client.Close()
	outcomes, _ := s.desk.collect(s.world.Clock.Now())
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer done()
	err := s.db.Write(writing, func(tx *db.Tx) error {
		_, settled := s.settleAndLook(tx, outcomes, nil)
		_, released := queue.ReleaseOwner(tx, s.holder.Name)
		return errors.Join(settled, released)
	})
	if err != nil {
		return fmt.Errorf("settle webhook posts at shutdown: %w", err)
	}
	return nil
}
