package limit

import (
	"strconv"
	"testing"
	"time"
)

type movedClock struct{ now time.Time }

func (c *movedClock) Now() time.Time                                 { return c.now }
func (c *movedClock) After(time.Duration) (<-chan time.Time, func()) { panic("a limiter never waits") }

func newMovedClock() *movedClock {
	return &movedClock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
}

func (l *Limiter) remembered() (entries, places int) {
	for i := range l.shards {
		entries += len(l.shards[i].entries)
		places += len(l.shards[i].places)
	}
	return entries, places
}

func TestNoMoreKeysThanToldAreRemembered(t *testing.T) {
	t.Parallel()
	rate := Rate{Per: time.Hour, Count: 5}
	for _, maxKeys := range []int{0, 1, 7, 256, 1000, 5000, 20_000} {
		l := New(newMovedClock(), maxKeys)
		for i := range 3*maxKeys + 10 {
			l.Take(strconv.Itoa(i), rate)
		}
		entries, places := l.remembered()
		if entries > max(maxKeys, 1) || entries != places {
			t.Errorf("at most %d keys: %d entries, %d places", maxKeys, entries, places)
		}
		if entries < maxKeys*8/10 {
			t.Errorf("at most %d keys: only %d used", maxKeys, entries)
		}
	}
}

func TestAFullBucketMakesRoomFirst(t *testing.T) {
	t.Parallel()
	clock := newMovedClock()
	l := New(clock, 3)
	slow, quick := Rate{Per: time.Hour, Count: 1}, Rate{Per: time.Second, Count: 1}
	l.Take("slow 1", slow)
	l.Take("quick", quick)
	l.Take("slow 2", slow)

	clock.now = clock.now.Add(time.Second) // "quick" is full again
	l.Take("new", slow)

	for _, key := range []string{"slow 1", "slow 2", "new"} {
		if l.Take(key, slow).Allowed {
			t.Errorf("%q was forgotten though another bucket was full", key)
		}
	}
}

func TestAFloodOfNewKeysDoesNotFreeOneThatIsHeldBack(t *testing.T) {
	t.Parallel()
	l := New(newMovedClock(), 100)
	rate := Rate{Per: time.Hour, Count: 10}
	for range 10 {
		l.Take("held back", rate)
	}

	for i := range 10_000 {
		l.Take("flood "+strconv.Itoa(i), rate)
	}

	if l.Take("held back", rate).Allowed {
		t.Fatal("a flood of other keys emptied the memory of an exhausted one")
	}
}

func TestADeniedOrPeekedKeyIsNotRemembered(t *testing.T) {
	t.Parallel()
	l := New(newMovedClock(), 100)

	l.Peek("a", Rate{Per: time.Second, Count: 1})
	l.GiveBack("b", Rate{Per: time.Second, Count: 1})
	l.Take("c", Rate{})

	if entries, _ := l.remembered(); entries != 0 {
		t.Fatalf("%d keys remembered for nothing", entries)
	}
}
