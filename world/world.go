// Package world is the ground everything stands on: time, chance, names, connections and the log.
//
// It is made once, for real in cmd/postrider or seeded in sim, and handed down by constructors. No other package asks the
// operating system for the time, a random number, a name or a connection, so that a whole installation can run in a
// simulated world and a failure there can be replayed from its seed.
package world

import (
	"io"
	"log/slog"
	"time"
)

// World is one set of senses and hands. It is a value: copy it freely.
type World struct {
	Clock    Clock
	Random   io.Reader
	Resolver Resolver
	Dialer   Dialer
	Log      *slog.Logger
	// Tracer is nil in a world that nobody wants to follow work in.
	Tracer Tracer
}

// Clock tells the time and wakes those who wait for it.
type Clock interface {
	// Now returns the current time in UTC.
	Now() time.Time
	// After returns a channel that receives once, when d has passed, and a function that gives the wait up.
	After(d time.Duration) (<-chan time.Time, func())
}

// New returns the real world: the machine's clock and randomness, its network, and log as its diary.
func New(log *slog.Logger) World {
	return World{
		Clock:    SystemClock{},
		Random:   systemRandom{},
		Resolver: NewResolver(SystemServers()),
		Dialer:   newSystemDialer(),
		Log:      log,
	}
}
