package automation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/inbound"
)

const (
	// claimBatch bounds what one transaction moves on.
	claimBatch = 100
	// leaseFor outlives the longest answer of a server; leases are renewed well before they end.
	leaseFor   = time.Minute
	renewEvery = 15 * time.Second
	// idleLook is how often the queue is looked at even if nobody announces work.
	idleLook = 5 * time.Second
	// maxStrikes is how often a run may break a transaction before it is given up.
	maxStrikes = 3
	// keepRuns is how long a run that has ended can be looked at: it holds what events said of people.
	keepRuns   = 90 * 24 * time.Hour
	sweepEvery = 10 * time.Minute
	sweepBatch = 200
)

// desk is where outcomes of outside steps wait to be written down.
type desk struct {
	mu       sync.Mutex
	outcomes []outcome      // guarded by mu
	strikes  map[string]int // guarded by mu; how often a run broke a transaction of its own
	careful  bool           // guarded by mu; a batch broke, so runs go one by one
}

func (d *desk) add(o ...outcome) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.outcomes = append(d.outcomes, o...)
}

// collect takes outcomes to be written, and says how many runs may be claimed beside them.
func (d *desk) collect() (outcomes []outcome, room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	most := claimBatch
	if d.careful {
		most = 1
	}
	n := min(len(d.outcomes), most)
	outcomes = append(outcomes, d.outcomes[:n]...)
	d.outcomes = append([]outcome(nil), d.outcomes[n:]...)
	return outcomes, most - n
}

// strike notes that a turn broke, and tells whether the run that it was about has broken too many.
func (d *desk) strike(ids []string) (given string, up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.careful = true
	if len(ids) != 1 {
		return "", false
	}
	if d.strikes == nil {
		d.strikes = map[string]int{}
	}
	d.strikes[ids[0]]++
	return ids[0], d.strikes[ids[0]] >= maxStrikes
}

// calm notes that a turn went well.
func (d *desk) calm(worked bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if worked {
		d.careful, d.strikes = false, nil
	}
}

// Workers returns what has to run on a node that runs automations.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "automations", Step: s.Step, Topics: []string{Lane.Topic()}, Wake: s.wake, Every: idleLook, Next: s.holder.NextIn(Lane)},
		{Name: "automation schedules", Step: s.stepSchedules, Topics: []string{ScheduleLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(ScheduleLane)},
		{Name: "automation watches", Step: s.stepWatches, Topics: []string{WatchLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(WatchLane)},
		{Name: "automation deleted mail", Step: s.stepDeleted, Topics: []string{inbound.DeletedLane.Topic()}, Every: idleLook, Next: s.holder.NextIn(inbound.DeletedLane)},
		{Name: "automation leases", Step: s.renewLeases, Every: renewEvery},
		{Name: "automation sweep", Step: s.sweep, Every: sweepEvery},
	}
}

// renewLeases keeps the runs of this node, and frees those of nodes that vanished.
func (s *Service) renewLeases(ctx context.Context) (bool, error) {
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		if err := queue.Renew(tx, s.holder.Name, leaseFor); err != nil {
			return err
		}
		freed, err := queue.ReleaseExpiredOf(tx, Lane)
		if freed > 0 {
			tx.Wake(Lane.Topic())
		}
		return err
	})
}

// sweep forgets runs that ended long ago. The counts keep them.
func (s *Service) sweep(ctx context.Context) (bool, error) {
	var swept int
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		ids, err := selectOld(tx, tx.Now().Add(-keepRuns), sweepBatch)
		if swept = len(ids); err != nil || swept == 0 {
			return err
		}
		return deleteRuns(tx, ids)
	})
	return swept == sweepBatch, err
}

