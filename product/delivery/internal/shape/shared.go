package shape

import (
	"cmp"
	"slices"
	"time"
)

// SharedKind tells what shares a limit.
type SharedKind string

// What may share a limit.
const (
	OfProvider SharedKind = "provider"
	OfSource   SharedKind = "source"
	OfTenant   SharedKind = "tenant"
)

// SharedName names a limit that several paths share.
type SharedName struct {
	Kind SharedKind `json:"kind"`
	Key  string     `json:"key"`
}

// SharedLimits bound several paths together. Zero is no limit. For a tenant the connections are those that carry its mail at the
// moment.
type SharedLimits struct {
	Connections       int     `toml:"max_connections" json:"max_connections,omitempty"`
	ConnectsPerMinute float64 `toml:"connects_per_minute" json:"connects_per_minute,omitempty"`
	MessagesPerSecond float64 `toml:"messages_per_second" json:"messages_per_second,omitempty"`
}

// shared is a limit that several paths share, with those who wait for it.
type shared struct {
	name   SharedName
	limits SharedLimits
	users  int  // who points here
	fading bool // nobody did lately

	connections int // that count towards the limit
	unused      int // of those, how many wait for mail and could be closed for another
	reserved    int // places for paths that were woken to take them

	connectRate, messageRate rate
	connects, messages       instant
	connectLine, messageLine line

	turns  schedule // paths that wait for a connection, by the flow that each would serve
	parked []*flow  // flows of a tenant that wait until one of its connections is done
}

func newShared(name SharedName, limits SharedLimits) *shared {
	g := &shared{name: name}
	g.set(limits)
	return g
}

func (g *shared) set(limits SharedLimits) {
	g.limits = limits
	g.connectRate = newRate(limits.ConnectsPerMinute, time.Minute)
	g.messageRate = newRate(limits.MessagesPerSecond, time.Second)
}

// room returns how many connections more can be opened. Those that are unused could be closed for as many others.
func (g *shared) room() int {
	if g.limits.Connections == 0 {
		return maxLimit
	}
	return g.limits.Connections - g.connections - g.reserved
}

// SetShared bounds what several paths share, in place of what Config or the provider says, until it is called again. Zero limits
// return to those.
func (s *Shaper) SetShared(name SharedName, limits SharedLimits) {
	if limits == (SharedLimits{}) {
		delete(s.custom, name)
	} else {
		s.custom[name] = limits
	}
	if g := s.shared[name]; g != nil {
		g.set(s.limitsOf(name))
		s.admitAll(g)
		return
	}
	// Paths that were made when nothing was shared have to learn of it.
	for _, p := range s.paths {
		s.join(p)
	}
	for _, f := range s.flows {
		if f.owner != nil && f.limit == nil {
			f.limit = s.use(SharedName{OfTenant, f.tenant})
		}
	}
}

// limitsOf returns the limits that hold for a name.
func (s *Shaper) limitsOf(name SharedName) SharedLimits {
	if custom, ok := s.custom[name]; ok {
		switch name.Kind {
		case OfProvider:
			custom = s.ours(custom)
		case OfTenant:
			custom = s.ours(custom)
			custom.Connections = orInt(custom.Connections, s.config.Tenant.Connections)
		}
		return custom
	}
	switch name.Kind {
	case OfProvider:
		if p := s.table.byName[name.Key]; p != nil {
			return s.ours(p.Shared)
		}
		return s.ours(s.table.standard.Shared)
	case OfSource:
		return s.config.Source
	}
	return s.config.Tenant
}

// use returns the limit of the name, or nil if there is none.
func (s *Shaper) use(name SharedName) *shared {
	g := s.shared[name]
	if g == nil {
		limits := s.limitsOf(name)
		if limits == (SharedLimits{}) {
			return nil
		}
		s.fade()
		g = newShared(name, limits)
		s.shared[name] = g
	}
	g.users++
	return g
}

// unuse lets go of a limit. It is forgotten later, if nobody has used it again and its rates have nothing more to remember.
func (s *Shaper) unuse(g *shared) {
	if g == nil {
		return
	}
	if g.users--; g.users == 0 && !g.fading {
		g.fading = true
		s.fading = append(s.fading, g)
	}
}

func (g *shared) quiet(now instant) bool { return g.connects <= now && g.messages <= now }

// fade forgets limits that nobody has used since, two for each that is added, so that they never become more.
func (s *Shaper) fade() {
	for range min(2, len(s.fading)) {
		g := s.fading[0]
		s.fading = s.fading[1:]
		switch {
		case g.users > 0:
			g.fading = false
		case g.quiet(s.now):
			delete(s.shared, g.name)
		default:
			s.fading = append(s.fading, g)
		}
	}
}

// join gives a path the limits that it shares.
func (s *Shaper) join(p *path) {
	if p.provider == nil && p.row.Name != "" {
		p.provider = s.use(SharedName{OfProvider, p.row.Name})
		p.provider.adopt(p)
	}
	if p.source == nil {
		p.source = s.use(SharedName{OfSource, p.key.Source})
		p.source.adopt(p)
	}
	p.gates = p.gates[:0]
	for _, g := range []*shared{p.provider, p.source, s.total} {
		if g != nil {
			p.gates = append(p.gates, g)
		}
	}
	// The smallest first: who cannot have that one need not ask for the others.
	slices.SortStableFunc(p.gates, func(a, b *shared) int { return cmp.Compare(a.size(), b.size()) })
}

func (g *shared) size() int {
	if g.limits.Connections == 0 {
		return maxLimit
	}
	return g.limits.Connections
}

// adopt counts the connections that a path had before it shared the limit.
func (g *shared) adopt(p *path) {
	if g != nil {
		g.connections += p.connections
		g.unused += len(p.unused)
	}
}

// admitFreed gives the room in limits to those whose turn it is.
func (s *Shaper) admitFreed() {
	for _, g := range s.freed {
		if !g.turns.empty() {
			s.admit(g)
		}
	}
	s.freed = s.freed[:0]
}

// admit wakes the path whose turn it is, if the limit has room for it, and keeps the room until the path was looked at: another
// path that comes first must not take it.
func (s *Shaper) admit(g *shared) bool {
	if g.room()+g.unused <= 0 {
		return false
	}
	f := g.turns.peek()
	if f == nil {
		return false
	}
	p := f.paths.first
	s.leaveLine(p, 1)
	s.activate(p)
	p.ticket = g
	g.reserved++
	return true
}

// useTicket gives the room that was kept for a path free, for it is looked at now.
func (p *path) useTicket() {
	if p.ticket != nil {
		p.ticket.reserved--
		p.ticket = nil
	}
}

// admitAll wakes everyone who waits, after the limit itself was changed.
func (s *Shaper) admitAll(g *shared) {
	for s.admit(g) {
	}
	for _, f := range g.parked {
		f.queued = false
		s.unpark(f)
	}
	g.parked = nil
}
