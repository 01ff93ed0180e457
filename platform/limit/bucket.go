package limit

import "time"

// bucket is a rate in the terms of the algorithm: one token per interval, and the window in which an empty bucket fills.
type bucket struct {
	interval time.Duration
	window   time.Duration
	size     int
}

// newBucket returns false for a rate that lets nothing through.
func newBucket(rate Rate) (bucket, bool) {
	if rate.Count <= 0 || rate.Per <= 0 || rate.Burst < 0 {
		return bucket{}, false
	}
	size := rate.Burst
	if size == 0 {
		size = rate.Count
	}
	interval := min(max(rate.Per/time.Duration(rate.Count), 1), longestWindow)
	size = int(min(int64(size), int64(longestWindow/interval)))
	return bucket{interval: interval, window: interval * time.Duration(size), size: size}, true
}

// take returns the moment at which the bucket is full again after one was taken, and the decision.
func (b bucket) take(full, now time.Duration) (time.Duration, Decision) {
	full = b.clamp(full, now)
	d := b.look(full, now)
	if !d.Allowed {
		return full, d
	}
	full += b.interval
	d.Remaining--
	d.Reset = full - now
	return full, d
}

// look decides on one more request without taking.
func (b bucket) look(full, now time.Duration) Decision {
	missing := b.clamp(full, now) - now // the time it takes to fill up
	d := Decision{Limit: b.size, Reset: missing}
	room := b.window - missing
	d.Remaining = int(room / b.interval)
	d.Allowed = d.Remaining > 0
	if !d.Allowed {
		d.RetryAfter = b.interval - room
	}
	return d
}

// clamp puts the moment into its window: a bucket is at best full, and at worst empty even if the clock was set back.
func (b bucket) clamp(full, now time.Duration) time.Duration {
	return min(max(full, now), now+b.window)
}

// latest is when a bucket that nodes share is full again at the latest. They may owe more than it holds, but what is further ahead was
// written by a clock that has been set back since, or by one that is fast, and is not believed: the bucket counts as full.
func (b bucket) latest(now time.Duration) time.Duration { return now + 2*b.window }
