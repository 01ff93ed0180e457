package delivery

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"postrider/mail/mtasts"
	"postrider/platform/httpout"
	"postrider/product/delivery/internal/shape"
	"postrider/product/domain"
	"postrider/world"
)

// Reasons why a domain cannot be mailed. Anything else is a name server that did not answer.
var (
	errNoDomain = errors.New("the recipient's domain does not exist or has no mail server")
	errNullMX   = errors.New("the recipient's domain accepts no mail")
	errPrivate  = errors.New("the recipient's mail server has a private address")
	errLoop     = errors.New("the recipient's mail server is this one")
	// errOtherFamily means that its address is an IPv6 one and ours is not, or the other way round. Another source may do.
	errOtherFamily = errors.New("the recipient's mail server has no address that can be reached from here")
)

const (
	routeFor  = time.Minute
	maxRoutes = 50_000
	// maxServers bounds how many servers of a domain one attempt tries.
	maxServers = 5
)

// routes finds the mail servers of domains and remembers them for a little while.
type routes struct {
	world      world.World
	config     Config
	table      shape.Table
	encryption *encryption
	domains    *domain.Service

	mu    sync.Mutex
	known map[string]route // by domain; guarded by mu
}

// route is the servers of a domain, the preferred ones first.
type route struct {
	hosts  []string
	site   shape.Site
	answer world.Answer  // how the servers were found
	sts    mtasts.Policy // what the domain wishes of encryption
	until  time.Time
}

func newRoutes(w world.World, config Config, table shape.Table, encryption *encryption, domains *domain.Service) *routes {
	return &routes{world: w, config: config, table: table, encryption: encryption, domains: domains, known: map[string]route{}}
}

// remembered returns the servers of a domain if they were asked for lately.
func (r *routes) remembered(domain string) (route, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.known[domain]
	return known, ok && r.world.Clock.Now().Before(known.until)
}

// find returns the servers of a domain (RFC 5321 §5.1) and what it wishes of them.
func (r *routes) find(ctx context.Context, domain string) (route, error) {
	if known, ok := r.remembered(domain); ok {
		return known, nil
	}
	servers, answer, err := r.ask(ctx, domain)
	if err != nil {
		return route{}, err
	}
	sts, err := r.encryption.learn(ctx, domain)
	if err != nil {
		return route{}, err
	}
	found := route{site: r.table.Site(servers), hosts: r.inOrder(servers), answer: answer, sts: sts, until: r.world.Clock.Now().Add(routeFor)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxRoutes {
		clear(r.known)
	}
	r.known[domain] = found
	return found, nil
}

func (r *routes) ask(ctx context.Context, domain string) ([]world.MX, world.Answer, error) {
	servers, answer, err := r.world.Resolver.MX(ctx, domain)
	switch {
	case errors.Is(err, world.ErrNoName):
		return nil, answer, errNoDomain
	case errors.Is(err, world.ErrNoData):
		return []world.MX{{Host: domain}}, answer, nil // without MX the domain is its own server
	case err != nil:
		return nil, answer, err
	case len(servers) == 1 && servers[0].Host == ".":
		return nil, answer, errNullMX
	}
	servers, err = r.beforeOurselves(ctx, domain, servers)
	return servers, answer, err
}

// beforeOurselves leaves out our own server and those behind it: they would hand the mail to us (RFC 5321 §5.1). Mail for a domain
// that receives here is at its goal with us, and comes in by the same door as everybody's.
func (r *routes) beforeOurselves(ctx context.Context, name string, servers []world.MX) ([]world.MX, error) {
	for _, own := range servers {
		if strings.EqualFold(strings.TrimSuffix(own.Host, "."), r.config.Hello) {
			if _, receives, err := r.domains.ForReceiving(ctx, name); err != nil || receives {
				return servers, err
			}
			servers = slices.DeleteFunc(slices.Clone(servers), func(other world.MX) bool { return other.Preference >= own.Preference })
			break
		}
	}
	if len(servers) == 0 {
		return nil, errLoop
	}
	return servers, nil
}

// inOrder returns the hosts by preference. Those of equal preference share the load.
func (r *routes) inOrder(servers []world.MX) []string {
	for i := range servers {
		j := int(r.world.Uint64() % uint64(i+1))
		servers[i], servers[j] = servers[j], servers[i]
	}
	slices.SortStableFunc(servers, func(a, b world.MX) int { return cmp.Compare(a.Preference, b.Preference) })
	hosts := make([]string, 0, maxServers)
	for _, server := range servers[:min(len(servers), maxServers)] {
		hosts = append(hosts, server.Host)
	}
	return hosts
}

// addresses returns where a server can be reached. Our own network is not the internet: a domain that points into it is
// refused, or a customer could make us talk to our own machines.
func (r *routes) addresses(ctx context.Context, host string) ([]netip.Addr, world.Answer, error) {
	found, answer, err := r.world.Resolver.IP(ctx, host)
	switch {
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return nil, answer, errNoDomain
	case err != nil:
		return nil, answer, err
	}
	if r.config.AllowPrivate {
		return found, answer, nil
	}
	public := slices.DeleteFunc(found, func(a netip.Addr) bool { return !httpout.IsPublic(a) })
	if len(public) == 0 {
		return nil, answer, errPrivate
	}
	return public, answer, nil
}
