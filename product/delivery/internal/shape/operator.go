package shape

import (
	"errors"
	"time"
)

// What an operator may get wrong.
var (
	errPastTime = errors.New("the time until which it holds has passed; give a later one")
	errNoLimits = errors.New("no limit is given; give at least one")
)

// Suspend stops a path, or one tenant on it, until a time. What waits there returns.
func (s *Shaper) Suspend(now time.Time, path Path, tenant, note string, until time.Time) error {
	at := s.tick(now)
	if !until.After(now) {
		return errPastTime
	}
	s.place(Hold{Path: path, Tenant: tenant, Kind: Stopped, Cause: Cause{Text: note}}, span{at, instantOf(until)}, at)
	return nil
}

// Resume lifts everything that stops or slows a path, or one tenant on it, whoever ordered it; adjusted limits stay. With a whole
// path it also forgives its provider failed connections and blocked mail. It tells whether there was anything to lift.
func (s *Shaper) Resume(now time.Time, path Path, tenant string) bool {
	s.tick(now)
	lifted := false
	for _, kind := range pathKinds {
		if kind != Adjusted {
			lifted = s.lift(holdKey{path, tenant, kind}) || lifted
		}
	}
	if tenant != "" {
		return lifted
	}
	c := s.circuits[s.circuitKey(path.Site)]
	if c == nil {
		return lifted
	}
	lifted = lifted || !c.closed() || c.paused != (span{})
	c.open, c.paused, c.probe, c.failures, c.cause, c.blocked, c.pauses, c.blocks = span{}, span{}, 0, 0, Cause{}, Cause{}, 0, blockRate{}
	s.timers.stop(&c.timer)
	s.wakeAll(c)
	s.tidyCircuit(c)
	return lifted
}

// Adjust gives a path other limits until a time. They stand above the provider's and above what the path has earned.
func (s *Shaper) Adjust(now time.Time, path Path, limits Limits, note string, until time.Time) error {
	at := s.tick(now)
	if !until.After(now) {
		return errPastTime
	}
	if limits == (Limits{}) {
		return errNoLimits
	}
	if err := limits.check(); err != nil {
		return err
	}
	s.place(Hold{Path: path, Kind: Adjusted, Cause: Cause{Text: note}, Limits: limits}, span{at, instantOf(until)}, at)
	return nil
}

// Readjust takes the adjusted limits of a path back, and tells whether there were any.
func (s *Shaper) Readjust(now time.Time, path Path) bool {
	s.tick(now)
	return s.lift(holdKey{path: path, kind: Adjusted})
}
