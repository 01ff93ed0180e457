package domain

import (
	"context"
	"sync"
	"time"

	"postrider/platform/space"
)

const (
	// sendingFor is how long the standing of a domain may be remembered; delivery looks again before it sends.
	sendingFor = time.Second
	maxCached  = 10_000
)

// sendingCache remembers domains that mail was just accepted from: a busy sender asks thousands of times a second.
type sendingCache struct {
	mu      sync.RWMutex
	domains map[sendingKey]cachedDomain // guarded by mu
}

type sendingKey struct {
	workspace space.ID
	name      string
}

type cachedDomain struct {
	domain Domain
	until  time.Time
}

func newSendingCache() *sendingCache { return &sendingCache{domains: map[sendingKey]cachedDomain{}} }

func (c *sendingCache) get(ws space.ID, name string, now time.Time) (Domain, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	cached, ok := c.domains[sendingKey{ws, name}]
	return cached.domain, ok && now.Before(cached.until)
}

func (c *sendingCache) put(d Domain, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.domains) >= maxCached {
		clear(c.domains)
	}
	c.domains[sendingKey{d.Workspace, d.Name}] = cachedDomain{d, now.Add(sendingFor)}
}

func (c *sendingCache) forget(ws space.ID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.domains, sendingKey{ws, name})
}

// ForSending returns the domain if the workspace may send from it now, else the error to tell the customer.
func (s *Service) ForSending(ctx context.Context, ws space.ID, name string) (Domain, error) {
	now := s.world.Clock.Now()
	d, ok := s.sending.get(ws, name, now)
	if !ok {
		var err error
		if d, err = s.ByName(ctx, ws, name); err != nil {
			return Domain{}, err
		}
		s.sending.put(d, now)
	}
	if !d.Verified {
		return Domain{}, ErrAuthBroken.With("domain_id", d.ID).With("domain", d.Name).
			With("checks", map[string]CheckStatus{"spf": d.Checks.SPF.Status, "dkim": d.Checks.DKIM.Status})
	}
	if !d.SendingEnabled {
		return Domain{}, errSendingDisabled.With("domain", d.Name)
	}
	return d, nil
}
