package shape

import "time"

// Work is one transaction: recipients of one email in one domain, and the connection that should carry it.
type Work struct {
	Connection ConnectionID
	Path       Path
	Route      string
	Items      []Item
	// Open means that the connection has to be opened first.
	Open bool
	// Last means that the connection has to be closed afterwards.
	Last bool
	// Probe means that this is the one try at a provider that could not be reached.
	Probe bool
	// TLSRequired means that the provider takes no mail in the clear.
	TLSRequired bool
}

// Next returns what to send now, until it returns false. Each Work has to be answered with Observe.
func (s *Shaper) Next(now time.Time) (Work, bool) {
	at := s.tick(now)
	s.fire(at)
	for p := s.active.first; p != nil; p = s.active.first {
		s.active.remove(p)
		p.useTicket()
		work, ok := s.serve(p, at)
		if p.circuit.waiters.first != nil {
			s.passCircuit(p.circuit, at)
		}
		s.freed = append(s.freed, p.gates...) // if it was woken for a place, and did not take it, another may
		s.admitFreed()
		if ok {
			return work, true
		}
		s.fire(at)
	}
	return Work{}, false
}

// NextWake returns when Next, Returned or Closing may have something again if nothing is added or observed before, or the zero
// time if they will not.
func (s *Shaper) NextWake(now time.Time) time.Time {
	if s.active.first != nil || len(s.returned) > 0 || len(s.closing) > 0 {
		return now
	}
	if len(s.timers.heap) == 0 {
		return time.Time{}
	}
	return max(s.timers.heap[0].at, instantOf(now)).time()
}

// fire wakes what has waited for this moment.
func (s *Shaper) fire(at instant) {
	for t := s.timers.due(at); t != nil; t = s.timers.due(at) {
		switch {
		case t.path != nil:
			s.activate(t.path)
		case t.connection != nil:
			s.idled(t.connection, at)
		default:
			if until, shut := t.circuit.shutUntil(at); shut {
				s.timers.set(t, until)
				continue
			}
			s.passCircuit(t.circuit, at)
			s.tidyCircuit(t.circuit)
		}
	}
	s.admitFreed()
}

// serve finds out what a path can send. If it can send nothing, the path waits for what it lacks when serve returns.
func (s *Shaper) serve(p *path, at instant) (Work, bool) {
	if p.waiting == 0 {
		s.rest(p, at)
		return Work{}, false
	}
	if !s.passable(p, at) {
		return Work{}, false
	}
	if p.backedOff != p.circuit.backOffs {
		p.backedOff = p.circuit.backOffs
		p.window.halve(at)
	}
	limits := p.limits(at)
	messageRate := newRate(limits.MessagesPerSecond, time.Second)
	if opens := messageRate.opens(&p.messages, at); opens > at {
		s.sleep(p, opens)
		return Work{}, false
	}
	for _, g := range p.gates {
		if opens := g.messageRate.opens(&g.messages, at); opens > at {
			s.sleep(p, g.messageLine.moment(g.messageRate, opens, at))
			return Work{}, false
		}
	}
	f := s.choose(p, at)
	if f == nil {
		s.sleep(p, max(p.parkedUntil, at+1))
		return Work{}, false
	}
	c, opened := s.connect(p, f, limits, at)
	if c == nil {
		return Work{}, false
	}
	messageRate.pass(&p.messages, at)
	for _, g := range p.gates {
		g.messageRate.pass(&g.messages, at)
	}
	work := s.load(p, f, c, limits, at)
	work.Open = opened
	if p.waiting > 0 {
		s.active.push(p)
	}
	return work, true
}

// passable tells whether anything may go on the path. If not, the path waits, or its mail returns.
func (s *Shaper) passable(p *path, at instant) bool {
	if h := p.stop(at); h != nil {
		if h.until.sub(at) > patience {
			s.returnPath(p, backFrom(h))
			s.rest(p, at)
		} else {
			s.sleep(p, h.until)
		}
		return false
	}
	c := p.circuit
	until, shut := c.shutUntil(at)
	switch {
	case shut && until.sub(at) > patience:
		s.returnPath(p, c.back(at))
		s.rest(p, at)
	case shut || !c.mayProbe():
		s.displace(p)
		c.waiters.push(p)
	default:
		return true
	}
	return false
}

// choose returns the flow whose turn it is and whose tenant may send, or nil.
func (s *Shaper) choose(p *path, at instant) *flow {
	p.unparkDue(at)
	for f := p.turns.peek(); f != nil; f = p.turns.peek() {
		g := f.limit
		if g == nil {
			return f
		}
		if g.limits.Connections > 0 && g.connections >= g.limits.Connections {
			p.park(f, at.add(pollEvery))
			if !f.queued {
				f.queued = true
				g.parked = append(g.parked, f)
			}
			continue
		}
		if opens := g.messageRate.opens(&g.messages, at); opens > at {
			p.park(f, g.messageLine.moment(g.messageRate, opens, at))
			continue
		}
		return f
	}
	return nil
}

// connect returns a connection for the next items of a flow, and whether it has to be opened. If there is none, the path waits
// when it returns.
func (s *Shaper) connect(p *path, f *flow, limits Limits, at instant) (*connection, bool) {
	route := s.route(f)
	for p.connections > limits.Connections && len(p.unused) > 0 {
		s.end(p.unused[0]) // opened when more were allowed
	}
	if p.connections-len(p.unused) >= limits.Connections {
		return nil, false // one of those that are busy will be done and wake it
	}
	for i := len(p.unused) - 1; i >= 0; i-- {
		if c := p.unused[i]; c.route == route && c.messages < limits.MessagesPerConnection {
			s.reuse(c)
			return c, false
		}
	}
	var instead *connection
	if p.connections >= wanted(limits.Connections, p.waiting+p.connections-len(p.unused)) {
		if len(p.unused) == 0 {
			return nil, false
		}
		instead = p.unused[0]
	}
	connectRate := newRate(limits.ConnectsPerMinute, time.Minute)
	if opens := connectRate.opens(&p.connects, at); opens > at {
		s.sleep(p, opens)
		return nil, false
	}
	for _, g := range p.gates {
		if opens := g.connectRate.opens(&g.connects, at); opens > at {
			s.sleep(p, g.connectLine.moment(g.connectRate, opens, at))
			return nil, false
		}
	}
	if instead != nil {
		s.end(instead)
	}
	for _, g := range p.gates {
		if g.room() > 0 {
			continue
		}
		if g.room()+g.unused <= 0 {
			s.queueAt(g, p, f.tenant, f.class)
			return nil, false
		}
		s.end(s.spare(g))
	}
	connectRate.pass(&p.connects, at)
	for _, g := range p.gates {
		g.connectRate.pass(&g.connects, at)
	}
	return s.open(p, route), true
}

// load hands the next items of a flow to a connection.
func (s *Shaper) load(p *path, f *flow, c *connection, limits Limits, at instant) Work {
	items := s.pop(f, max(limits.RecipientsPerTransaction, 1))
	p.turns.served(f, len(items))
	c.busy, c.started, c.tenant, c.limit = true, at, f.tenant, f.limit
	if g := f.limit; g != nil {
		g.users++
		g.connections++
		g.messageRate.pass(&g.messages, at)
	}
	if f.waiting == 0 {
		s.retire(f)
	}
	c.messages++
	c.last = c.messages >= limits.MessagesPerConnection
	work := Work{Connection: c.id, Path: p.key, Route: c.route, Items: items, Last: c.last, TLSRequired: p.row.TLSRequired()}
	if !p.circuit.closed() {
		p.circuit.probe, work.Probe = c.id, true
	}
	return work
}
