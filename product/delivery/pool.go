package delivery

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"postrider/mail/smtp"
	"postrider/product/email"
	"postrider/world"
)

const (
	// maxPerHost bounds the connections to one server: what an unknown one can be expected to bear.
	maxPerHost = 10
	// maxPerConnection bounds the messages of one connection; servers cut off longer ones.
	maxPerConnection = 100
	// idleFor is how long a connection waits for another message.
	idleFor = 30 * time.Second
)

// connection is a conversation with one server that can take another message.
type connection struct {
	// key is where the connection may be used again: the address of a server, or the relay of a workspace.
	key      string
	client   *smtp.Client
	host     string
	local    netip.Addr
	remote   netip.AddrPort
	tls      email.TLSFacts
	messages int
	idleAt   time.Time
}

// pool keeps connections for the next message, and counts those in use.
type pool struct {
	world  world.World
	config Config

	mu     sync.Mutex
	hosts  map[string]*hostPool // by key of the connections; guarded by mu
	closed bool                 // guarded by mu
}

type hostPool struct {
	slots chan struct{} // one for each connection that may be in use
	idle  []*connection // guarded by pool.mu; the last was used last
	users int           // who holds or waits for a slot; guarded by pool.mu
}

func newPool(w world.World, config Config) *pool {
	return &pool{world: w, config: config, hosts: map[string]*hostPool{}}
}

// enter waits for a place among the connections of the key. leave gives it back.
func (p *pool) enter(ctx context.Context, key string) (leave func(), err error) {
	p.mu.Lock()
	h := p.hosts[key]
	if h == nil {
		h = &hostPool{slots: make(chan struct{}, maxPerHost)}
		p.hosts[key] = h
	}
	h.users++
	p.mu.Unlock()
	left := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		h.users--
		if h.users == 0 && len(h.idle) == 0 {
			delete(p.hosts, key)
		}
	}
	select {
	case h.slots <- struct{}{}:
		return func() { <-h.slots; left() }, nil
	case <-ctx.Done():
		left()
		return nil, ctx.Err()
	}
}

// reuse returns an idle connection of the key, or nil.
func (p *pool) reuse(key string, needTLS bool) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[key]
	if h == nil {
		return nil
	}
	oldest := p.world.Clock.Now().Add(-idleFor)
	for len(h.idle) > 0 {
		c := h.idle[len(h.idle)-1]
		h.idle = h.idle[:len(h.idle)-1]
		if c.idleAt.After(oldest) && c.client.Usable() && (c.tls.Used || !needTLS) {
			return c
		}
		c.client.Close()
	}
	return nil
}

// keep takes a connection back after a message, or ends it if it has served its time.
func (p *pool) keep(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[c.key]
	if p.closed || h == nil || !c.client.Usable() || c.messages >= maxPerConnection {
		go c.client.Quit(context.Background())
		return
	}
	c.idleAt = p.world.Clock.Now()
	h.idle = append(h.idle, c)
}

func (s *Service) sweepConnections(context.Context) (bool, error) {
	s.pool.sweep()
	return false, nil
}

// sweep ends the connections that nobody has used for a while.
func (p *pool) sweep() {
	oldest := p.world.Clock.Now().Add(-idleFor)
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, h := range p.hosts {
		for len(h.idle) > 0 && !h.idle[0].idleAt.After(oldest) {
			go h.idle[0].client.Quit(context.Background())
			h.idle = h.idle[1:]
		}
		if h.users == 0 && len(h.idle) == 0 {
			delete(p.hosts, key)
		}
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, h := range p.hosts {
		for _, c := range h.idle {
			c.client.Close()
		}
		h.idle = nil
	}
}
