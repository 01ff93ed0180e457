package shape

import "time"

// window is how many connections a path may have, as far as it has earned them. Two things limit it: the ceiling, which doubles
// with each stretch of time without deferrals and halves when the site asks for less; and the width below it, which each message
// that goes well widens and each connection that does not narrows.
type window struct {
	ceiling  int // connections
	messages int // on each
	width    float64
	strikes  int // failures in a row when the width was one
	clean    instant
	halved   instant
}

// maxStrikes is how many connections must fail one after the other at width one before the path rests.
const maxStrikes = 3

// restFor is how long a path rests before it is tried again, with one connection.
const restFor = 5 * time.Minute

func newWindow(row *Provider) window {
	start := min(row.StartConnections, row.Connections)
	return window{ceiling: start, messages: min(row.StartMessages, row.MessagesPerConnection), width: float64(start)}
}

// untouched tells whether nothing was learned yet.
func (w window) untouched(row *Provider) bool {
	fresh := newWindow(row)
	fresh.clean = w.clean
	return w == fresh
}

// allowed returns how many connections the path may have.
func (w window) allowed() int { return max(int(w.width), 1) }

// went notes a message about which the site had no complaint.
func (w *window) went(row *Provider, at instant) {
	w.strikes = 0
	if w.clean == 0 || w.clean > at {
		w.clean = at
	}
	if at.sub(w.clean) >= time.Duration(row.DoubleAfter) {
		w.ceiling = min(2*w.ceiling, row.Connections)
		w.messages = min(2*w.messages, row.MessagesPerConnection)
		w.clean = at
	}
	w.width = min(w.width+1/max(w.width, 1), float64(w.ceiling))
}

// deferred notes that the site wants us later: the time without deferrals starts anew.
func (w *window) deferred(at instant) { w.clean = at }

// failed notes a connection that failed, or that the site ended, and tells whether the path should rest.
func (w *window) failed(at instant) bool {
	w.clean = at
	if w.width >= 2 {
		w.width--
		return false
	}
	w.width = 1
	w.strikes++
	return w.strikes >= maxStrikes
}

// limited notes that the site asked for less. What was under way when we last gave way says nothing new.
func (w *window) limited(started, at instant) {
	w.clean = at
	if started <= w.halved && w.halved <= at {
		return
	}
	w.halve(at)
}

func (w *window) halve(at instant) {
	w.clean, w.halved = at, at
	w.ceiling = max(w.ceiling/2, 1)
	w.messages = max(w.messages/2, 1)
	w.width = min(w.width, float64(w.ceiling))
}

// halfBacklog is the backlog at which half of the connections are worth having: what one new connection carries.
const halfBacklog = 20

// wanted returns how many of the allowed connections a backlog is worth. It rises ever more slowly: one for one message, half of
// them for halfBacklog, all of them only for many times as much.
func wanted(allowed, backlog int) int {
	return (allowed*backlog + backlog + halfBacklog - 1) / (backlog + halfBacklog)
}
