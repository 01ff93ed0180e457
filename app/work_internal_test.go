package app

import (
	"context"
	"slices"
	"testing"
	"time"

	"postrider/platform/queue"
	"postrider/world"
)

// steppingClock stands still but for what a step moves it by, and lets every rest end at once.
type steppingClock struct {
	now   time.Time
	rests []time.Duration
}

func (c *steppingClock) Now() time.Time { return c.now }

func (c *steppingClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.rests = append(c.rests, d)
	over := make(chan time.Time, 1)
	over <- c.now
	return over, func() {}
}

func TestAGentleWorkerRestsBetweenItsStepsAndOthersDoNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gentle bool
		took   time.Duration
		want   []time.Duration
	}{
		{true, 100 * time.Millisecond, []time.Duration{100 * time.Millisecond, time.Minute}},
		{true, time.Hour, []time.Duration{longestLull, time.Minute}},
		{false, 100 * time.Millisecond, []time.Duration{time.Minute}},
	} {
		clock := &steppingClock{now: time.Unix(1_800_000_000, 0)}
		ctx, stop := context.WithCancel(t.Context())
		steps := 0
		a := &App{World: world.World{Clock: clock}}
		a.work(ctx, queue.Worker{Name: "sweep", Gentle: c.gentle, Every: time.Minute, Step: func(context.Context) (bool, error) {
			if steps++; steps == 1 {
				clock.now = clock.now.Add(c.took)
				return true, nil
			}
			stop()
			return false, nil
		}})
		if !slices.Equal(clock.rests, c.want) {
			t.Errorf("gentle %v after a step of %s: rested %v, want %v", c.gentle, c.took, clock.rests, c.want)
		}
	}
}
