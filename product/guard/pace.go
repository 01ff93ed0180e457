package guard

import (
	"context"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// knownFor is how long a process goes by what it has read of who is throttled.
	knownFor = 5 * time.Second
	// maxThrottled bounds the senders that are slowed at once.
	maxThrottled = 10_000
	// longestDelay is how far the mail of a throttled sender is spread. Whoever has more than that waiting has had a day to be
	// stopped for good, or to recover.
	longestDelay = 24 * time.Hour
)

// pacer hands out the times at which throttled senders may mail.
type pacer struct {
	mu     sync.Mutex
	hourly map[string]int64     // guarded by mu; of subjects that are throttled
	next   map[string]time.Time // guarded by mu; when the next mail of a subject may leave
	readAt time.Time            // guarded by mu
}

// Delay returns how long new mail to a number of recipients has to wait. It is nothing for whoever is not throttled. Each process
// keeps its own time, and forgets it when it stops: it slows, it does not count.
func (s *Service) Delay(ctx context.Context, ws space.ID, tenant string, recipients int) time.Duration {
	now := s.world.Clock.Now()
	if s.pace.stale(now) {
		s.readThrottled(ctx)
	}
	return s.pace.delay(now, recipients, tenant, string(ws))
}

// stale tells one caller that it is time to read again.
func (p *pacer) stale(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.readAt.IsZero() && now.Sub(p.readAt) < knownFor {
		return false
	}
	p.readAt = now
	return true
}

func (s *Service) readThrottled(ctx context.Context) {
	var list []slowed
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, err = selectThrottled(tx, maxThrottled)
		return err
	})
	if err != nil {
		s.world.Log.Warn("who is throttled could not be read", "error", err) // what was known still holds
		return
	}
	s.pace.mu.Lock()
	defer s.pace.mu.Unlock()
	before := s.pace.next
	s.pace.hourly, s.pace.next = make(map[string]int64, len(list)), make(map[string]time.Time, len(list))
	for _, one := range list {
		s.pace.hourly[one.subject] = one.hourly
		if at, ok := before[one.subject]; ok {
			s.pace.next[one.subject] = at
		}
	}
}

func (p *pacer) delay(now time.Time, recipients int, subjects ...string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var wait time.Duration
	for _, subject := range subjects {
		hourly := p.hourly[subject]
		if hourly == 0 {
			continue
		}
		at := p.next[subject]
		if at.Before(now) {
			at = now
		}
		wait = max(wait, at.Sub(now))
		at = at.Add(time.Duration(recipients) * time.Hour / time.Duration(hourly))
		p.next[subject] = at
	}
	return min(wait, longestDelay)
}
