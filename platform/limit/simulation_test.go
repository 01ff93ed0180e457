package limit_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"postrider/platform/limit"
)

// simulated is a token bucket as one would explain it: a level that rises with time and falls with requests. A token is as
// much as flows in during one interval.
type simulated struct {
	level, size, token time.Duration
	at                 time.Time
}

func newSimulated(rate limit.Rate, now time.Time) *simulated {
	token := rate.Per / time.Duration(rate.Count)
	size := token * time.Duration(rate.Burst)
	return &simulated{level: size, size: size, token: token, at: now}
}

func (s *simulated) fill(now time.Time) {
	s.level = min(s.level+now.Sub(s.at), s.size)
	s.at = now
}

func (s *simulated) take(now time.Time) limit.Decision {
	s.fill(now)
	d := limit.Decision{Limit: int(s.size / s.token)}
	if s.level >= s.token {
		s.level -= s.token
		d.Allowed = true
	} else {
		d.RetryAfter = s.token - s.level
	}
	d.Remaining = int(s.level / s.token)
	d.Reset = s.size - s.level
	return d
}

func (s *simulated) giveBack(now time.Time) {
	s.fill(now)
	s.level = min(s.level+s.token, s.size)
}

func TestTheLimiterBehavesLikeASimulatedTokenBucket(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := limit.Rate{
			Per:   time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)).Draw(t, "per")),
			Count: rapid.IntRange(1, 1000).Draw(t, "count"),
			Burst: rapid.IntRange(1, 50).Draw(t, "burst"),
		}
		c := newClock()
		l := limit.New(c, 100)
		buckets := map[string]*simulated{}
		keys := rapid.SampledFrom([]string{"a", "b", "c"})
		steps := rapid.IntRange(1, 200).Draw(t, "steps")
		for range steps {
			key := keys.Draw(t, "key")
			if buckets[key] == nil {
				buckets[key] = newSimulated(rate, c.Now())
			}
			switch rapid.IntRange(0, 9).Draw(t, "act") {
			case 0:
				l.GiveBack(key, rate)
				buckets[key].giveBack(c.Now())
			case 1, 2:
				// Waits around the interval, where the borders are.
				interval := int64(rate.Per) / int64(rate.Count)
				c.move(time.Duration(rapid.Int64Range(0, 3*interval).Draw(t, "wait")))
			default:
				peeked, got := l.Peek(key, rate), l.Take(key, rate)
				if want := buckets[key].take(c.Now()); got != want {
					t.Fatalf("take %s: %+v, want %+v", key, got, want)
				}
				if peeked.Allowed != got.Allowed || peeked.RetryAfter != got.RetryAfter {
					t.Fatalf("peeked %+v, but took %+v", peeked, got)
				}
			}
		}
	})
}
