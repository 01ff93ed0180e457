package world

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Answers of a name server that are not data. A caller decides by errors.Is; anything else is a programming mistake.
var (
	// ErrNoName means the name does not exist (NXDOMAIN).
	ErrNoName = errors.New("name does not exist")
	// ErrNoData means the name exists but holds no record of the asked type.
	ErrNoData = errors.New("no record of this type")
	// ErrUnanswered means nobody gave a usable answer: timeout, SERVFAIL, REFUSED, broken packet. It says nothing about
	// whether the record exists.
	ErrUnanswered = errors.New("name server gave no usable answer")
)

// MX is a mail exchanger and its preference; lower is preferred. A host of "." is the null MX of RFC 7505.
type MX struct {
	Host       string
	Preference uint16
}

// Answer tells how an answer came about.
type Answer struct {
	// Authentic is true when the configured server vouches for the answer (the AD bit of a trusted resolver).
	Authentic bool
	// Canonical is the name that held the records after following aliases, without the final dot.
	Canonical string
	// Partial is true when nobody answered for one of the two kinds of addresses of IP, so that there may be more.
	Partial bool
}

// Resolver asks the domain name system. Names are given and returned without the final dot.
type Resolver interface {
	MX(ctx context.Context, name string) ([]MX, Answer, error)
	TXT(ctx context.Context, name string) ([]string, Answer, error)
	IP(ctx context.Context, name string) ([]netip.Addr, Answer, error)
	CNAME(ctx context.Context, name string) (string, Answer, error)
	PTR(ctx context.Context, addr netip.Addr) ([]string, Answer, error)
}

const (
	// queryTimeout is one try at one server; resolvers on a healthy network answer in well under a second.
	queryTimeout = 3 * time.Second
	// queryRounds is how often the list of servers is gone through before a query counts as unanswered.
	queryRounds = 2
	// maxAliases bounds a chain of CNAMEs, which may be a loop.
	maxAliases = 10
	// udpPayload avoids fragmentation on common paths (DNS flag day 2020).
	udpPayload = 1232
)

// resolver is a stub over recursive servers: UDP with EDNS, TCP when an answer is truncated.
type resolver struct {
	servers []string
	// vouches tells whether a server is believed when it calls an answer authentic.
	vouches func(server string) bool
}

// NewResolver returns a resolver that asks the given recursive servers ("127.0.0.1:53") in order. It believes only servers on this
// machine when they call an answer authentic; NewTrustedResolver believes others too.
func NewResolver(servers []string) Resolver {
	return &resolver{servers: servers, vouches: vouchesLocally}
}

// SystemServers returns the machine's configured name servers, or the local one if none is configured.
func SystemServers() []string {
	conf, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err != nil || len(conf.Servers) == 0 {
		return []string{"127.0.0.1:53"}
	}
	servers := make([]string, len(conf.Servers))
	for i, s := range conf.Servers {
		servers[i] = net.JoinHostPort(s, conf.Port)
	}
	return servers
}

func (r *resolver) MX(ctx context.Context, name string) ([]MX, Answer, error) {
	return lookup(ctx, r, name, dns.TypeMX, func(rr *dns.MX) MX {
		host := strings.TrimSuffix(rr.Mx, ".")
		if host == "" {
			host = "."
		}
		return MX{Host: strings.ToLower(host), Preference: rr.Preference}
	})
}

// TXT joins the strings of each record, as SPF, DKIM and DMARC ask (RFC 7208 §3.3).
func (r *resolver) TXT(ctx context.Context, name string) ([]string, Answer, error) {
	return lookup(ctx, r, name, dns.TypeTXT, func(rr *dns.TXT) string { return unescapeTXT(strings.Join(rr.Txt, "")) })
}

// IP returns the IPv4 addresses before the IPv6 ones. It fails only if neither kind was found.
func (r *resolver) IP(ctx context.Context, name string) ([]netip.Addr, Answer, error) {
	v4, answer, err4 := lookup(ctx, r, name, dns.TypeA, func(rr *dns.A) netip.Addr { return toAddr(rr.A) })
	v6, answer6, err6 := lookup(ctx, r, name, dns.TypeAAAA, func(rr *dns.AAAA) netip.Addr { return toAddr(rr.AAAA) })
	switch {
	case err4 == nil && err6 == nil:
		answer.Authentic = answer.Authentic && answer6.Authentic
		return append(v4, v6...), answer, nil
	case err4 == nil:
		answer.Partial = errors.Is(err6, ErrUnanswered)
		return v4, answer, nil
	case err6 == nil:
		answer6.Partial = errors.Is(err4, ErrUnanswered)
		return v6, answer6, nil
	case errors.Is(err6, ErrUnanswered):
		return nil, answer6, err6
	}
	return nil, answer, err4
}

