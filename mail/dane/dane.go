// Package dane checks mail servers against the certificates that the DNS promises for them (DANE for SMTP, RFC 7672).
//
// A promise counts only if the whole way to it is signed: the MX records of the recipient's domain, the addresses of the server and
// the TLSA records themselves. Whether they are, the resolver says (world.Answer). Where it does, a server that breaks the promise
// gets no mail; where a name server is silent about a promise, the server is left alone, for silence is what an attacker would make.
//
// Certificates are checked against the time that is handed in, which is why this is written out here instead of called in a
// library; the tests compare it with one.
package dane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postrider/world"
)

// Values of the fields of a record that mail servers may use (RFC 7672 §3.1; RFC 6698 §2.1).
const (
	usageTA = 2 // an authority that signs the server's certificate
	usageEE = 3 // the server's certificate itself

	selectCertificate = 0
	selectKey         = 1

	matchFull   = 0
	matchSHA256 = 1
	matchSHA512 = 2
)

// State says how much a server promises.
type State string

const (
	// Absent means no promise: DANE has no say.
	Absent State = "absent"
	// Unusable means that there are signed records, but none that can be checked. Encryption is required, proof is not
	// (RFC 7672 §2.2).
	Unusable State = "unusable"
	// Usable means that the server must be encrypted and match a record.
	Usable State = "usable"
)

// Server is a mail server and how it was found.
type Server struct {
	// Domain is the recipient's, and MX the answer to the question for its MX records, even if that was "none".
	Domain string
	MX     world.Answer
	// Host is the server's name in the MX record, or the domain if there is none; Addresses the answer to the question for its
	// addresses.
	Host      string
	Addresses world.Answer
	Port      uint16
}

// Promise is what is known of a server's certificate before it is asked for it.
type Promise struct {
	State State
	// Base is the name the records were found under, and the one to ask the server for (RFC 7672 §8.1).
	Base string
	// Names are those that a certificate signed by a promised authority may bear.
	Names []string
	// Records are those that can be checked.
	Records []world.TLSA
}

// Lookup finds what a server promises. An error means that it cannot be known now and that the server must not be used
// (RFC 7672 §2.1.2); another server or a later attempt may.
func Lookup(ctx context.Context, names world.Resolver, s Server) (Promise, error) {
	promises, able := names.(world.TLSAResolver)
	if !able || !s.MX.Authentic {
		return Promise{State: Absent}, nil
	}
	bases, err := s.bases(ctx, names)
	if err != nil {
		return Promise{}, err
	}
	for _, base := range bases {
		records, answer, err := promises.TLSA(ctx, fmt.Sprintf("_%d._tcp.%s", s.Port, base))
		switch {
		case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData), err == nil && !answer.Authentic:
			continue
		case err != nil:
			return Promise{}, fmt.Errorf("TLSA records of %s: %w", base, err)
		}
		return s.promise(base, records), nil
	}
	return Promise{State: Absent}, nil
}

// bases returns the names under which the records may be (RFC 7672 §2.2.2): where a signed chain of aliases ends, then the server's
// own name. If the chain leaves the signed part of the DNS, only a signed first alias makes the own name count.
func (s Server) bases(ctx context.Context, names world.Resolver) ([]string, error) {
	host, target := clean(s.Host), clean(s.Addresses.Canonical)
	aliased := target != "" && target != host
	switch {
	case s.Addresses.Authentic && aliased:
		return []string{target, host}, nil
	case s.Addresses.Authentic:
		return []string{host}, nil
	case !aliased:
		return nil, nil
	}
	_, answer, err := names.CNAME(ctx, host)
	switch {
	case err == nil && answer.Authentic:
		return []string{host}, nil
	case err == nil, errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return nil, nil
	}
	return nil, fmt.Errorf("alias of %s: %w", host, err)
}

func (s Server) promise(base string, records []world.TLSA) Promise {
	p := Promise{State: Unusable, Base: base, Records: usable(records)}
	if len(p.Records) == 0 {
		return p
	}
	p.State = Usable
	// RFC 7672 §3.2.2, and RFC 7671 §7 for the server's own name behind an alias.
	for _, name := range []string{base, clean(s.Host), clean(s.Domain), clean(s.MX.Canonical)} {
		if name != "" && !slices.Contains(p.Names, name) {
			p.Names = append(p.Names, name)
		}
	}
	return p
}

func clean(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
