package spf

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/mjl-/adns"
	moxdns "github.com/mjl-/mox/dns"

	"postrider/world"
)

const (
	// maxPolicies is how many records one evaluation may read: the first, those of MaxLookups terms, and an explanation. The
	// library does not count redirects, so that two policies that point at each other would never end.
	maxPolicies = MaxLookups + 2
	// maxQuestions bounds all that one evaluation asks: a term may lead to ten names of mail servers (RFC 7208 §4.6.4).
	maxQuestions = MaxLookups*11 + maxPolicies
)

// resolver answers the library's questions with ours. What it never asks is answered by the mock, which knows nothing. It is for
// one evaluation.
type resolver struct {
	moxdns.MockResolver
	names world.Resolver
	// sender is whom the policy is asked about.
	sender netip.Addr
	// policies and questions count what was asked; exceeded is set when it became too much.
	policies, questions int
	exceeded            bool
}

// count tells whether one more question may be asked.
func (r *resolver) count() bool {
	r.questions++
	r.exceeded = r.exceeded || r.questions > maxQuestions || r.policies > maxPolicies
	return !r.exceeded
}

// notFound gives an error the form in which the library tells a missing record from silence.
func notFound(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return &adns.DNSError{Err: err.Error(), Name: name, IsNotFound: true}
	}
	return &adns.DNSError{Err: err.Error(), Name: name, IsTemporary: true}
}

func result(answer world.Answer) adns.Result { return adns.Result{Authentic: answer.Authentic} }

// LookupTXT returns the texts of a name.
func (r *resolver) LookupTXT(ctx context.Context, name string) ([]string, adns.Result, error) {
	if r.policies++; !r.count() {
		return nil, adns.Result{}, notFound(name, ErrTooManyLookups)
	}
	texts, answer, err := r.names.TXT(ctx, strings.TrimSuffix(name, "."))
	return texts, result(answer), notFound(name, err)
}

// LookupIP returns the addresses of a host; network is "ip", "ip4" or "ip6".
func (r *resolver) LookupIP(ctx context.Context, network, host string) ([]net.IP, adns.Result, error) {
	if !r.count() {
		return nil, adns.Result{}, notFound(host, ErrTooManyLookups)
	}
	addresses, answer, err := r.names.IP(ctx, strings.TrimSuffix(host, "."))
	var found []net.IP
	alike := false
	for _, a := range addresses {
		if a = a.Unmap(); network == "ip" || a.Is4() == (network == "ip4") {
			found = append(found, a.AsSlice())
		}
		alike = alike || a.Is4() == (network == "ip4" || r.sender.Is4())
	}
	switch {
	case err == nil && answer.Partial && !alike: // the sender may be among those that nobody named
		return nil, result(answer), notFound(host, world.ErrUnanswered)
	case err == nil && len(found) == 0:
		err = world.ErrNoData
	}
	return found, result(answer), notFound(host, err)
}

// LookupMX returns the mail servers of a domain.
func (r *resolver) LookupMX(ctx context.Context, name string) ([]*net.MX, adns.Result, error) {
	if !r.count() {
		return nil, adns.Result{}, notFound(name, ErrTooManyLookups)
	}
	servers, answer, err := r.names.MX(ctx, strings.TrimSuffix(name, "."))
	var found []*net.MX
	for _, s := range servers {
		found = append(found, &net.MX{Host: strings.TrimSuffix(s.Host, ".") + ".", Pref: s.Preference})
	}
	return found, result(answer), notFound(name, err)
}

// LookupAddr returns the names of an address.
func (r *resolver) LookupAddr(ctx context.Context, addr string) ([]string, adns.Result, error) {
	parsed, err := netip.ParseAddr(addr)
	if err != nil || !r.count() {
		return nil, adns.Result{}, notFound(addr, world.ErrNoName)
	}
	found, answer, err := r.names.PTR(ctx, parsed)
	for i, name := range found {
		found[i] = strings.TrimSuffix(name, ".") + "."
	}
	return found, result(answer), notFound(addr, err)
}
