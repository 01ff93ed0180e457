// Package limit says who must wait: token buckets, one per key, for requests per workspace, tries per address and the like.
//
// A bucket is a single moment, the time at which it will be full again (the generic cell rate algorithm, GCRA), so nothing
// has to refill it. The buckets of a Limiter live in this process only: several nodes allow together up to their number times the
// rate. Those of a Shared are one for all nodes on a database.
//
//	Owns     rate_bucket
package limit

import (
	"hash/maphash"
	"math/bits"
	"time"

	"postrider/world"
)

// Rate is how much a bucket lets through: Count per Per on average, Burst at once.
type Rate struct {
	Per   time.Duration
	Count int
	// Burst is the size of the bucket; zero means Count.
	Burst int
}

// Decision is the answer to one request, with what a caller is told about it.
type Decision struct {
	// Allowed tells whether the request may go on.
	Allowed bool
	// Limit is the size of the bucket.
	Limit int
	// Remaining is how many more requests would be allowed at once.
	Remaining int
	// Reset is the time until the bucket is full if nobody takes from it.
	Reset time.Duration
	// RetryAfter is the time until one request would be allowed; zero if it is allowed now.
	RetryAfter time.Duration
}

const (
	// maxShards spreads the locks: with more shards than cores two requests seldom meet.
	maxShards = 64
	// minShardKeys keeps shards large enough that keys fall on them about evenly.
	minShardKeys = 256
	// longestWindow bounds the time that a bucket takes to fill, so that sums of times cannot overflow.
	longestWindow = 10 * 365 * 24 * time.Hour
)

// Limiter keeps the buckets of many keys. It is safe for concurrent use.
type Limiter struct {
	clock  world.Clock
	start  time.Time
	seed   maphash.Seed
	shards []shard
}

// New returns a limiter that remembers at most maxKeys buckets. When it is full, a bucket that is full again makes room,
// which changes nothing for its key; only if none is at hand, the fullest of a few is forgotten early.
func New(clock world.Clock, maxKeys int) *Limiter {
	count := 1 << (bits.Len(uint(min(max(maxKeys/minShardKeys, 1), maxShards))) - 1)
	l := &Limiter{clock: clock, start: clock.Now(), seed: maphash.MakeSeed(), shards: make([]shard, count)}
	for i := range l.shards {
		l.shards[i] = shard{max: max(maxKeys/count, 1), places: make(map[uint64]int)}
	}
	return l
}

// Take takes one from the bucket of key, if there is one left. A key must always come with the same rate.
func (l *Limiter) Take(key string, rate Rate) Decision {
	return l.on(key, rate, func(s *shard, at place, now time.Duration, b bucket) Decision {
		full, d := b.take(at.full, now)
		s.set(at, full, now)
		return d
	})
}

// Peek returns what Take would answer, and takes nothing.
func (l *Limiter) Peek(key string, rate Rate) Decision {
	return l.on(key, rate, func(_ *shard, at place, now time.Duration, b bucket) Decision {
		return b.look(at.full, now)
	})
}

// GiveBack puts back one that Take took, for requests that turn out not to count, such as a sign-in that succeeds.
func (l *Limiter) GiveBack(key string, rate Rate) {
	l.on(key, rate, func(s *shard, at place, now time.Duration, b bucket) Decision {
		if at.full > now {
			s.set(at, at.full-b.interval, now)
		}
		return Decision{}
	})
}

func (l *Limiter) on(key string, rate Rate, do func(*shard, place, time.Duration, bucket) Decision) Decision {
	b, ok := newBucket(rate)
	if !ok {
		return Decision{RetryAfter: max(rate.Per, time.Second)}
	}
	hash := maphash.String(l.seed, key)
	s := &l.shards[hash&uint64(len(l.shards)-1)]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := l.clock.Now().Sub(l.start) // by an older look the bucket of those who came first would be emptier than it is
	return do(s, s.find(hash), now, b)
}
