package shape

import "slices"

// path is what is known about a Path, and the mail that waits for it. Its place is in at most one list, and in the timers only
// if it is in none.
type path struct {
	key     Path
	row     *Provider
	circuit *circuit
	// provider and source are limits that it shares, or nil; gates are these and that of all connections, the smallest first.
	provider, source *shared
	gates            []*shared

	turns       schedule
	recent      *flow // that an item was added to
	waiting     int   // recipients
	parked      []*flow
	parkedUntil instant // when the first of them looks again

	connections int           // open or being opened
	unused      []*connection // of those, which wait for mail; the one used last is last
	connects    instant       // past of the rates
	messages    instant
	window      window
	backedOff   int // how many of the circuit's back-offs it has followed
	holds       []*hold

	timer      timer
	list       *pathList
	next, prev *path
	line       *flow   // at a limit, if it waits there
	ticket     *shared // the limit that keeps room for it
	moved      bool    // another node sends here now; what is open here ends
	idleSince  instant
}

// pathList is a list of paths, linked through them.
type pathList struct {
	first, last *path
	size        int
}

func (l *pathList) push(p *path) {
	p.list, p.prev, p.next = l, l.last, nil
	if l.last == nil {
		l.first = p
	} else {
		l.last.next = p
	}
	l.last = p
	l.size++
}

func (l *pathList) remove(p *path) {
	if p.prev == nil {
		l.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		l.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.list, p.prev, p.next = nil, nil, nil
	l.size--
}

// know returns the path, and makes it if it is new or was forgotten.
func (s *Shaper) know(key Path) *path {
	if p := s.paths[key]; p != nil {
		return p
	}
	row := s.table.Provider(key.Site)
	p := &path{key: key, row: row, window: newWindow(row)}
	p.timer.path = p
	p.circuit = s.circuitOf(key.Site)
	p.circuit.users++
	p.backedOff = p.circuit.backOffs
	s.join(p)
	if len(s.holds) > 0 {
		for _, kind := range pathKinds {
			if h := s.holds[holdKey{path: key, kind: kind}]; h != nil {
				p.holds = append(p.holds, h)
			}
		}
	}
	s.paths[key] = p
	return p
}

// displace takes a path out of wherever it is.
func (s *Shaper) displace(p *path) {
	switch {
	case p.line != nil:
		s.leaveLine(p, 0)
	case p.list != nil:
		p.list.remove(p)
	}
	s.timers.stop(&p.timer)
}

// activate has a path looked at by the next Next.
func (s *Shaper) activate(p *path) {
	if p.list == &s.active {
		return
	}
	s.displace(p)
	s.active.push(p)
}

// sleep has a path looked at again at a moment.
func (s *Shaper) sleep(p *path, until instant) {
	s.displace(p)
	s.timers.set(&p.timer, until)
}

// queueAt has a path wait for a connection that a shared limit does not allow now, in the turn of the flow it would serve.
func (s *Shaper) queueAt(g *shared, p *path, tenant string, class Class) {
	s.displace(p)
	key := flowKey{gate: g, tenant: tenant, class: class}
	f := s.flows[key]
	if f == nil {
		f = s.newFlow(key)
		g.turns.add(f)
	}
	f.paths.push(p)
	p.line = f
}

// leaveLine takes a path out of the line at a limit; it has been served, at the given cost, or does not wait any more.
func (s *Shaper) leaveLine(p *path, cost int) {
	f := p.line
	p.line = nil
	f.paths.remove(p)
	if cost > 0 {
		f.gate.turns.served(f, cost)
	}
	if f.paths.size == 0 {
		f.gate.turns.remove(f)
		s.freeFlow(f)
	}
}

// hurry moves a path that waits at a limit to the line of a newcomer, if that one's turn comes sooner.
func (s *Shaper) hurry(p *path, newcomer *flow) {
	at := p.line
	if at == nil || at.class < newcomer.class || at.class == newcomer.class && at.tenant == newcomer.tenant {
		return
	}
	if at.class == newcomer.class {
		other := s.flows[flowKey{gate: at.gate, tenant: newcomer.tenant, class: newcomer.class}]
		if other != nil && other.paths.size+1 >= at.paths.size {
			return
		}
	}
	s.queueAt(at.gate, p, newcomer.tenant, newcomer.class)
}

// rest has a path without mail remembered for a while, if it has no connections either.
func (s *Shaper) rest(p *path, at instant) {
	s.displace(p)
	if p.waiting > 0 || p.connections > 0 {
		return
	}
	s.forgetIdle(at) // first: the caller has not done with this one
	p.idleSince = at
	s.idle.push(p)
}

// maxForgetting bounds how many idle paths one call looks at.
const maxForgetting = 8

func (s *Shaper) forgetIdle(at instant) {
	for range maxForgetting {
		p := s.idle.first
		if p == nil || s.idle.size < s.config.MaxIdlePaths && at.within(p.idleSince, p.idleSince.add(forgetAfter)) {
			return
		}
		// A path that must not send yet would be allowed to if it were new, so it stays while there is room.
		if s.idle.size <= 2*s.config.MaxIdlePaths && (p.messages > at || p.connects > at) {
			s.idle.remove(p)
			s.idle.push(p)
			continue
		}
		s.forget(p)
	}
}

func (s *Shaper) forget(p *path) {
	s.displace(p)
	p.useTicket()
	delete(s.paths, p.key)
	s.unuse(p.provider)
	s.unuse(p.source)
	p.circuit.users--
	s.tidyCircuit(p.circuit)
}

// park has a flow look at its tenant's limit again at a moment; its path serves the others meanwhile.
func (p *path) park(f *flow, until instant) {
	p.turns.remove(f)
	f.parked, f.until = true, until
	if len(p.parked) == 0 || until < p.parkedUntil {
		p.parkedUntil = until
	}
	p.parked = append(p.parked, f)
}

func (p *path) removeParked(f *flow) {
	f.parked = false
	p.parked = slices.DeleteFunc(p.parked, func(other *flow) bool { return other == f })
}

// unpark gives a flow its turns again.
func (s *Shaper) unpark(f *flow) {
	if !f.parked {
		return
	}
	f.owner.removeParked(f)
	f.owner.turns.add(f)
	s.activate(f.owner)
}

// unparkDue gives turns to the parked flows whose moment has come.
func (p *path) unparkDue(at instant) {
	if len(p.parked) == 0 || p.parkedUntil > at {
		return
	}
	rest := p.parked[:0]
	for _, f := range p.parked {
		if f.until > at {
			if len(rest) == 0 || f.until < p.parkedUntil {
				p.parkedUntil = f.until
			}
			rest = append(rest, f)
			continue
		}
		f.parked = false
		p.turns.add(f)
	}
	clear(p.parked[len(rest):])
	p.parked = rest
}
