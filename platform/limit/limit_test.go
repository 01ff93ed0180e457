package limit_test

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postrider/platform/limit"
	"postrider/world"
)

var tenPerSecond = limit.Rate{Per: time.Second, Count: 10, Burst: 20}

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(time.Duration) (<-chan time.Time, func()) { panic("a limiter never waits") }

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestABurstIsAllowedAndThenTheRate(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := limit.New(c, 100)
	for i := range 20 {
		want := limit.Decision{Allowed: true, Limit: 20, Remaining: 19 - i, Reset: time.Duration(i+1) * 100 * time.Millisecond}
		if d := l.Take("a", tenPerSecond); d != want {
			t.Fatalf("request %d of the burst: %+v, want %+v", i+1, d, want)
		}
	}

	denied := limit.Decision{Limit: 20, Reset: 2 * time.Second, RetryAfter: 100 * time.Millisecond}
	if d := l.Take("a", tenPerSecond); d != denied {
		t.Fatalf("after the burst: %+v, want %+v", d, denied)
	}
	c.move(99 * time.Millisecond)
	if d := l.Take("a", tenPerSecond); d.Allowed || d.RetryAfter != time.Millisecond {
		t.Fatalf("a millisecond early: %+v", d)
	}
	c.move(time.Millisecond)
	if d := l.Take("a", tenPerSecond); !d.Allowed {
		t.Fatalf("after the wait: %+v", d)
	}
}

func TestKeysDoNotShareABucket(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock(), 100)
	once := limit.Rate{Per: time.Hour, Count: 1}

	first, second := l.Take("a", once), l.Take("b", once)

	if !first.Allowed || !second.Allowed || l.Take("a", once).Allowed {
		t.Fatal("each key should be allowed exactly once")
	}
}

func TestWaitingAsToldIsEnough(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := limit.New(c, 100)
	third := limit.Rate{Per: time.Second, Count: 3, Burst: 1} // an interval that is no whole number
	for i := range 100 {
		if d := l.Take("a", third); !d.Allowed {
			t.Fatalf("request %d: %+v", i, d)
		}
		d := l.Take("a", third)
		if d.Allowed || d.RetryAfter <= 0 {
			t.Fatalf("request %d at once after: %+v", i, d)
		}
		c.move(d.RetryAfter)
	}
}

func TestPeekTakesNothing(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock(), 100)
	l.Take("a", tenPerSecond)

	first, second := l.Peek("a", tenPerSecond), l.Peek("a", tenPerSecond)

	if first != second || first.Remaining != 19 || !first.Allowed {
		t.Fatalf("peeked %+v, then %+v", first, second)
	}
}

func TestWhatIsGivenBackCanBeTakenAgainButNoMore(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock(), 100)
	once := limit.Rate{Per: time.Hour, Count: 1}
	l.Take("a", once)

	l.GiveBack("a", once)
	l.GiveBack("a", once)
	l.GiveBack("never seen", once)

	if !l.Take("a", once).Allowed {
		t.Fatal("nothing was given back")
	}
	if l.Take("a", once).Allowed {
		t.Fatal("a bucket of one held two")
	}
}

func TestARateOfNothingAllowsNothing(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock(), 100)
	for _, rate := range []limit.Rate{{}, {Per: time.Minute}, {Count: 1}, {Per: time.Minute, Count: -1}, {Per: time.Minute, Count: 1, Burst: -1}} {
		if d := l.Take("a", rate); d.Allowed || d.RetryAfter <= 0 {
			t.Errorf("%+v: %+v", rate, d)
		}
		l.GiveBack("a", rate)
	}
}

func TestExtremeRatesDoNotOverflow(t *testing.T) {
	t.Parallel()
	const huge = 1<<63 - 1
	for _, rate := range []limit.Rate{
		{Per: huge, Count: 1, Burst: huge},
		{Per: 1, Count: huge, Burst: huge},
		{Per: huge, Count: huge, Burst: 1},
		{Per: time.Hour, Count: 1, Burst: huge},
	} {
		d := limit.New(newClock(), 100).Take("a", rate)
		if !d.Allowed || d.Remaining != d.Limit-1 || d.Limit < 1 || d.Reset <= 0 {
			t.Errorf("%+v: %+v", rate, d)
		}
	}
}

func TestAClockSetBackLocksNobodyOut(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := limit.New(c, 100)
	c.move(time.Hour)
	l.Take("a", tenPerSecond)

	c.move(-time.Hour)
	d := l.Take("a", tenPerSecond)
	c.move(d.RetryAfter)

	if d.RetryAfter > 100*time.Millisecond || !l.Take("a", tenPerSecond).Allowed {
		t.Fatalf("after the clock was set back: %+v", d)
	}
}

func TestParallelRequestsNeverGetMoreThanTheBucketHolds(t *testing.T) {
	t.Parallel()
	l := limit.New(newClock(), 100)
	var allowed atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 10 {
				if l.Take("a", tenPerSecond).Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	all.Wait()

	if allowed.Load() != 20 {
		t.Fatalf("%d allowed, want 20", allowed.Load())
	}
}

func BenchmarkTake(b *testing.B) {
	l := limit.New(world.SystemClock{}, 1<<20)
	keys := make([]string, 1<<16)
	for i := range keys {
		keys[i] = "read/019a8473-2f5e-7c31-9d4b-" + strconv.Itoa(100_000_000_000+i)
	}
	for i := 0; b.Loop(); i++ {
		l.Take(keys[i%len(keys)], tenPerSecond)
	}
}

func BenchmarkTakeWhenFull(b *testing.B) {
	l := limit.New(world.SystemClock{}, 1<<12)
	keys := make([]string, 1<<16)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	for i := 0; b.Loop(); i++ {
		l.Take(keys[i%len(keys)], tenPerSecond)
	}
}

// hurried is a clock that goes on a second whenever it is looked at, and lets others go first then.
type hurried struct{ *clock }

func (h hurried) Now() time.Time {
	h.move(time.Second)
	now := h.clock.Now()
	runtime.Gosched()
	return now
}

func TestWhoWaitsForAnotherIsCountedWhenItIsTheirTurn(t *testing.T) {
	t.Parallel()
	l := limit.New(hurried{newClock()}, 10)
	var refused atomic.Int64
	var all sync.WaitGroup
	for range 1000 { // each has a second for itself
		all.Go(func() {
			if !l.Take("a", limit.Rate{Per: time.Second, Count: 1, Burst: 2}).Allowed {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("%d of 1000 were refused", n)
	}
}
