package world

import (
	"os"
	"strings"
	"sync"
	"time"
)

// SystemClock is the machine's own clock.
type SystemClock struct{}

// Now returns the machine's time in UTC.
func (SystemClock) Now() time.Time { return time.Now().UTC() }

// After waits on a timer of the machine.
func (SystemClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// offsetPollEvery is how often an OffsetClock looks at its file, and so how late a jump of the clock can be noticed.
const offsetPollEvery = 100 * time.Millisecond

// OffsetClock is the machine's clock moved by an offset that a file names ("+26h"). Tests of a running process use it to
// see tomorrow without waiting for it.
type OffsetClock struct {
	path string

	mu     sync.Mutex
	readAt time.Time     // guarded by mu
	offset time.Duration // guarded by mu
}

// NewOffsetClock returns a clock that follows the offset in the file at path. A missing or unreadable file means no offset.
func NewOffsetClock(path string) *OffsetClock { return &OffsetClock{path: path} }

// Now returns the machine's time plus the offset that the file named at most 100 ms ago.
func (c *OffsetClock) Now() time.Time {
	now := time.Now().UTC()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.readAt) >= offsetPollEvery || c.readAt.IsZero() {
		c.readAt = now
		c.offset = readOffset(c.path, c.offset)
	}
	return now.Add(c.offset)
}

// After fires when the moved clock has advanced by d, so a jump of the offset wakes everyone it makes due.
func (c *OffsetClock) After(d time.Duration) (<-chan time.Time, func()) {
	fired := make(chan time.Time, 1)
	stop := make(chan struct{})
	due := c.Now().Add(d)
	go func() {
		for {
			wait := min(due.Sub(c.Now()), offsetPollEvery)
			if wait <= 0 {
				fired <- c.Now()
				return
			}
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-stop:
				t.Stop()
				return
			}
		}
	}()
	return fired, sync.OnceFunc(func() { close(stop) })
}

func readOffset(path string, last time.Duration) time.Duration {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	offset, err := time.ParseDuration(strings.TrimSpace(string(raw)))
	if err != nil {
		return last // half-written; the next look will see it whole
	}
	return offset
}
