package apikey

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
)

const (
	// noteEvery is how often the last use of one key is written at most.
	noteEvery = time.Minute
	// noteSoon is how long the first use of a key may stay unseen.
	noteSoon = 5 * time.Second
	// noteBatch bounds the keys that one transaction writes.
	noteBatch = 500
)

// use is when and from where a key was last used.
type use struct {
	at        time.Time
	from      netip.Addr
	unwritten bool
	writtenAt time.Time
}

// uses collects the last uses of keys, so that requests do not wait for them to be written.
type uses struct {
	mu   sync.Mutex
	last map[ID]use // guarded by mu; at most one for every key that was used in the last minute
}

func newUses() *uses { return &uses{last: map[ID]use{}} }

func (u *uses) note(id ID, from netip.Addr, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last[id] = use{at: now, from: from, unwritten: true, writtenAt: u.last[id].writtenAt}
}

// take returns up to limit uses that are due to be written, and drops those of keys that rest.
func (u *uses) take(now time.Time, limit int) map[ID]use {
	u.mu.Lock()
	defer u.mu.Unlock()
	due := map[ID]use{}
	for id, last := range u.last {
		rested := now.Sub(last.writtenAt) >= noteEvery
		switch {
		case rested && !last.unwritten:
			delete(u.last, id)
		case rested && len(due) < limit:
			due[id] = last
			last.unwritten, last.writtenAt = false, now
			u.last[id] = last
		}
	}
	return due
}

// giveBack makes uses that could not be written due again.
func (u *uses) giveBack(due map[ID]use) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, taken := range due {
		last, ok := u.last[id]
		if !ok {
			last = taken
		}
		last.unwritten, last.writtenAt = true, taken.writtenAt
		u.last[id] = last
	}
}

// Workers returns what has to be done again and again: writing down when keys were last used.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{{Name: "apikey uses", Step: s.writeUses, Every: noteSoon}}
}

func (s *Service) writeUses(ctx context.Context) (bool, error) {
	due := s.uses.take(s.world.Clock.Now(), noteBatch)
	if len(due) == 0 {
		return false, nil
	}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(due)) { // in one order on every node, or they would block each other
			if err := updateUse(tx, id, due[id]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.uses.giveBack(due)
	}
	return len(due) == noteBatch, err
}
