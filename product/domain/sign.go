package domain

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"postrider/mail/dkim"
	"postrider/platform/db"
)

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
