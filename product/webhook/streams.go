package webhook

import (
	"sync"

	"postrider/platform/space"
)

// streams counts what is open.
type streams struct {
	mu   sync.Mutex
	open map[space.ID]int // guarded by mu
}

func (s *streams) full(ws space.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[ws] >= maxStreams
}

// enter counts one more, unless the workspace has enough. Several may have been told at once that it had room.
func (s *streams) enter(ws space.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[space.ID]int{}
	}
	if s.open[ws] >= maxStreams {
		return false
	}
	s.open[ws]++
	return true
}

func (s *streams) leave(ws space.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[ws]--; s.open[ws] == 0 {
		delete(s.open, ws)
	}
}
