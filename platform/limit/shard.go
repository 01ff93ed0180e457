package limit

import (
	"math"
	"sync"
	"time"
)

// searchLength is how many buckets are looked at for one that can be forgotten: enough that a flood of new keys, which
// are nearly full, pushes out its own and not the nearly empty ones of those who are being held back.
const searchLength = 8

// shard is a part of the keys under one lock. It knows keys by a 64 bit hash with a secret seed: a long key costs no memory
// and nobody can choose keys that meet.
type shard struct {
	mu      sync.Mutex
	max     int
	entries []entry        // guarded by mu
	places  map[uint64]int // guarded by mu; hash to index in entries
	hand    int            // guarded by mu; where the next search for room begins
}

type entry struct {
	hash uint64
	full time.Duration // the moment the bucket is full again, counted from the start of the limiter
}

// place is where the bucket of a key is, or would be.
type place struct {
	entry
	index int // in entries; -1 if the key is not known
}

// find returns the place of a key; a bucket that is not known has been full forever.
func (s *shard) find(hash uint64) place {
	if i, ok := s.places[hash]; ok {
		return place{entry: s.entries[i], index: i}
	}
	return place{entry: entry{hash: hash, full: math.MinInt64}, index: -1}
}

func (s *shard) set(at place, full, now time.Duration) {
	if at.index < 0 {
		at.index = s.makeRoom(now)
		s.places[at.hash] = at.index
	}
	s.entries[at.index] = entry{hash: at.hash, full: full}
}

// makeRoom returns the index of a free entry.
func (s *shard) makeRoom(now time.Duration) int {
	if len(s.entries) < s.max {
		s.entries = append(s.entries, entry{})
		return len(s.entries) - 1
	}
	fullest := s.hand
	for range min(searchLength, len(s.entries)) {
		if s.entries[s.hand].full < s.entries[fullest].full {
			fullest = s.hand
		}
		s.hand = (s.hand + 1) % len(s.entries)
		if s.entries[fullest].full <= now {
			break
		}
	}
	delete(s.places, s.entries[fullest].hash)
	return fullest
}
