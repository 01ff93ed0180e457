package tlspolicy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"postrider/mail/dane"
	"postrider/mail/mtasts"
	"postrider/mail/tlsrpt"
)

var (
	errNoCertificate = errors.New("the server showed no certificate")
	errUnusable      = errors.New("none of the DANE records can be checked")
)

// check is one who has a say about a connection, or only wants to hear of it.
type check struct {
	// policy is who it is; zero for the sender, of whose wishes nobody else hears.
	policy tlsrpt.Policy
	verify func(tls.ConnectionState) error
	// enforced means that a connection that fails is not used; proves that one that passes is who it should be.
	enforced bool
	proves   bool
	// names are those that a certificate may bear by a promise: they differ between the domains that one server serves.
	names []string
}

// CheckError is why a connection does not satisfy a policy.
type CheckError struct {
	// Policy is empty if it is the sender who is not satisfied.
	Policy tlsrpt.PolicyType
	Err    error
}

// Error returns the reason.
func (e *CheckError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *CheckError) Unwrap() error { return e.Err }

func checks(f Facts, host string) []check {
	byCertificate := func(state tls.ConnectionState) error { return f.certified(state, host) }
	var found []check
	switch f.DANE.State {
	case dane.Usable:
		found = append(found, check{policy: promised(f.DANE), enforced: true, proves: true, names: f.DANE.Names,
			verify: func(state tls.ConnectionState) error { return f.DANE.Verify(state, f.Now) }})
	case dane.Unusable:
		found = append(found, check{policy: promised(f.DANE), verify: func(tls.ConnectionState) error { return errUnusable }})
	}
	switch f.STS.Mode {
	case mtasts.Enforce, mtasts.Testing:
		found = append(found, check{policy: wished(f.Domain, f.STS), enforced: f.STS.Mode == mtasts.Enforce, proves: true,
			verify: func(state tls.ConnectionState) error {
				if !f.STS.Allows(host) {
					return ErrHostNotListed
				}
				return byCertificate(state)
			}})
	}
	if len(found) == 0 {
		found = append(found, check{policy: tlsrpt.Policy{Type: tlsrpt.NoPolicy, Domain: f.Domain}, verify: func(tls.ConnectionState) error { return nil }})
	}
	if f.Demand == DemandCertificate && f.DANE.State != dane.Usable {
		found = append(found, check{enforced: true, proves: true, verify: byCertificate})
	}
	return found
}

func promised(p dane.Promise) tlsrpt.Policy {
	return tlsrpt.Policy{Type: tlsrpt.TLSA, Domain: p.Base, Lines: p.Strings()}
}

func wished(domain string, p mtasts.Policy) tlsrpt.Policy {
	return tlsrpt.Policy{Type: tlsrpt.STS, Domain: domain, Lines: p.Lines(), Hosts: p.MX}
}

// certified checks the certificate as a browser would: its authority, its dates and that it bears the server's name (RFC 8461 §4.1).
func (f Facts) certified(state tls.ConnectionState, host string) error {
	chain := state.PeerCertificates
	if len(chain) == 0 {
		return errNoCertificate
	}
	between := x509.NewCertPool()
	for _, certificate := range chain[1:] {
		between.AddCert(certificate)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: f.Roots, Intermediates: between, CurrentTime: f.Now})
	return err
}
