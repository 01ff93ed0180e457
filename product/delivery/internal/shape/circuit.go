package shape

import "time"

// circuit is the health of a provider, or of a site that is nobody's we know: whether its servers can be reached, and how much of
// our mail it blocks.
type circuit struct {
	key   string
	users int // paths that point here

	failures int          // connections that failed in a row
	open     span         // no connections; after it one is tried
	probe    ConnectionID // that one, or 0
	cause    Cause

	blocks   blockRate
	paused   span // too much was blocked
	blocked  Cause
	pauses   int // one after the other
	backOffs int // over all; paths follow each

	waiters pathList
	timer   timer
}

// openFor is how long a provider whose servers cannot be reached is left alone.
const openFor = 5 * time.Minute

// circuitOf returns the circuit of a site.
func (s *Shaper) circuitOf(site Site) *circuit { return s.circuitNamed(s.circuitKey(site)) }

func (s *Shaper) circuitKey(site Site) string {
	if name := s.table.Provider(site).Name; name != "" {
		return name
	}
	return string(site)
}

func (s *Shaper) circuitNamed(key string) *circuit {
	c := s.circuits[key]
	if c == nil {
		c = &circuit{key: key}
		c.timer.circuit = c
		s.circuits[key] = c
	}
	return c
}

// closed tells whether connections may be opened freely.
func (c *circuit) closed() bool { return c.open == span{} }

// shutUntil returns when a connection may be opened, if not now.
func (c *circuit) shutUntil(at instant) (instant, bool) {
	var until instant
	if c.paused.covers(at) {
		until = c.paused.until
	}
	if c.open.covers(at) {
		until = max(until, c.open.until)
	}
	return until, until > 0
}

// mayProbe tells whether a path may send, be it as the one that tries.
func (c *circuit) mayProbe() bool { return c.closed() || c.probe == 0 }

// reached notes that a server answered.
func (s *Shaper) reachedServer(c *circuit) {
	c.failures = 0
	if c.closed() {
		return
	}
	c.open, c.probe, c.cause = span{}, 0, Cause{}
	s.wakeAll(c)
}

// unreached notes that no server could be reached.
func (s *Shaper) unreached(p *path, id ConnectionID, cause Cause, at instant) {
	c := p.circuit
	c.failures++
	c.cause = cause
	probed := c.probe != 0 && c.probe == id
	if probed || c.closed() && c.failures >= p.row.CircuitAfter {
		c.probe = 0
		c.open = span{at, at.add(openFor)}
		s.timers.set(&c.timer, c.open.until)
		s.wakeAll(c)
	}
}

// wakeAll has all paths that wait at the circuit looked at.
func (s *Shaper) wakeAll(c *circuit) {
	for c.waiters.first != nil {
		s.activate(c.waiters.first)
	}
}

// passCircuit wakes one path that waits, if the one before did not become the probe.
func (s *Shaper) passCircuit(c *circuit, at instant) {
	if _, shut := c.shutUntil(at); !shut && c.mayProbe() && c.waiters.first != nil {
		s.activate(c.waiters.first)
	}
}

// tidyCircuit forgets a circuit of which nobody has to know.
func (s *Shaper) tidyCircuit(c *circuit) {
	if c.users > 0 || c.timer.place != 0 {
		return
	}
	s.timers.stop(&c.timer)
	delete(s.circuits, c.key)
}

// pause leaves a provider alone that blocks too much of our mail, and has its paths go on with half of what they had.
func (s *Shaper) pause(c *circuit, cause Cause, at instant) {
	if at.sub(c.paused.until) > maxPause {
		c.pauses = 0
	}
	c.pauses++
	c.backOffs++
	c.paused = span{at, at.add(pauseFor(c.pauses))}
	c.blocked = cause
	s.timers.set(&c.timer, max(c.paused.until, c.open.until))
	s.wakeAll(c)
}
