package shape

import (
	"slices"
	"time"
)

// Kind is a way of holding mail back.
type Kind string

// The ways of holding mail back.
const (
	// Suspended is a path, or a tenant on it, that a reply asked us to leave alone.
	Suspended Kind = "suspended"
	// Quarantined is a source that a site has on a block list.
	Quarantined Kind = "quarantined"
	// Slowed is a path with smaller limits because of a reply.
	Slowed Kind = "slowed"
	// Resting is a path on which one connection after the other failed.
	Resting Kind = "resting"
	// Stopped is a path, or a tenant on it, that an operator has stopped.
	Stopped Kind = "stopped"
	// Adjusted is a path to which an operator has given other limits.
	Adjusted Kind = "adjusted"
)

var (
	pathKinds = []Kind{Suspended, Quarantined, Slowed, Resting, Stopped, Adjusted}
	// stops are the kinds that let nothing through.
	stops = []Kind{Stopped, Quarantined, Suspended, Resting}
)

// Hold is a reason to hold mail back on a path for a while, or to give it other limits.
type Hold struct {
	Path Path `json:"path"`
	// Tenant limits it to the mail of one tenant; empty is all.
	Tenant string    `json:"tenant,omitempty"`
	Kind   Kind      `json:"kind"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
	Cause  Cause     `json:"cause,omitzero"`
	// Limits are those of a slowed or adjusted path.
	Limits Limits `json:"limits,omitzero"`
}

type (
	holdKey struct {
		path   Path
		tenant string
		kind   Kind
	}
	hold struct {
		Hold
		span
	}
)

// maxHolds bounds what is held; beyond it only operators add more, and windows alone must keep us polite.
const maxHolds = 50_000

// place puts a hold into force. A shorter one does not end a longer one of its kind.
func (s *Shaper) place(h Hold, over span, at instant) {
	key := holdKey{h.Path, h.Tenant, h.Kind}
	byOperator := h.Kind == Stopped || h.Kind == Adjusted
	if old := s.holds[key]; old != nil && old.covers(at) && old.until >= over.until && !byOperator {
		return
	}
	if len(s.holds) >= maxHolds {
		s.dropPastHolds(at)
		if len(s.holds) >= maxHolds && !byOperator {
			return
		}
	}
	s.lift(key)
	h.From, h.Until = over.from.time(), over.until.time()
	placed := &hold{h, over}
	s.holds[key] = placed
	p := s.paths[h.Path]
	if p == nil {
		return
	}
	if h.Tenant != "" {
		for class := range Class(classes) {
			if f := s.flowHere(p, h.Tenant, class); f != nil {
				s.returnFlow(f, backFrom(placed))
			}
		}
		s.activate(p)
		return
	}
	p.holds = append(p.holds, placed)
	// Mail of a slowed path returns too: most of it would wait here for too long.
	if h.Kind != Adjusted {
		s.returnPath(p, backFrom(placed))
	}
	s.activate(p)
}

// lift ends a hold and tells whether there was one.
func (s *Shaper) lift(key holdKey) bool {
	old := s.holds[key]
	if old == nil {
		return false
	}
	delete(s.holds, key)
	if p := s.paths[key.path]; p != nil && key.tenant == "" {
		p.holds = slices.DeleteFunc(p.holds, func(h *hold) bool { return h == old })
		s.activate(p)
	}
	return true
}

// dropPastHolds looks through all holds, at most once in a while.
func (s *Shaper) dropPastHolds(at instant) {
	if at.within(s.dropped, s.dropped.add(time.Minute)) {
		return
	}
	s.dropped = at
	for key, h := range s.holds {
		if h.until <= at {
			s.lift(key)
		}
	}
}

// stop returns what stops a path now and ends last, or nil.
func (p *path) stop(at instant) *hold {
	var last *hold
	for _, h := range p.holds {
		if h.covers(at) && slices.Contains(stops, h.Kind) && (last == nil || h.until > last.until) {
			last = h
		}
	}
	return last
}

// tenantStop returns what stops a tenant on a path, or nil.
func (s *Shaper) tenantStop(p *path, tenant string, at instant) *hold {
	if len(s.holds) == 0 || tenant == "" {
		return nil
	}
	for _, kind := range []Kind{Stopped, Suspended} {
		if h := s.holds[holdKey{p.key, tenant, kind}]; h != nil && h.covers(at) {
			return h
		}
	}
	return nil
}

// limits returns what holds for the path now. An operator's word stands above a provider's row and what was earned, and a slowed
// path is slow all the same until the operator resumes it.
func (p *path) limits(at instant) Limits {
	limits := p.row.Limits
	limits.Connections = min(limits.Connections, p.window.allowed())
	limits.MessagesPerConnection = min(limits.MessagesPerConnection, p.window.messages)
	for _, h := range p.holds {
		if h.Kind == Adjusted && h.covers(at) {
			limits = h.Limits.or(limits)
		}
	}
	for _, h := range p.holds {
		if h.Kind == Slowed && h.covers(at) {
			limits = limits.atMost(h.Limits)
		}
	}
	return limits
}
