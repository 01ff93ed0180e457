package shape

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Several nodes may send to one provider. A path is one node's alone, but what bounds several paths together is divided among them.

// Share returns which part of a whole number the one with the given rank has among several, from 0 on. It is never nothing unless the
// whole is: who has mail must be able to send it.
func Share(whole, rank, of int) int {
	if whole <= 0 || of <= 1 {
		return whole
	}
	part := whole / of
	if rank < whole%of {
		part++
	}
	return max(part, 1)
}

// ours returns this node's share of limits that hold for all nodes together.
func (s *Shaper) ours(whole SharedLimits) SharedLimits {
	if s.of <= 1 {
		return whole
	}
	whole.Connections = Share(whole.Connections, s.rank, s.of)
	whole.ConnectsPerMinute /= float64(s.of)
	whole.MessagesPerSecond /= float64(s.of)
	return whole
}

// Divide says which share of the limits of providers and tenants is this node's: that of the given rank, from 0 on, among so many.
func (s *Shaper) Divide(rank, of int) {
	if s.rank, s.of = rank, max(of, 1); of <= 1 {
		s.rank = 0
	}
	byName := func(a, b SharedName) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) }
	for _, name := range slices.SortedFunc(maps.Keys(s.shared), byName) {
		g := s.shared[name]
		if limits := s.limitsOf(name); limits != g.limits {
			g.set(limits)
			s.admitAll(g)
		}
	}
}

// Adopt holds what another node has held on paths that are this one's now, unless it does so already.
func (s *Shaper) Adopt(now time.Time, holds []Hold) {
	at := s.tick(now)
	for _, h := range holds {
		over := span{instantOf(h.From), instantOf(h.Until)}
		if over.until > at && s.holds[holdKey{h.Path, h.Tenant, h.Kind}] == nil {
			s.place(h, over, at)
		}
	}
}

// Yield gives back what waits for paths that are not this node's any more, and closes what is open there as soon as it is unused.
func (s *Shaper) Yield(now time.Time, keeps func(Path) bool) {
	at := s.tick(now)
	for _, p := range s.sortedPaths() {
		if keeps(p.key) || s.paths[p.key] != p { // it may have been forgotten meanwhile
			continue
		}
		p.moved = true
		s.returnPath(p, Back{At: at.time(), Reason: Moved})
		for len(p.unused) > 0 {
			s.end(p.unused[0])
		}
		s.activate(p)
	}
	s.admitFreed()
}
