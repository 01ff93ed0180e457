package shape

import "time"

// ConnectionID names a connection from its first Work until it is closed.
type ConnectionID uint64

// connection is a socket of the caller's, as far as the Shaper counts it.
type connection struct {
	id       ConnectionID
	path     *path
	route    string
	busy     bool
	last     bool // ends after what it carries now
	messages int

	// Of what it carries now.
	tenant  string
	limit   *shared // of the tenant
	started instant

	since      instant // unused since
	timer      timer
	next, prev *connection // in Shaper.unused
}

// connectionList is a list of unused connections, linked through them.
type connectionList struct{ first, last *connection }

func (l *connectionList) push(c *connection) {
	c.prev, c.next = l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
}

func (l *connectionList) remove(c *connection) {
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// open counts a new connection of a path.
func (s *Shaper) open(p *path, route string) *connection {
	s.lastID++
	c := &connection{id: s.lastID, path: p, route: route}
	c.timer.connection = c
	s.connections[c.id] = c
	p.connections++
	for _, g := range p.gates {
		g.connections++
	}
	return c
}

// shut stops counting a connection. Whoever waits for its place is woken by admitFreed.
func (s *Shaper) shut(c *connection) {
	p := c.path
	if !c.busy {
		s.reuse(c)
	}
	s.timers.stop(&c.timer)
	delete(s.connections, c.id)
	p.connections--
	for _, g := range p.gates {
		g.connections--
	}
	s.freed = append(s.freed, p.gates...)
	if p.waiting == 0 && p.connections == 0 {
		s.rest(p, s.now)
	}
}

// end shuts an unused connection and has the caller close it.
func (s *Shaper) end(c *connection) {
	s.closing = append(s.closing, c.id)
	s.shut(c)
}

// keep lets a connection wait for more mail.
func (s *Shaper) keep(c *connection, at instant) {
	c.busy, c.since = false, at
	p := c.path
	p.unused = append(p.unused, c)
	for _, g := range p.gates {
		g.unused++
	}
	s.unused.push(c)
	if c.timer.place == 0 {
		s.timers.set(&c.timer, at.add(time.Duration(p.row.IdleTimeout)))
	}
}

// reuse takes a connection out of those that wait for mail.
func (s *Shaper) reuse(c *connection) {
	p := c.path
	for i, other := range p.unused {
		if other == c {
			p.unused = append(p.unused[:i], p.unused[i+1:]...)
			break
		}
	}
	for _, g := range p.gates {
		g.unused--
	}
	s.unused.remove(c)
	c.busy = true
}

// idled ends a connection that has waited for mail for too long. Its timer may be older than its last use.
func (s *Shaper) idled(c *connection, at instant) {
	if c.busy {
		return
	}
	if end := c.since.add(time.Duration(c.path.row.IdleTimeout)); end > at {
		s.timers.set(&c.timer, end)
		return
	}
	s.end(c)
	if c.path.waiting > 0 {
		s.activate(c.path)
	}
}

// spare returns the unused connection that has waited longest among those that count towards a limit. There must be one.
func (s *Shaper) spare(g *shared) *connection {
	c := s.unused.first
	for g != s.total && c.path.provider != g && c.path.source != g {
		c = c.next
	}
	return c
}

// Closing returns the connections that the caller should close now: they have been unused for too long, or another path needs
// their place. They do not count any more and must not be observed.
func (s *Shaper) Closing() []ConnectionID {
	closing := s.closing
	s.closing = nil
	return closing
}
