package sandbox

import (
	"context"
	"net"
	"net/netip"
	"strings"

	"github.com/miekg/dns"
	"github.com/mjl-/adns"
	moxdns "github.com/mjl-/mox/dns"
)

// view is the zone at a moment, as the checks of authentication ask for it. What they never ask is answered by the mock, which
// knows nothing.
type view struct {
	moxdns.MockResolver
	zone *zone
	when moment
}

// lookup returns the records of a type, or the error that resolvers of the standard library give.
func lookup[RR dns.RR](v view, name string, kind uint16) ([]RR, error) {
	found := v.zone.resolve(v.when, canonicalName(name), kind)
	var records []RR
	for _, record := range found.records {
		if r, ok := record.(RR); ok {
			records = append(records, r)
		}
	}
	switch {
	case found.rcode == dns.RcodeServerFailure:
		return nil, &net.DNSError{Err: "server failure", Name: name, IsTemporary: true}
	case len(records) == 0:
		return nil, &net.DNSError{Err: "no such record", Name: name, IsNotFound: true}
	}
	return records, nil
}

// texts returns the texts of a name, the strings of each joined.
func (v view) texts(name string) ([]string, error) {
	records, err := lookup[*dns.TXT](v, name, dns.TypeTXT)
	var texts []string
	for _, record := range records {
		texts = append(texts, plainText(record))
	}
	return texts, err
}

// plainText undoes splitText.
func plainText(record *dns.TXT) string {
	var b strings.Builder
	text := strings.Join(record.Txt, "")
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			b.WriteByte(text[i])
		case i+3 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			b.WriteByte((text[i+1]-'0')*100 + (text[i+2]-'0')*10 + (text[i+3] - '0'))
			i += 3
		default:
			i++
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// LookupTXT returns the texts of a name.
func (v view) LookupTXT(_ context.Context, name string) ([]string, adns.Result, error) {
	texts, err := v.texts(name)
	return texts, adns.Result{}, err
}

// LookupIP returns the addresses of a host; network is "ip", "ip4" or "ip6".
func (v view) LookupIP(_ context.Context, network, host string) ([]net.IP, adns.Result, error) {
	var addresses []net.IP
	var failure error
	if network != "ip6" {
		records, err := lookup[*dns.A](v, host, dns.TypeA)
		for _, record := range records {
			addresses = append(addresses, record.A)
		}
		failure = err
	}
	if network != "ip4" {
		records, err := lookup[*dns.AAAA](v, host, dns.TypeAAAA)
		for _, record := range records {
			addresses = append(addresses, record.AAAA)
		}
		failure = err
	}
	if len(addresses) > 0 {
		return addresses, adns.Result{}, nil
	}
	return nil, adns.Result{}, failure
}

// LookupMX returns the mail servers of a domain.
func (v view) LookupMX(_ context.Context, name string) ([]*net.MX, adns.Result, error) {
	records, err := lookup[*dns.MX](v, name, dns.TypeMX)
	var servers []*net.MX
	for _, record := range records {
		servers = append(servers, &net.MX{Host: record.Mx, Pref: record.Preference})
	}
	return servers, adns.Result{}, err
}

// LookupAddr returns the names of an address.
func (v view) LookupAddr(_ context.Context, addr string) ([]string, adns.Result, error) {
	if _, err := netip.ParseAddr(addr); err != nil {
		return nil, adns.Result{}, &net.DNSError{Err: "not an address", Name: addr, IsNotFound: true}
	}
	reverse, err := dns.ReverseAddr(addr)
	if err != nil {
		return nil, adns.Result{}, err
	}
	records, err := lookup[*dns.PTR](v, reverse, dns.TypePTR)
	var names []string
	for _, record := range records {
		names = append(names, record.Ptr)
	}
	return names, adns.Result{}, err
}
