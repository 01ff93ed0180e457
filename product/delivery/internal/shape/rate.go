package shape

import (
	"math"
	"time"
)

// rate lets through one each interval, and more at once as long as they fit into the tolerance (the generic cell rate algorithm,
// GCRA). All that it remembers of the past is one moment: when it would have been through with what it let pass, had it let it
// pass evenly. The zero rate lets everything through.
type rate struct{ interval, tolerance time.Duration }

// burstShare is which part of a window's count may come at once.
const burstShare = 10

// newRate returns the rate that lets at most count through in any stretch of the given length, wherever it begins: a burst, and
// after it evenly what is left. Below one it is one in a stretch that is so much longer.
func newRate(count float64, window time.Duration) rate {
	if count <= 0 {
		return rate{}
	}
	if count < 1 {
		return rate{interval: time.Duration(math.Ceil(float64(window) / count))}
	}
	whole := math.Floor(count)
	burst := max(math.Floor(whole/burstShare), 1)
	interval := time.Duration(math.Ceil(float64(window) / (whole - burst + 1)))
	return rate{interval: interval, tolerance: time.Duration(burst-1) * interval}
}

// opens returns when the next may pass: at or before now if it may at once.
func (r rate) opens(past *instant, now instant) instant {
	if r.interval == 0 {
		return now
	}
	// A clock that was set back, or a rate that was slower before, must not close it for longer than it can be.
	*past = min(*past, now.add(r.tolerance+r.interval))
	return past.add(-r.tolerance)
}

// pass notes that one more has passed now.
func (r rate) pass(past *instant, now instant) {
	if r.interval > 0 {
		*past = max(*past, now).add(r.interval)
	}
}

// line gives those who wait for a rate moments of their own, so that not all come when one can pass.
type line struct{ last instant }

// moment returns when to come again. Nobody waits for long without looking: those before may have gone elsewhere.
func (l *line) moment(r rate, opens, now instant) instant {
	next := max(opens, l.last.add(r.interval))
	next = max(min(next, now.add(pollEvery)), now+1)
	l.last = next
	return next
}
