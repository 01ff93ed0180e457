package delivery

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"postrider/platform/httpout"
	"postrider/world"
)

// Reasons why a domain cannot be mailed. Anything else is a name server that did not answer.
var (
	errNoDomain = errors.New("the recipient's domain does not exist or has no mail server")
	errNullMX   = errors.New("the recipient's domain accepts no mail")
	errPrivate  = errors.New("the recipient's mail server has a private address")
)

const (
	routeFor  = time.Minute
	maxRoutes = 50_000
	// maxServers bounds how many servers of a domain one attempt tries.
	maxServers = 5
)

// routes finds the mail servers of domains and remembers them for a little while.
type routes struct {
	world  world.World
	config Config

	mu    sync.Mutex
	known map[string]knownRoute // by domain; guarded by mu
}

type knownRoute struct {
	hosts []string
	until time.Time
}

func newRoutes(w world.World, config Config) *routes {
	return &routes{world: w, config: config, known: map[string]knownRoute{}}
}

// hosts returns the mail servers of a domain, the preferred ones first (RFC 5321 §5.1).
func (r *routes) hosts(ctx context.Context, domain string) ([]string, error) {
	now := r.world.Clock.Now()
	r.mu.Lock()
	known, ok := r.known[domain]
	r.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.hosts, nil
	}
	hosts, err := r.ask(ctx, domain)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxRoutes {
		clear(r.known)
	}
	r.known[domain] = knownRoute{hosts, now.Add(routeFor)}
	return hosts, nil
}

func (r *routes) ask(ctx context.Context, domain string) ([]string, error) {
	servers, _, err := r.world.Resolver.MX(ctx, domain)
	switch {
	case errors.Is(err, world.ErrNoName):
		return nil, errNoDomain
	case errors.Is(err, world.ErrNoData):
		return []string{domain}, nil // without MX the domain is its own server
	case err != nil:
		return nil, err
	case len(servers) == 1 && servers[0].Host == ".":
		return nil, errNullMX
	}
	// Servers of equal preference share the load.
	for i := range servers {
		j := int(r.world.Uint64() % uint64(i+1))
		servers[i], servers[j] = servers[j], servers[i]
	}
	slices.SortStableFunc(servers, func(a, b world.MX) int { return cmp.Compare(a.Preference, b.Preference) })
	hosts := make([]string, 0, maxServers)
	for _, server := range servers[:min(len(servers), maxServers)] {
		hosts = append(hosts, server.Host)
	}
	return hosts, nil
}

// addresses returns where a server can be reached. Our own network is not the internet: a domain that points into it is
// refused, or a customer could make us talk to our own machines.
func (r *routes) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	found, _, err := r.world.Resolver.IP(ctx, host)
	switch {
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return nil, errNoDomain
	case err != nil:
		return nil, err
	}
	if r.config.AllowPrivate {
		return found, nil
	}
	public := slices.DeleteFunc(found, func(a netip.Addr) bool { return !httpout.IsPublic(a) })
	if len(public) == 0 {
		return nil, errPrivate
	}
	return public, nil
}
