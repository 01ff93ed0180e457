package delivery

import (
	"context"
	"time"
)

// gatherFor is the least time between the beginnings of two steps while most conversations go on. It is little beside a conversation
// with a server that is not next door.
const gatherFor = 20 * time.Millisecond

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
