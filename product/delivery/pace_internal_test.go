package delivery

import (
	"testing"
	"testing/synctest"
	"time"

	"postrider/product/email"
	"postrider/world"
)

func TestAStepWaitsForMoreConversationsToEndButNotForLong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what     string
		since    time.Duration // the last step began
		talking  int
		endAfter []time.Duration
		want     time.Duration
	}{
		{"nothing is under way", 0, 0, nil, 0},
		{"the last step is long ago", time.Second, 40, nil, 0},
		{"none of many ends", 0, 40, nil, gatherFor},
		{"since the last step some time has passed", 5 * time.Millisecond, 40, nil, gatherFor - 5*time.Millisecond},
		{"a quarter of many ends", 0, 4, []time.Duration{time.Millisecond}, gatherFor},
		{"half of many ends", 0, 4, []time.Duration{time.Millisecond, 3 * time.Millisecond}, 3 * time.Millisecond},
		{"the only one ends", 0, 1, []time.Duration{time.Millisecond}, time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &Service{world: world.World{Clock: world.SystemClock{}}, wake: make(chan struct{}, 1)}
			s.gather(t.Context())
			time.Sleep(c.since)
			s.talking = c.talking
			for _, after := range c.endAfter {
				time.AfterFunc(after, func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					s.talking, s.finished = s.talking-1, append(s.finished, email.Outcome{})
					s.news()
				})
			}
			start := time.Now()
			s.gather(t.Context())
			if waited := time.Since(start); waited != c.want {
				t.Errorf("%s: it waited %s, want %s", c.what, waited, c.want)
			}
		})
	}
}

func TestASlowDatabaseIsGivenLessAtOnceAndAFastOneMore(t *testing.T) {
	t.Parallel()
	s := &Service{begins: mostBegun}
	for i, c := range []struct {
		took  time.Duration
		begun int
		want  int
	}{
		{stepWithin, mostBegun, mostBegun},
		{stepWithin + 1, mostBegun, mostBegun / 2},
		{time.Second, 0, fewestBegun},
		{time.Hour, 0, fewestBegun},
		{time.Millisecond, fewestBegun - 1, fewestBegun}, // there was no more to begin
		{stepWithin / 2, fewestBegun, fewestBegun},
		{time.Millisecond, fewestBegun, 2 * fewestBegun},
		{time.Millisecond, 2 * fewestBegun, mostBegun},
		{time.Millisecond, mostBegun, mostBegun},
	} {
		if s.pace(c.took, c.begun); s.begins != c.want {
			t.Fatalf("after step %d the next begins %d, want %d", i+1, s.begins, c.want)
		}
	}
}

func TestAProcessThatHasJustStartedBeginsFewAndSoonMany(t *testing.T) {
	t.Parallel()
	s := &Service{begins: firstBegun}
	if s.pace(time.Hour, firstBegun); s.begins > firstBegun {
		t.Errorf("a slow database was given more: %d", s.begins)
	}
	s.begins = firstBegun
	steps := 0
	for ; s.begins < mostBegun && steps < 20; steps++ {
		s.pace(time.Millisecond, s.begins)
	}
	if steps != 5 {
		t.Errorf("after %d steps it begins %d, want %d after 5", steps, s.begins, mostBegun)
	}
}
