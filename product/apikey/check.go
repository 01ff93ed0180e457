package apikey

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/netip"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/account"
)

// known is what the check of a key needs, ready to be handed out. It is shared between requests and never changed.
type known struct {
	key       Key
	principal api.Principal
	suspended *api.Error // nil if the workspace is active
	missing   bool       // there is no such key
	readAt    time.Time
}

// CheckKey returns whom a key stands for. Errors are those of api.KeyChecker. Every answer is at most a second old.
func (s *Service) CheckKey(ctx context.Context, token string, from netip.Addr) (api.Principal, error) {
	publicID, hash, ok := readToken(token)
	if !ok {
		return api.Principal{}, api.ErrInvalidKey
	}
	now := s.world.Clock.Now()
	k := s.cache.find(publicID, now)
	if k == nil {
		var err error
		if k, err = s.load(ctx, publicID, now); err != nil {
			return api.Principal{}, err
		}
	}
	if k.missing || !k.key.holds(hash, now) {
		return api.Principal{}, api.ErrInvalidKey
	}
	switch k.key.Status(now) {
	case Revoked:
		return api.Principal{}, api.ErrInvalidKey
	case Expired:
		return api.Principal{}, api.ErrKeyExpired.With("expires_at", api.Time(k.key.ExpiresAt))
	}
	if k.suspended != nil {
		return api.Principal{}, k.suspended
	}
	s.uses.note(k.key.ID, from, now)
	return k.principal, nil
}

// Forget makes the next check of the key read it again.
func (s *Service) Forget(token string) {
	if publicID, _, ok := readToken(token); ok {
		s.cache.forget(publicID)
	}
}

// holds compares in constant time, with the secret of today and with the one before while it is good.
func (k *Key) holds(hash digest, now time.Time) bool {
	current := subtle.ConstantTimeCompare(hash[:], k.hash[:])
	previous := subtle.ConstantTimeCompare(hash[:], k.previousHash[:])
	return current == 1 || previous == 1 && now.Before(k.previousUntil)
}

// load reads a key and its workspace, and remembers both unless something changed meanwhile.
func (s *Service) load(ctx context.Context, publicID string, now time.Time) (*known, error) {
	generation := s.cache.begin()
	k := &known{readAt: now}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		key, err := selectKeyByPublicID(tx, publicID)
		if errors.Is(err, db.ErrNotFound) {
			k.missing = true
			return nil
		}
		if err != nil {
			return err
		}
		w, err := s.accounts.Workspace(tx, key.Workspace)
		if err != nil {
			return err
		}
		k.key, k.principal = key, principalOf(key, w)
		if w.Status == account.Suspended {
			k.suspended = api.ErrSuspended.With("reason", w.Reason)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.cache.keep(publicID, k, generation)
	return k, nil
}

func principalOf(k Key, w account.Workspace) api.Principal {
	p := api.Principal{Workspace: k.Workspace, Plan: string(w.Plan), KeyID: string(k.ID), Scopes: k.Scopes, Test: k.Mode == Test, DomainIDs: k.DomainIDs}
	for _, text := range k.Networks {
		network, ok := parseNetwork(text)
		if !ok {
			panic("apikey: stored network " + text + " of key " + string(k.ID))
		}
		p.Networks = append(p.Networks, network)
	}
	return p
}
