package logs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/world"
)

const (
	// maxNoted is how many entries wait in memory: those of two seconds under the highest load we promise.
	maxNoted = 10_000
	// maxNotedBytes bounds the bodies that wait; beyond, entries are kept without.
	maxNotedBytes = 16 << 20
	// writeEvery is how long an entry waits at least: one transaction for many costs the requests next to nothing.
	writeEvery = 250 * time.Millisecond
	// writeBatch bounds a transaction, for whose end mail that comes in waits on the embedded engine.
	writeBatch = 96
)

// note is an entry that has still to be made: whoever notes it has no time for that.
type note struct {
	workspace space.ID
	bytes     int64
	make      func(*Service) Entry
}

// Request notes a request. It never waits: if too many entries wait to be written, this one is lost, and counted.
func (s *Service) Request(f api.Finished) {
	if f.Caller.Workspace == "" || unremarkable(f) {
		return
	}
	size := int64(len(f.Body) + len(f.Answer))
	if s.notedBytes.Add(size) > maxNotedBytes {
		s.notedBytes.Add(-size)
		f.Body, f.Answer, size = nil, nil, 0
	}
	s.note(note{f.Caller.Workspace, size, func(s *Service) Entry { return s.newRequest(f) }})
}

// unremarkable requests are those by which the dashboard shows things: they would fill the tape while somebody looks at it.
func unremarkable(f api.Finished) bool {
	return f.Caller.KeyID == "" && (f.Method == "GET" || f.Method == "HEAD") && f.Status < 400
}

// Note notes something else that happened, and never waits either. The entry gets its id when it is written.
func (s *Service) Note(e Entry) {
	s.note(note{e.Workspace, 0, func(s *Service) Entry {
		e.CreatedAt = e.CreatedAt.Truncate(time.Microsecond)
		e.ID = s.newID(e.CreatedAt)
		e.words = wordsOf(e)
		return e
	}})
}

// newID returns an id of a moment: entries are kept in the order of their ids.
func (s *Service) newID(at time.Time) ID { return ID(world.IDAt(at, s.world.Random)) }

func (s *Service) note(n note) {
	select {
	case s.noted <- n:
	default:
		s.notedBytes.Add(-n.bytes)
		s.lost.add(n.workspace)
	}
}

// lost counts the entries of each workspace that found no room.
type lost struct {
	mu    sync.Mutex
	of    map[space.ID]int64 // guarded by mu
	total int64              // guarded by mu
}

func (l *lost) add(ws space.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[space.ID]int64{}
	}
	l.of[ws]++
	l.total++
}

func (l *lost) take() map[space.ID]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.of
	l.of = nil
	return of
}

// Lost returns how many entries this process could not keep since it started.
func (s *Service) Lost() int64 {
	s.lost.mu.Lock()
	defer s.lost.mu.Unlock()
	return s.lost.total
}

// Flush writes down everything that was noted until now.
func (s *Service) Flush(ctx context.Context) error {
	for {
		if more, err := s.write(ctx); err != nil || !more {
			return err
		}
	}
}

// write writes a batch of what was noted. What cannot be written now is tried again by the next step.
func (s *Service) write(ctx context.Context) (more bool, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	room := len(s.pending) < writeBatch // none while the last batch could not be written
	for len(s.pending) < writeBatch && len(s.noted) > 0 {
		n := <-s.noted
		s.notedBytes.Add(-n.bytes)
		s.pending = append(s.pending, n.make(s))
	}
	if room {
		s.confess()
	}
	if len(s.pending) == 0 {
		return false, nil
	}
	if err := s.assign(ctx, s.pending); err != nil {
		return false, fmt.Errorf("find whose mail %d log entries are about: %w", len(s.pending), err)
	}
	if err := s.db.Write(ctx, func(tx *db.Tx) error { return insertEntries(tx, s.pending) }); err != nil {
		return false, fmt.Errorf("write %d log entries: %w", len(s.pending), err)
	}
	s.pending = s.pending[:0]
	return len(s.noted) > 0, nil
}

// assign gives entries about mail its domain and its managed customer, by which they are looked for. They come before the entry of the
// mail, but after its first event, which is looked for here and not by the writer that everybody else waits for.
func (s *Service) assign(ctx context.Context, entries []Entry) error {
	about := map[mailKey][]*Entry{}
	var mails []string
	for i := range entries {
		if e := &entries[i]; e.Email != "" && e.Domain == "" {
			mail := mailKey{e.Workspace, e.Email}
			about[mail] = append(about[mail], e)
			mails = append(mails, e.Email)
		}
	}
	if len(mails) == 0 {
		return nil
	}
	return s.db.Glance(ctx, func(tx *db.Tx) error {
		owners, err := event.OwnersOf(tx, mails)
		for _, owner := range owners {
			for _, e := range about[mailKey{owner.Workspace, owner.Subject}] {
				e.Domain, e.Tenant = owner.Domain, owner.Tenant
			}
		}
		return err
	})
}

// confess adds an entry to the tape of each workspace that entries of were lost.
func (s *Service) confess() {
	now := s.world.Clock.Now().Truncate(time.Microsecond)
	for ws, count := range s.lost.take() {
		s.world.Log.Warn("log entries lost", "workspace", ws, "count", count)
		e := Entry{ID: s.newID(now), Workspace: ws, Kind: System, Level: Warning, CreatedAt: now,
			Message: fmt.Sprintf("%d log entries were lost because too many came at once.", count)}
		e.words = wordsOf(e)
		s.pending = append(s.pending, e)
	}
}
