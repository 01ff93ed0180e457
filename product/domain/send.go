package domain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"postrider/mail/dkim"
	"postrider/platform/db"
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

// ByName returns a domain of the workspace by its name, or ErrNotYours.
func (s *Service) ByName(ctx context.Context, ws space.ID, name string) (Domain, error) {
	var d Domain
	err := s.db.Glance(ctx, func(tx *db.Tx) (err error) {
		d, err = selectByName(tx, ws, name)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return Domain{}, ErrNotYours.With("domain", name)
	}
	return d, err
}

// Holder returns the domain of the one workspace that has verified the name, if any has.
func (s *Service) Holder(ctx context.Context, name string) (d Domain, held bool, err error) {
	err = s.db.Glance(ctx, func(tx *db.Tx) error {
		holders, err := selectHolder(tx, name)
		if len(holders) > 0 {
			d, held = holders[0], true
		}
		return err
	})
	return d, held, err
}

// Load returns domains by id for delivery, which works across workspaces.
func (s *Service) Load(tx *db.Tx, ids []ID) (map[ID]Domain, error) {
	found, err := selectByIDs(tx, ids)
	domains := make(map[ID]Domain, len(found))
	for _, d := range found {
		domains[d.ID] = d
	}
	return domains, err
}

// signerCache keeps parsed keys: reading one costs more than signing with it.
type signerCache struct {
	mu      sync.Mutex
	signers map[string][]*dkim.Signer // by domain and the selectors that sign; guarded by mu
}

func newSignerCache() *signerCache { return &signerCache{signers: map[string][]*dkim.Signer{}} }

// Signers returns the signers of the keys that sign for the domain now, the RSA one first.
func (s *Service) Signers(ctx context.Context, d Domain) ([]*dkim.Signer, error) {
	name := string(d.ID) + " " + strings.Join(d.Signing, " ")
	s.signers.mu.Lock()
	signers, ok := s.signers.signers[name]
	s.signers.mu.Unlock()
	if ok {
		return signers, nil
	}
	if err := s.db.Read(ctx, func(tx *db.Tx) error { return loadKeys(tx, &d) }); err != nil {
		return nil, err
	}
	for _, selector := range d.Signing {
		for _, key := range d.Keys {
			if key.Selector != selector {
				continue
			}
			private, err := s.open(d.ID, key)
			if err != nil {
				return nil, err
			}
			signers = append(signers, dkim.NewSigner(d.Name, selector, private))
		}
	}
	if len(signers) == 0 {
		return nil, fmt.Errorf("domain %s has none of its signing keys %v", d.Name, d.Signing)
	}
	s.signers.mu.Lock()
	defer s.signers.mu.Unlock()
	if len(s.signers.signers) >= maxCached {
		clear(s.signers.signers)
	}
	s.signers.signers[name] = signers
	return signers, nil
}
