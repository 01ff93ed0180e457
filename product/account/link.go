package account

import (
	"errors"
	"net/netip"
	"time"

	"postrider/platform/seal"
)

// link is an address in a mail that carries a token of ours.
func (s *Service) link(path, token string) string { return s.config.BaseURL + path + token }

// verifyLink returns what a link of ours carries.
func (s *Service) verifyLink(purpose, token string, now time.Time) ([]byte, error) {
	payload, err := s.keyring.Verify(purpose, token, now)
	switch {
	case errors.Is(err, seal.ErrExpired):
		return nil, ErrTokenExpired
	case err != nil:
		return nil, errLinkUsed
	}
	return payload, nil
}

// badLink counts a link that is not good against the network address.
func (s *Service) badLink(from netip.Addr, cause error) error {
	if err := s.countTry(from); err != nil {
		return err
	}
	return cause
}
