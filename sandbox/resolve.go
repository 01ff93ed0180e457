package sandbox

import (
	"net"
	"strings"

	"github.com/miekg/dns"
)

const (
	// maxAliases bounds a chain of CNAMEs, which may be a loop.
	maxAliases = 8
	// mxPrefix makes the name of the mail server that every domain has for itself.
	mxPrefix = "mx."
)

// Domains that do not behave, with all names under them.
const (
	noMailDomain   = "nomx.test"     // takes no mail (RFC 7505)
	missingDomain  = "nxdomain.test" // does not exist
	troubledDomain = "servfail.test" // cannot be resolved
)

// answer is what the name server says to a question.
type answer struct {
	rcode   int
	records []dns.RR
}

// resolve answers a question from the state at a moment. Aliases are followed as a recursive server would.
func (z *zone) resolve(when moment, name string, kind uint16) answer {
	z.mu.RLock()
	defer z.mu.RUnlock()
	var chain []dns.RR
	for range maxAliases {
		if alias := z.alias(when, name, kind); alias != nil {
			chain = append(chain, alias)
			name = canonicalName(alias.Target)
			continue
		}
		end := z.find(when, name, kind)
		end.records = append(chain, end.records...)
		return end
	}
	return answer{rcode: dns.RcodeServerFailure}
}

// canonicalName turns a name from the wire into one of the zone.
func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

func (z *zone) alias(when moment, name string, kind uint16) *dns.CNAME {
	if kind == dns.TypeCNAME {
		return nil
	}
	if _, published := z.records(when, name, kind); published {
		return nil
	}
	records, _ := z.records(when, name, dns.TypeCNAME)
	if len(records) == 0 {
		return nil
	}
	return records[0].(*dns.CNAME)
}

// find answers for a name that is no alias. What was published wins; other names behave as if somebody had set them up.
func (z *zone) find(when moment, name string, kind uint16) answer {
	if records, published := z.records(when, name, kind); published {
		return answer{records: records}
	}
	exists := z.has(when, name) || z.below[name] > 0
	switch {
	case exists && (isUnder(name, "arpa") || isUnderscored(name)):
		return answer{}
	case !exists && isUnder(name, troubledDomain):
		return answer{rcode: dns.RcodeServerFailure}
	case !exists && (isUnder(name, missingDomain) || isUnder(name, "arpa")):
		return answer{rcode: dns.RcodeNameError}
	case isUnderscored(name) && z.isInPublishedZone(name):
		return answer{rcode: dns.RcodeNameError}
	case isUnderscored(name) || name == "":
		return answer{}
	case kind == dns.TypeMX:
		return answer{records: z.usualMX(when, name)}
	case kind == dns.TypeA:
		return answer{records: z.usualA(when, name)}
	}
	return answer{}
}

// usualMX gives every domain a mail server of its own, so that a sender who treats hosts apart can be seen doing so. A name
// with published addresses speaks for itself: without an MX, mail goes to the address (RFC 5321 §5.1).
func (z *zone) usualMX(when moment, name string) []dns.RR {
	if isUnder(name, noMailDomain) {
		return []dns.RR{&dns.MX{Hdr: header(name, dns.TypeMX), Preference: 0, Mx: "."}}
	}
	_, v4 := z.records(when, name, dns.TypeA)
	_, v6 := z.records(when, name, dns.TypeAAAA)
	_, possible := dns.IsDomainName(mxPrefix + name)
	if v4 || v6 || !possible {
		return nil
	}
	return []dns.RR{&dns.MX{Hdr: header(name, dns.TypeMX), Preference: 10, Mx: dns.Fqdn(mxPrefix + name)}}
}

func (z *zone) usualA(when moment, name string) []dns.RR {
	if _, v6 := z.records(when, name, dns.TypeAAAA); v6 {
		return nil
	}
	return []dns.RR{&dns.A{Hdr: header(name, dns.TypeA), A: net.IPv4(127, 0, 0, 1)}}
}

// isInPublishedZone reports whether somebody published a name in the same domain, so that a name missing there is a fact.
// Top-level domains do not count: nobody publishes those.
func (z *zone) isInPublishedZone(name string) bool {
	for {
		_, parent, found := strings.Cut(name, ".")
		if !found || !strings.Contains(parent, ".") {
			return false
		}
		if z.below[parent] > 0 {
			return true
		}
		name = parent
	}
}

// isUnderscored reports whether a name is one of records about a domain (_dmarc, _domainkey) and not of a host.
func isUnderscored(name string) bool {
	return strings.HasPrefix(name, "_") || strings.Contains(name, "._")
}

func isUnder(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// mailHost returns the most preferred mail server of a domain, or "" if it has none or cannot be resolved.
func (z *zone) mailHost(domain string) string {
	best, found := "", false
	var preference uint16
	for _, record := range z.resolve(z.moment(), canonicalName(domain), dns.TypeMX).records {
		if mx, ok := record.(*dns.MX); ok && (!found || mx.Preference < preference) {
			best, preference, found = canonicalName(mx.Mx), mx.Preference, true
		}
	}
	return best
}
