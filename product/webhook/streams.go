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

func (s *streams) enter(ws space.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[space.ID]int{}
	}
	s.open[ws]++
}

func (s *streams) leave(ws space.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[ws]--; s.open[ws] == 0 {
		delete(s.open, ws)
	}
}
