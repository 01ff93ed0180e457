package domain

import (
	"context"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// receivingCache remembers whose mail is taken: another server asks for every recipient of every message.
type receivingCache struct {
	mu    sync.RWMutex
	names map[string]receivingName // guarded by mu
}

type receivingName struct {
	domain   Domain
	receives bool
	until    time.Time
}

// ForReceiving returns the domain that mail to the name is for, if it is taken at all. A change is seen within a second.
func (s *Service) ForReceiving(ctx context.Context, name string) (d Domain, receives bool, err error) {
	now := s.world.Clock.Now()
	s.receiving.mu.RLock()
	known, ok := s.receiving.names[name]
	s.receiving.mu.RUnlock()
	if ok && now.Before(known.until) {
		return known.domain, known.receives, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		d, receives, err = receiverOf(tx, name)
		return err
	})
	if err != nil {
		return Domain{}, false, err
	}
	s.receiving.mu.Lock()
	defer s.receiving.mu.Unlock()
	if s.receiving.names == nil || len(s.receiving.names) >= maxCached {
		s.receiving.names = map[string]receivingName{}
	}
	s.receiving.names[name] = receivingName{d, receives, now.Add(sendingFor)}
	return d, receives, nil
}

// receiverOf finds whose the mail to a name is. Whoever has proven the name decides, even that none is taken; one whose proof has lapsed goes on
// only while nobody else has any.
func receiverOf(tx *db.Tx, name string) (d Domain, receives bool, err error) {
	found, err := selectHolder(tx, name)
	if len(found) == 0 && err == nil {
		found, err = selectReceiving(tx, name)
	}
	if err != nil || len(found) == 0 || !found[0].Receiving {
		return Domain{}, false, err
	}
	return found[0], true, nil
}

// forgetReceiving makes a change of receiving seen at once in this process.
func (s *Service) forgetReceiving(name string) {
	s.receiving.mu.Lock()
	defer s.receiving.mu.Unlock()
	delete(s.receiving.names, name)
}

// OfWorkspace returns up to limit domains of a workspace, oldest first: those with the given ids, or all if there are none.
func (s *Service) OfWorkspace(tx *db.Tx, ws space.ID, ids []string, limit int) ([]Domain, error) {
	if len(ids) > 0 {
		return selectNamed(tx, ws, ids, limit)
	}
	return selectOfWorkspace(tx, ws, limit)
}

// Known tells whether some workspace has proven the name to be its own.
func (s *Service) Known(tx *db.Tx, name string) (bool, error) {
	holders, err := selectHolder(tx, name)
	return len(holders) > 0, err
}
