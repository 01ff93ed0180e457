package certstore

import (
	"context"
	"fmt"
	"time"

	"postrider/platform/db"
)

const (
	// leaseFor is how long a lock outlives a process that died with it: others wait that long for their certificate.
	leaseFor = time.Minute
	// keepEvery is how often a living process says that it still holds a lock.
	keepEvery = 15 * time.Second
	// lookEvery is how often one that waits looks again.
	lookEvery = 250 * time.Millisecond
)

// lease is a lock that this process holds; stop ends the goroutine that keeps it, and is nil while the database is asked for it.
type lease struct {
	holder string
	stop   context.CancelFunc
}

// Lock waits until no node holds the lock, and takes it.
func (s *Store) Lock(ctx context.Context, name string) error {
	for {
		taken, err := s.TryLock(ctx, name)
		if err != nil || taken {
			return err
		}
		again, stop := s.world.Clock.After(lookEvery)
		select {
		case <-ctx.Done():
			stop()
			return ctx.Err()
		case <-again:
		}
	}
}

// TryLock takes the lock if no node holds it. What this process holds stays held until it is given up, even if the database has not heard
// of it for too long: Unlock knows a lock by its name only, and would give up that of the next.
func (s *Store) TryLock(ctx context.Context, name string) (bool, error) {
	holder, taken := s.world.NewID(), false
	s.mu.Lock()
	_, held := s.held[name]
	if !held {
		s.held[name] = lease{holder: holder} // nobody else here asks meanwhile
	}
	s.mu.Unlock()
	if held {
		return false, nil
	}
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		taken, err = takeLock(tx, name, holder)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || !taken {
		delete(s.held, name)
		return false, err
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.held[name] = lease{holder, stop}
	go s.keep(keeping, name, holder)
	return true, nil
}

// keep renews a lock until it is given up. One that was taken by others after a long silence is theirs.
func (s *Store) keep(ctx context.Context, name, holder string) {
	for {
		due, stop := s.world.Clock.After(keepEvery)
		select {
		case <-ctx.Done():
			stop()
			return
		case <-due:
		}
		var kept bool
		err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
			kept, err = keepLock(tx, name, holder)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.world.Log.Warn("lock on a certificate could not be kept", "lock", name, "error", err)
		case !kept:
			s.world.Log.Warn("lock on a certificate was lost", "lock", name)
			return
		}
	}
}

// Unlock gives a lock up.
func (s *Store) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	held := s.held[name]
	if held.stop != nil {
		delete(s.held, name)
	}
	s.mu.Unlock()
	if held.stop == nil {
		return fmt.Errorf("unlock %s: this process does not hold it", name)
	}
	held.stop()
	return s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return dropLock(tx, name, held.holder) })
}
