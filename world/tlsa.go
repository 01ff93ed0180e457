package world

import (
	"context"
	"encoding/hex"

	"github.com/miekg/dns"
)

// TLSA is what a name says about the certificate of a service (RFC 6698 §2.1).
type TLSA struct {
	Usage    uint8
	Selector uint8
	Matching uint8
	// Data is the certificate, the key, or the hash of one.
	Data []byte
}

// TLSAResolver is a resolver that can also be asked which certificate a service promises. It stands beside Resolver because only
// delivery asks, and a world without it is one in which nobody makes promises.
type TLSAResolver interface {
	// TLSA returns the records of a name such as _25._tcp.mx.example.com.
	TLSA(ctx context.Context, name string) ([]TLSA, Answer, error)
}

// TLSA keeps records whose data is no hexadecimal text, without data: that there are records says something by itself.
func (r *resolver) TLSA(ctx context.Context, name string) ([]TLSA, Answer, error) {
	return lookup(ctx, r, name, dns.TypeTLSA, func(rr *dns.TLSA) TLSA {
		data, err := hex.DecodeString(rr.Certificate)
		if err != nil {
			data = nil
		}
		return TLSA{Usage: rr.Usage, Selector: rr.Selector, Matching: rr.MatchingType, Data: data}
	})
}
