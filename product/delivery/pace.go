package delivery

import (
	"context"
	"time"
)

const (
	// gatherFor is the least time between the beginnings of two steps while most conversations go on. It is little beside a conversation
	// with a server that is not next door.
	gatherFor = 40 * time.Millisecond
	// stepWithin is how long the transaction of a step may take. What is sent meanwhile waits to be recorded, and would be sent again if the
	// process were killed.
	stepWithin = 200 * time.Millisecond
	// firstBegun is how many conversations the first step begins: a process that is killed soon after every start sends few messages again.
	firstBegun = 5
	// fewestBegun and mostBegun bound how many a step begins later.
	fewestBegun = 25
	mostBegun   = 100
)

// gather waits a moment for more conversations to end: many that are settled in one transaction cost little more than one, and while
// they are, the next ones gather. Once half of them are over there is nothing to wait for, so that a few are never held up.
func (s *Service) gather(ctx context.Context) {
	if s.config.Inline {
		return
	}
	now := s.world.Clock.Now()
	if rest := s.stepAt.Sub(now); rest > 0 && rest <= gatherFor { // it is longer if the clock was put back
		over, stop := s.world.Clock.After(rest)
		defer stop()
		for waiting := true; waiting && !s.halfOver(); {
			select {
			case <-ctx.Done():
				waiting = false
			case <-over:
				waiting = false
			case <-s.wake:
			}
		}
	}
	s.stepAt = s.world.Clock.Now().Add(gatherFor)
}

func (s *Service) halfOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.finished) >= s.talking
}

// pace lets the next step begin fewer conversations if the database was slow, and more if it was not.
func (s *Service) pace(took time.Duration, begun int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case took > stepWithin:
		s.begins = max(s.begins/2, min(s.begins, fewestBegun))
	case begun == s.begins && took < stepWithin/2:
		s.begins = min(2*s.begins, mostBegun)
	}
}
