package domain

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// due is a domain to look at, and the item that says so.
type due struct {
	item   queue.Item
	domain Domain
}

// checkDue looks at the domains that are due, a few at a time.
func (s *Service) checkDue(ctx context.Context) (bool, error) {
	if waiting, err := s.holder.IsDue(ctx, checkLane); err != nil || !waiting {
		return false, err
	}
	var claimed []due
	var busy bool
	lease := s.holder.Lease(checkLease)
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		items, err := queue.Claim(tx, checkLane, lease, checkBatch)
		if err != nil {
			return err
		}
		busy = len(items) > 0
		claimed, err = loadDue(tx, items)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim domain checks: %w", err)
	}
	seen := make([]sight, len(claimed))
	looking, done := context.WithTimeout(ctx, checkBudget)
	defer done()
	var all sync.WaitGroup
	for i, c := range claimed {
		all.Go(func() { seen[i] = s.look(looking, c.domain) })
	}
	all.Wait()
	var failed []error
	for i, c := range claimed {
		if err := s.settleDue(ctx, c.item, seen[i]); err != nil {
			failed = append(failed, fmt.Errorf("settle check of %s: %w", c.domain.Name, err)) // its lease ends; the others are settled
		}
		s.Forget(c.domain)
	}
	return busy, errors.Join(failed...)
}

// loadDue loads the domains of items; an item whose domain has gone goes too.
func loadDue(tx *db.Tx, items []queue.Item) ([]due, error) {
	ids := make([]ID, len(items))
	for i, item := range items {
		ids[i] = ID(item.ID)
	}
	domains, err := selectByIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	if err := loadAllKeys(tx, domains); err != nil {
		return nil, err
	}
	var loaded []due
	for _, item := range items {
		at := slices.IndexFunc(domains, func(d Domain) bool { return string(d.ID) == item.ID })
		if at < 0 {
			if err := queue.Finish(tx, item.ID); err != nil {
				return nil, err
			}
			continue
		}
		loaded = append(loaded, due{item, domains[at]})
	}
	return loaded, nil
}

func (s *Service) settleDue(ctx context.Context, item queue.Item, seen sight) error {
	err := s.db.Write(ctx, func(tx *db.Tx) error { return s.settleItem(tx, item, seen) })
	if errors.Is(err, db.ErrUnique) { // another workspace was faster; look again later, it may let go
		seen.checks = uncheckedAll()
		return s.db.Write(ctx, func(tx *db.Tx) error { return s.settleItem(tx, item, seen) })
	}
	return err
}

func (s *Service) settleItem(tx *db.Tx, item queue.Item, seen sight) error {
	d, err := lockDomain(tx, seen.domain.Workspace, seen.domain.ID)
	if errors.Is(err, db.ErrNotFound) {
		return nil // removed meanwhile, and its item with it
	}
	if err != nil {
		return err
	}
	if err := s.settle(tx, &d, seen); err != nil {
		return err
	}
	_, err = queue.Postpone(tx, item, d.NextCheckAt)
	return err
}
