package custody

import (
	"context"
	"sync"
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/world"
)

const (
	// LookEvery is how often a store is looked at.
	LookEvery = time.Hour
	// aloneFor is how long a store must have been ours, by what this process has seen, before anything is removed. A copy that is so young
	// that it knows the newest sign is noticed by the original within LookEvery, and must not have removed anything by then.
	aloneFor = 2 * LookEvery
)

// Sweeper removes what nobody refers to from a store, as long as nobody else does so.
type Sweeper struct {
	world world.World
	db    *db.DB
	store blob.Store

	mu        sync.Mutex
	since     time.Time // guarded by mu; since when every look has found the store to be ours, zero if the last has not
	contested bool      // guarded by mu; what the last look has found
}

// NewSweeper returns the sweeper of a store for a database.
func NewSweeper(w world.World, d *db.DB, store blob.Store) *Sweeper {
	return &Sweeper{world: w, db: d, store: store}
}

// Sweep is blob.Sweep for a store that may be claimed by others: it begins aloneFor after the first look, and ends with ErrContested as
// soon as somebody else has signed the store.
func (s *Sweeper) Sweep(ctx context.Context, olderThan time.Time, referenced func(context.Context, []blob.Ref) (map[blob.Ref]bool, error)) (removed int, err error) {
	if err := s.look(ctx); err != nil {
		return 0, err
	}
	if err := Claim(ctx, s.world, s.db, s.store); err != nil {
		return 0, err
	}
	s.mu.Lock()
	now := s.world.Clock.Now()
	if s.since.IsZero() {
		s.since = now
	}
	waiting := now.Sub(s.since) < aloneFor
	s.mu.Unlock()
	if waiting {
		return 0, nil
	}
	return blob.Sweep(ctx, s.store, olderThan, func(ctx context.Context, refs []blob.Ref) (map[blob.Ref]bool, error) {
		used, err := referenced(ctx, refs)
		if err == nil {
			err = s.look(ctx)
		}
		return used, err
	})
}

// Contested tells whether the last look has found the sign of another database.
func (s *Sweeper) Contested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contested
}

// look finds out whether the store is ours, and tells the other if it is not.
func (s *Sweeper) look(ctx context.Context) error {
	sign, known, err := read(ctx, s.db, s.store)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.contested = !known
	if !known {
		s.since = time.Time{}
	}
	s.mu.Unlock()
	if known {
		return nil
	}
	if sign != contested {
		if err := s.store.SetSign(ctx, contested); err != nil {
			return err
		}
	}
	return ErrContested
}
