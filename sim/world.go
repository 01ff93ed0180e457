// Package sim runs a whole installation in a seeded world: a clock that jumps, a network that fails, a disk that refuses, a process
// that dies between any two beats. What a customer was promised is written into a ledger, and in the end the ledger and the
// installation must agree. A run that fails prints its seed; the same seed fails the same way again.
package sim

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"time"

	"postrider/world"
)

// clock stands still until it is moved. Nothing in the simulation waits for it: the simulator calls the steps itself.
type clock struct {
	mu     sync.Mutex
	now    time.Time // guarded by mu
	latest time.Time // the latest it ever showed; guarded by mu
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Two looks never show the same moment, so that things keep their order.
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.After(c.latest) {
		c.latest = c.now
	}
	c.now = c.now.Add(d)
}

// isBehind tells whether the clock was set back and has not caught up yet. Until then rates of the API stay used up.
func (c *clock) isBehind() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now.Before(c.latest)
}

func (c *clock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// lockedRandom lets servers and the installation draw from one seeded source.
type lockedRandom struct {
	mu     sync.Mutex
	source *rand.ChaCha8 // guarded by mu
}

func (r *lockedRandom) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.source.Read(p)
}

// names is a name service in which every domain of the simulation exists, and sometimes does not answer.
type names struct {
	network *network
	records map[string][]string // TXT and CNAME by "type name"
}

func (n *names) put(kind, name, value string) {
	key := kind + " " + name
	n.records[key] = append(n.records[key], value)
}

func (n *names) find(kind, name string) ([]string, error) {
	if found := n.records[kind+" "+name]; len(found) > 0 {
		return found, nil
	}
	return nil, world.ErrNoData
}

func (n *names) MX(_ context.Context, name string) ([]world.MX, world.Answer, error) {
	switch {
	case strings.HasPrefix(name, "null."):
		return []world.MX{{Host: "."}}, world.Answer{}, nil
	case strings.HasPrefix(name, "gone."):
		return nil, world.Answer{}, world.ErrNoName
	case n.network.flaky():
		return nil, world.Answer{}, world.ErrUnanswered
	}
	return []world.MX{{Host: "mx1." + name, Preference: 10}, {Host: "mx2." + name, Preference: 20}}, world.Answer{}, nil
}

func (n *names) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	found, err := n.find("TXT", name)
	return found, world.Answer{}, err
}

func (n *names) CNAME(_ context.Context, name string) (string, world.Answer, error) {
	found, err := n.find("CNAME", name)
	if err != nil {
		return "", world.Answer{}, err
	}
	return found[0], world.Answer{}, nil
}

func (n *names) IP(_ context.Context, name string) ([]netip.Addr, world.Answer, error) {
	return []netip.Addr{n.network.addressOf(name)}, world.Answer{}, nil
}

func (n *names) PTR(context.Context, netip.Addr) ([]string, world.Answer, error) {
	return nil, world.Answer{}, world.ErrNoName
}

func silence() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
