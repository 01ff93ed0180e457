package broadcast

import (
	"context"
	"errors"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// lease outlives a step by far; a step is a few seconds of work.
	lease = 2 * time.Minute
	// stepPages is how many pages make a step.
	stepPages = 20
	// expandPage is how many recipients one transaction writes down.
	expandPage = 2000
	// retryAfter is how soon a broadcast goes on when the database or the store of files was away.
	retryAfter = 15 * time.Second
	// idleLook is how often the queue is looked at even if nobody announces work.
	idleLook = 5 * time.Second
)

// Workers returns what has to be done again and again.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "broadcasts", Step: s.Step, Topics: []string{Lane.Topic()}, Every: idleLook, Next: s.holder.NextIn(Lane)},
		{Name: "broadcast leases", Step: s.freeLeases, Every: lease / 2},
	}
}

// Step moves the broadcast on that has waited longest, by some pages. Every page is a transaction of its own and says in the rows it
// changes what it has done, so a crash between any two repeats nothing and loses nothing.
func (s *Service) Step(ctx context.Context) (bool, error) {
	if err := s.holder.Resume(ctx); err != nil {
		return false, err
	}
	items, err := s.holder.Claim(ctx, Lane, lease, 1)
	if err != nil || len(items) == 0 {
		return false, err
	}
	item, again := items[0], false
	for range stepPages {
		if again, err = s.advance(ctx, item); err != nil || !again {
			break
		}
	}
	if err != nil {
		s.world.Log.Error("broadcast interrupted", "broadcast", item.Payload, "tries", item.Claims, "error", err)
	}
	return true, s.settle(ctx, item, err != nil)
}

// freeLeases frees the broadcasts of nodes that vanished.
func (s *Service) freeLeases(ctx context.Context) (bool, error) {
	return false, s.db.Write(ctx, func(tx *db.Tx) error {
		freed, err := queue.ReleaseExpiredOf(tx, Lane)
		if freed > 0 {
			tx.Wake(Lane.Topic())
		}
		return err
	})
}

// settle ends the work of an item, or puts it off until there is more to do. It looks at the broadcast again: somebody may have
// resumed or cancelled it meanwhile.
func (s *Service) settle(ctx context.Context, item queue.Item, interrupted bool) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		found, err := lockForWork(tx, []ID{ID(item.Payload)})
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].work != item.ID || !found[0].hasWork() {
			return queue.Finish(tx, item.ID)
		}
		due := found[0].due(tx.Now())
		if interrupted && due.Before(tx.Now().Add(retryAfter)) {
			due = tx.Now().Add(retryAfter)
		}
		_, err = queue.Postpone(tx, item, due)
		return err
	})
}

// hasWork tells whether a worker has to do anything for the broadcast.
func (b Broadcast) hasWork() bool {
	switch b.Status {
	case Scheduled, Queued:
		return b.PausedAt.IsZero()
	case Sending:
		return b.PausedAt.IsZero() && b.HandedAt.IsZero()
	case Cancelled, Failed, deleting:
		return b.work != "" // rows are settled or deleted, and what waits in the mail queue is called back
	}
	return false
}

// due is when the worker has to look at the broadcast again.
func (b Broadcast) due(now time.Time) time.Time {
	switch {
	case b.Status == Scheduled && b.ScheduledAt.After(now):
		return b.ScheduledAt
	case b.Status == Sending && !b.ExpandedAt.IsZero():
		if b.nextAt.After(now) {
			now = b.nextAt
		}
		return b.Window.Next(now)
	}
	return now
}

// advance does one page of whatever is next, and tells whether there is more to do right away.
func (s *Service) advance(ctx context.Context, item queue.Item) (again bool, err error) {
	var b Broadcast
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		b, err = selectForWork(tx, ID(item.Payload))
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	now := s.world.Clock.Now()
	if err != nil || b.work != item.ID || !b.hasWork() || b.due(now).After(now) {
		return false, err
	}
	switch {
	case b.Status == Cancelled:
		return s.recall(ctx, b)
	case b.Status == deleting:
		return true, s.change(ctx, b, s.eraseSome)
	case b.Status == Failed:
		return true, s.change(ctx, b, s.settleFailed)
	case b.Status != Sending:
		return true, s.start(ctx, b)
	case b.ExpandedAt.IsZero():
		return true, s.expand(ctx, b)
	}
	return true, s.handOver(ctx, b)
}

// change lets alter change a broadcast that the worker still has to move on. One that somebody has stopped or taken over is left alone.
func (s *Service) change(ctx context.Context, seen Broadcast, alter func(tx *db.Tx, b *Broadcast) error) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		found, err := lockForWork(tx, []ID{seen.ID})
		if err != nil || len(found) == 0 {
			return err
		}
		b := found[0]
		if b.work != seen.work || b.Status != seen.Status || !b.hasWork() {
			return nil
		}
		if err := alter(tx, &b); err != nil {
			return err
		}
		b.UpdatedAt = tx.Now()
		return updateProgress(tx, b)
	})
}

// wake gives a broadcast a queue item of its own that is due at a time. An earlier one is stale from now on.
func (s *Service) wake(tx *db.Tx, b *Broadcast, due time.Time) error {
	if err := s.rest(tx, b); err != nil {
		return err
	}
	b.work = s.world.NewID()
	return queue.Add(tx, queue.Item{ID: b.work, Lane: Lane, Rank: queue.Normal, Due: due, Payload: string(b.ID)})
}

// rest takes the queue item of a broadcast away.
func (s *Service) rest(tx *db.Tx, b *Broadcast) error {
	if b.work == "" {
		return nil
	}
	id := b.work
	b.work = ""
	return queue.Finish(tx, id)
}
