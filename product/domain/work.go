package domain

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// checkLane is the queue of domains whose DNS is to be looked at again.
	checkLane queue.Lane = "domain_check"
	// firstCheck is when a new domain is looked at by itself: its owner is at the registrar right now.
	firstCheck = 5 * time.Minute
	// checkJitter spreads the checks, so that domains registered together are not looked at together for ever.
	checkJitter = 0.2
	checkBatch  = 20
	checkLease  = time.Minute
)

// checkAfter is how long to wait before the next look: shorter while an owner is likely to be at work.
func (d Domain) checkAfter(now time.Time) time.Duration {
	age := now.Sub(d.CreatedAt)
	switch {
	case d.Verified && d.FailedRounds > 0:
		return 2 * time.Hour
	case d.Verified:
		return 6 * time.Hour
	case age < time.Hour:
		return firstCheck
	case age < 24*time.Hour:
		return 30 * time.Minute
	case age < giveUpAfter:
		return 2 * time.Hour
	}
	return 24 * time.Hour
}

func checkItem(d Domain) queue.Item {
	return queue.Item{ID: string(d.ID), Lane: checkLane, Rank: queue.Normal, Due: d.NextCheckAt, Payload: string(d.Workspace)}
}

// Workers returns the re-checks.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{{Name: "domain checks", Step: s.checkDue, Topics: []string{checkLane.Topic()}, Every: time.Minute, Next: s.holder.NextIn(checkLane)}}
}

// checkDue looks at the domains that are due, a few at a time.
func (s *Service) checkDue(ctx context.Context) (bool, error) {
	if due, err := s.holder.IsDue(ctx, checkLane); err != nil || !due {
		return false, err
	}
	var items []queue.Item
	var domains []Domain
	lease := s.holder.Lease(checkLease)
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if items, err = queue.Claim(tx, checkLane, lease, checkBatch); err != nil {
			return err
		}
		domains, err = s.claimed(tx, items)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim domain checks: %w", err)
	}
	seen := make([]sight, len(domains))
	looking, done := context.WithTimeout(ctx, checkBudget)
	defer done()
	var all sync.WaitGroup
	for i, d := range domains {
		all.Go(func() { seen[i] = s.look(looking, d) })
	}
	all.Wait()
	var failed []error
	for i, d := range domains {
		if err := s.settleDue(ctx, items, seen[i]); err != nil {
			failed = append(failed, fmt.Errorf("settle check of %s: %w", d.Name, err)) // its lease ends; the others are settled
		}
		s.Forget(d)
	}
	return len(items) > 0, errors.Join(failed...)
}

// claimed loads the domains of items; an item whose domain has gone goes too.
func (s *Service) claimed(tx *db.Tx, items []queue.Item) ([]Domain, error) {
	ids := make([]ID, len(items))
	for i, item := range items {
		ids[i] = ID(item.ID)
	}
	domains, err := selectByIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, d := range domains {
		found[string(d.ID)] = true
	}
	for _, item := range items {
		if !found[item.ID] {
			if err := queue.Finish(tx, item.ID); err != nil {
				return nil, err
			}
		}
	}
	return domains, loadAllKeys(tx, domains)
}

func (s *Service) settleDue(ctx context.Context, items []queue.Item, seen sight) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error { return s.settleItem(tx, items, seen) })
	if errors.Is(err, db.ErrUnique) { // another workspace was faster; look again later, it may let go
		seen.checks = uncheckedAll()
		return s.db.Write(ctx, func(tx *db.Tx) error { return s.settleItem(tx, items, seen) })
	}
	return err
}

func (s *Service) settleItem(tx *db.Tx, items []queue.Item, seen sight) error {
	for _, item := range items {
		if item.ID != string(seen.domain.ID) {
			continue
		}
		found, err := selectByIDs(tx, []ID{seen.domain.ID})
		if err != nil || len(found) == 0 {
			return err // removed meanwhile, and its item with it
		}
		d, err := lockDomain(tx, found[0].Workspace, seen.domain.ID)
		if err != nil {
			return err
		}
		if err := s.settle(tx, &d, seen); err != nil {
			return err
		}
		_, err = queue.Postpone(tx, item, d.NextCheckAt)
		return err
	}
	return nil
}
