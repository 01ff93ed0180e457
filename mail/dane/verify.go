package dane

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"postrider/world"
)

// ErrMismatch means that the server has none of the certificates that were promised for it.
var ErrMismatch = errors.New("the server's certificate is not the one that its DANE records promise")

// Verify tells whether a server has kept its promise. Only a Usable promise can be kept. The error is ErrMismatch, with the reasons
// of crypto/x509 if an authority matched and the certificate did not convince.
func (p Promise) Verify(state tls.ConnectionState, now time.Time) error {
	chain := state.PeerCertificates
	if p.State != Usable || len(chain) == 0 {
		return ErrMismatch
	}
	var reasons []error
	for _, r := range p.Records {
		switch r.Usage {
		case usageEE:
			// The record itself says whose key it is and for how long: neither name nor dates matter (RFC 7672 §3.1.1).
			if matches(r, chain[0]) {
				return nil
			}
		case usageTA:
			anchors, found := anchorsOf(r, chain)
			if !found {
				continue
			}
			err := p.signed(chain, anchors, now)
			if err == nil {
				return nil
			}
			reasons = append(reasons, err)
		}
	}
	if len(reasons) > 0 {
		return fmt.Errorf("%w: %w", ErrMismatch, errors.Join(reasons...))
	}
	return ErrMismatch
}

// anchorsOf returns the authority that a record names. A whole certificate in the record need not be sent by the server
// (RFC 7671 §5.2.2); for the others it must be.
func anchorsOf(r world.TLSA, chain []*x509.Certificate) (*x509.CertPool, bool) {
	anchors, found := x509.NewCertPool(), false
	if r.Selector == selectCertificate && r.Matching == matchFull {
		if certificate, err := x509.ParseCertificate(r.Data); err == nil {
			anchors.AddCert(certificate)
			found = true
		}
	}
	for _, certificate := range chain {
		if matches(r, certificate) {
			anchors.AddCert(certificate)
			found = true
		}
	}
	return anchors, found
}

// signed checks the chain up to the anchors, with dates, and that the certificate bears one of the names.
func (p Promise) signed(chain []*x509.Certificate, anchors *x509.CertPool, now time.Time) error {
	between := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		between.AddCert(certificate)
	}
	options := x509.VerifyOptions{Roots: anchors, Intermediates: between, CurrentTime: now}
	if _, err := chain[0].Verify(options); err != nil {
		return err
	}
	unnamed := chain[0].VerifyHostname(p.Base)
	for _, name := range p.Names {
		if unnamed == nil || chain[0].VerifyHostname(name) == nil {
			return nil
		}
	}
	return unnamed
}