// Step writes down what became of outside steps, moves due runs on, and begins the outside steps they come to.
func (s *Service) Step(ctx context.Context) (bool, error) {
	if err := s.holder.Resume(ctx); err != nil {
		return false, err
	}
	outcomes, room := s.desk.collect()
	room = min(room, cap(s.room)-len(s.room))
	if len(outcomes) == 0 && len(s.doubtful) == 0 {
		if due, err := s.holder.IsDue(ctx, Lane); err != nil || room <= 0 || !due {
			return false, err
		}
	}
	jobs, worked, err := s.turn(ctx, outcomes, room)
	if err != nil {
		return false, err
	}
	for _, j := range jobs {
		if s.config.Inline {
			s.desk.add(s.perform(ctx, j))
			continue
		}
		s.room <- struct{}{} // the turn has claimed no more than there is room for
		// A step outlives the turn and even a shutdown's first signal: see Drain.
		s.running.Go(func() {
			s.desk.add(s.perform(context.WithoutCancel(ctx), j))
			<-s.room
			s.nudge()
		})
	}
	return worked, nil
}

func (s *Service) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// perform does an outside step.
func (s *Service) perform(ctx context.Context, j job) outcome {
	if j.mail != nil {
		return s.hand(ctx, j)
	}
	return s.ask(ctx, j)
}

// turn is the transaction of a step: settle, claim, move on.
func (s *Service) turn(ctx context.Context, outcomes []outcome, room int) (jobs []job, worked bool, err error) {
	var t *turn
	var touched []string
	lease := s.holder.Lease(leaseFor)
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		t, touched = s.newTurn(tx), nil
		if err := queue.ReleaseClaims(tx, s.holder.Name, s.doubtful...); err != nil {
			return err
		}
		items, err := queue.Claim(tx, Lane, lease, room)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			touched = append(touched, o.item.ID)
		}
		for _, item := range items {
			touched = append(touched, item.ID)
		}
		if len(touched) == 0 {
			return nil
		}
		runs, err := lockRuns(tx, touched)
		if err != nil {
			return err
		}
		if err := t.endStopped(runs); err != nil {
			return err
		}
		for _, o := range outcomes {
			if err := t.settle(o, runs[RunID(o.item.ID)]); err != nil {
				return fmt.Errorf("settle run %s: %w", o.item.ID, err)
			}
		}
		for _, item := range items {
			r := runs[RunID(item.ID)]
			if r == nil || r.Status != Running {
				t.done = append(t.done, item.ID)
				continue
			}
			if err := t.advance(item, r); err != nil {
				return fmt.Errorf("advance run %s: %w", r.ID, err)
			}
		}
		return t.save()
	})
	if err != nil {
		s.desk.add(outcomes...)
		s.doubtful = append(s.doubtful, lease.Token)
		return nil, false, errors.Join(err, s.giveUp(ctx, err, touched))
	}
	s.doubtful = nil
	s.desk.calm(len(touched) > 0)
	return t.jobs, len(touched) > 0, nil
}

// giveUp fails a run that breaks every transaction it is part of, so that it does not stand in the way of others.
func (s *Service) giveUp(ctx context.Context, cause error, touched []string) error {
	if errors.Is(cause, db.ErrUnavailable) || ctx.Err() != nil {
		return nil
	}
	id, up := s.desk.strike(touched)
	if !up {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error {
		runs, err := lockRuns(tx, []string{id})
		if err != nil {
			return err
		}
		r := runs[RunID(id)]
		if r == nil || r.Status != Running {
			return queue.Finish(tx, id)
		}
		t := s.newTurn(tx)
		t.failRun(r, internalError, "Something went wrong on our side.")
		if err := t.put(queue.Item{ID: id}, r); err != nil {
			return err
		}
		return t.save()
	})
}

// Drain lets outside steps under way end, writes down what became of them, and gives back what is left. Call it once no step runs
// any more.
func (s *Service) Drain(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		s.world.Log.Warn("steps of automations cut off by shutdown; they will be done again under the same keys")
	}
	s.client.Close()
	writing, done := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
	defer done()
	for outcomes, _ := s.desk.collect(); len(outcomes) > 0; outcomes, _ = s.desk.collect() {
		if _, _, err := s.turn(writing, outcomes, 0); err != nil {
			return fmt.Errorf("settle automations at shutdown: %w", err)
		}
	}
	return s.holder.GiveBack(writing)
}
