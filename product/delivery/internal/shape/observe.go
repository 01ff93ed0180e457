package shape

import (
	"time"

	"postrider/mail/report"
)

// Failure is a conversation that broke off before the server had decided.
type Failure uint8

// How a conversation may break off.
const (
	// NoFailure means that the server answered.
	NoFailure Failure = iota
	// NotConnected means that none of the site's servers that were tried could be reached.
	NotConnected
	// NotGreeted means that greeting or encryption failed.
	NotGreeted
	// BrokenOff means that the connection was lost later.
	BrokenOff
	// OurOwn means a failure on our side, such as a name server that does not answer or a source address that we do not have. It
	// says nothing about the site.
	OurOwn
)

// Outcome is what came of a Work.
type Outcome struct {
	Connection ConnectionID
	Failure    Failure
	// Replies are what was said, one for each recipient, or one for all if they share it.
	Replies []Reply
	// Closed means that the connection can carry no more. After every failure but one of our own it is understood.
	Closed bool
}

// Observe learns from an outcome and counts its connection as free or closed. It also takes the news that an unused connection was
// closed. Connections that Closing has named, or that are unknown, are ignored.
func (s *Shaper) Observe(now time.Time, o Outcome) {
	at := s.tick(now)
	c := s.connections[o.Connection]
	if c == nil {
		return
	}
	p := c.path
	worked := c.busy
	if worked {
		s.learn(c, o, at)
		s.settleTenant(c)
	}
	if p.circuit.probe == c.id { // nothing was learned from it
		p.circuit.probe = 0
		s.passCircuit(p.circuit, at)
	}
	switch {
	case o.Closed, o.Failure != NoFailure && o.Failure != OurOwn, c.last:
		s.shut(c)
	case worked && s.yields(c):
		s.closing = append(s.closing, c.id)
		s.shut(c)
	case worked:
		s.keep(c, at)
		if p.waiting == 0 {
			s.freed = append(s.freed, p.gates...)
		}
	}
	if p.waiting == 0 {
		s.rest(p, at)
	} else {
		s.activate(p)
	}
	s.admitFreed()
}

// settleTenant counts a tenant's connection as done and wakes a flow that waited for it.
func (s *Shaper) settleTenant(c *connection) {
	g := c.limit
	if g == nil {
		return
	}
	c.limit = nil
	g.connections--
	for len(g.parked) > 0 {
		f := g.parked[0]
		g.parked = g.parked[1:]
		f.queued = false
		if f.parked {
			s.unpark(f)
			break
		}
	}
	s.unuse(g)
}

// contendedMessages is how many messages a connection carries before it gives way to a path that waits for its place.
const contendedMessages = 20

// yields tells whether a connection should make room for others: for more urgent mail at once, for other mail after a while.
func (s *Shaper) yields(c *connection) bool {
	p := c.path
	if p.moved {
		return true
	}
	if p.waiting == 0 {
		return false // it is unused, and so can be had
	}
	own := Broadcast
	if f := p.turns.peek(); f != nil {
		own = f.class
	}
	for _, g := range p.gates {
		if g.room() > 0 || g.turns.empty() {
			continue
		}
		if c.messages >= contendedMessages || g.turns.peek().class < own {
			return true
		}
	}
	return false
}

// learn draws the conclusions from an outcome.
func (s *Shaper) learn(c *connection, o Outcome, at instant) {
	p := c.path
	if o.Failure == OurOwn {
		return
	}
	answered, complaint := false, false
	for _, r := range o.Replies {
		if r.Speaker != TheServer {
			continue
		}
		answered = true
		complaint = s.heed(c, r, at) || complaint
	}
	switch {
	case answered || o.Failure == BrokenOff || o.Failure == NoFailure:
		s.reachedServer(p.circuit)
	case o.Failure == NotConnected || o.Failure == NotGreeted:
		s.unreached(p, c.id, failureCause(o), at)
	}
	switch {
	case o.Failure != NoFailure || hangsUp(o.Replies):
		if p.window.failed(at) {
			p.window.strikes = 0
			s.place(Hold{Path: p.key, Kind: Resting, Cause: failureCause(o)}, span{at, at.add(restFor)}, at)
		}
	case answered && !complaint:
		p.window.went(p.row, at)
	}
}

// heed takes one reply of a server to heart, and tells whether it was a complaint about how we send.
func (s *Shaper) heed(c *connection, r Reply, at instant) bool {
	p := c.path
	s.noteBlock(p, c.tenant, r, at)
	if r.accepted() {
		s.forgive(p, c.tenant)
		return false
	}
	s.apply(p, c.tenant, r, at)
	switch {
	case r.Category == report.RateLimited && r.Class == report.Soft:
		p.window.limited(c.started, at)
		return true
	case r.Class == report.Soft && !ofTheMailbox(r.Category):
		p.window.deferred(at)
		return true
	}
	return false
}

// ofTheMailbox tells whether a deferral is about the recipient, or is everybody's lot, and so says nothing about how we send.
func ofTheMailbox(category report.Category) bool {
	switch category {
	case report.MailboxFull, report.MailboxDisabled, report.Greylisted:
		return true
	}
	return false
}

// hangsUp tells whether the server ended the connection with a reply (RFC 5321 §3.8).
func hangsUp(replies []Reply) bool {
	for _, r := range replies {
		if r.Speaker == TheServer && r.Code == 421 {
			return true
		}
	}
	return false
}

// failureCause returns what was said about a failure, or its name.
func failureCause(o Outcome) Cause {
	for _, r := range o.Replies {
		if !r.accepted() {
			return causeOf("", r)
		}
	}
	return Cause{Text: [...]string{"the connection failed", "no server could be reached", "the greeting or encryption failed",
		"the connection broke off", "a failure of our own"}[min(o.Failure, OurOwn)]}
}