func (r *resolver) CNAME(ctx context.Context, name string) (string, Answer, error) {
	targets, answer, err := lookup(ctx, r, name, dns.TypeCNAME, func(rr *dns.CNAME) string {
		return strings.ToLower(strings.TrimSuffix(rr.Target, "."))
	})
	if err != nil {
		return "", answer, err
	}
	return targets[0], answer, nil
}

func (r *resolver) PTR(ctx context.Context, addr netip.Addr) ([]string, Answer, error) {
	name, err := dns.ReverseAddr(addr.String())
	if err != nil {
		return nil, Answer{}, ErrNoName
	}
	return lookup(ctx, r, name, dns.TypePTR, func(rr *dns.PTR) string { return strings.TrimSuffix(rr.Ptr, ".") })
}

func toAddr(ip net.IP) netip.Addr {
	addr, _ := netip.AddrFromSlice(ip)
	return addr.Unmap()
}

func lookup[RR dns.RR, T any](ctx context.Context, r *resolver, name string, kind uint16, read func(RR) T) ([]T, Answer, error) {
	reply, err := r.ask(ctx, dns.Fqdn(name), kind)
	if err != nil {
		return nil, Answer{}, err
	}
	canonical, err := followAliases(reply, dns.Fqdn(name), kind)
	if err != nil {
		return nil, Answer{}, err
	}
	answer := Answer{Authentic: reply.AuthenticatedData, Canonical: strings.ToLower(strings.TrimSuffix(canonical, "."))}
	if reply.Rcode == dns.RcodeNameError {
		return nil, answer, ErrNoName
	}
	var found []T
	for _, rr := range reply.Answer {
		if record, ok := rr.(RR); ok && rr.Header().Rrtype == kind && strings.EqualFold(rr.Header().Name, canonical) {
			found = append(found, read(record))
		}
	}
	if len(found) == 0 {
		return nil, answer, ErrNoData
	}
	return found, answer, nil
}

// followAliases returns the name at the end of the chain of CNAMEs in the reply.
func followAliases(reply *dns.Msg, name string, kind uint16) (string, error) {
	if kind == dns.TypeCNAME {
		return name, nil
	}
	for range maxAliases {
		next := ""
		for _, rr := range reply.Answer {
			if alias, ok := rr.(*dns.CNAME); ok && strings.EqualFold(alias.Hdr.Name, name) {
				next = alias.Target
			}
		}
		if next == "" {
			return name, nil
		}
		name = next
	}
	return "", ErrUnanswered
}

func (r *resolver) ask(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
	if _, possible := dns.IsDomainName(name); !possible {
		return nil, ErrNoName // too long or with an empty label: no server could ever be asked for it
	}
	query := new(dns.Msg)
	query.SetQuestion(name, kind)
	query.SetEdns0(udpPayload, false)
	query.AuthenticatedData = true
	for range queryRounds {
		for _, server := range r.servers {
			reply, err := exchange(ctx, query, server)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ErrUnanswered
				}
				continue
			}
			if answers(reply, query) && !reply.Truncated && (reply.Rcode == dns.RcodeSuccess || reply.Rcode == dns.RcodeNameError) {
				reply.AuthenticatedData = reply.AuthenticatedData && r.vouches(server)
				return reply, nil
			}
		}
	}
	return nil, ErrUnanswered
}

// answers tells whether a reply is to the question that was asked (RFC 5452 §9.1).
func answers(reply, query *dns.Msg) bool {
	return len(reply.Question) == 1 && reply.Question[0].Qtype == query.Question[0].Qtype &&
		strings.EqualFold(reply.Question[0].Name, query.Question[0].Name)
}

func exchange(ctx context.Context, query *dns.Msg, server string) (*dns.Msg, error) {
	udp := dns.Client{Net: "udp", Timeout: queryTimeout, UDPSize: udpPayload}
	reply, _, err := udp.ExchangeContext(ctx, query, server)
	if err == nil && !reply.Truncated {
		return reply, nil
	}
	tcp := dns.Client{Net: "tcp", Timeout: queryTimeout}
	reply, _, err = tcp.ExchangeContext(ctx, query, server)
	return reply, err
}

// unescapeTXT undoes the presentation escapes that the DNS library puts into text (\" \\ \DDD).
func unescapeTXT(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if i+3 < len(s) && isDigit(s[i+1]) && isDigit(s[i+2]) && isDigit(s[i+3]) {
			b.WriteByte((s[i+1]-'0')*100 + (s[i+2]-'0')*10 + (s[i+3] - '0'))
			i += 3
			continue
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
