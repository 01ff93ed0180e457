package shape

import (
	"slices"
	"strings"

	"postrider/world"
)

// Site names the servers that take mail for a domain. Domains with the same servers have the same site, so that they share its
// limits; a provider whose servers take mail for all its domains is one site.
type Site string

const (
	// siteSeparator cannot occur in a host name.
	siteSeparator = ","
	// maxSiteHosts bounds the name of a site; whoever publishes more servers of one preference is known by the first of them.
	maxSiteHosts = 8
)

// Site returns the site of a domain with the given servers: the provider if the servers of the best preference are all its, and
// it is one site; else those servers, sorted. No servers give the empty site.
func (t Table) Site(servers []world.MX) Site {
	if len(servers) == 0 {
		return ""
	}
	best := servers[0].Preference
	for _, server := range servers {
		best = min(best, server.Preference)
	}
	hosts := make([]string, 0, len(servers))
	for _, server := range servers {
		if server.Preference == best {
			hosts = append(hosts, canonicalHost(server.Host))
		}
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	if p := t.ofHosts(hosts); p != nil && p.OneSite {
		return Site(p.Name)
	}
	return Site(strings.Join(hosts[:min(len(hosts), maxSiteHosts)], siteSeparator))
}

// canonicalHost returns a host in lower case without its final dot. A name without a dot inside keeps the final one: names of
// providers have none, so nobody can publish a server that passes for a provider.
func canonicalHost(host string) string {
	host = strings.TrimRight(strings.ToLower(host), ".")
	if !strings.Contains(host, ".") {
		return host + "."
	}
	return host
}

// Provider returns the row of the table that holds for a site; it is never nil.
func (t Table) Provider(site Site) *Provider {
	if p := t.byName[string(site)]; p != nil {
		return p
	}
	if p := t.ofHosts(strings.Split(string(site), siteSeparator)); p != nil {
		return p
	}
	return t.standard
}

// Serves tells whether a host takes mail for all domains of a site: it does if the site is a provider's, and the host is too.
func (t Table) Serves(site Site, host string) bool {
	p := t.byName[string(site)]
	return p != nil && p.OneSite && t.ofHost(canonicalHost(host)) == p
}

// ProviderOf returns the name of the provider that is known to run the mailboxes of a domain, or "".
func (t Table) ProviderOf(domain string) string { return t.byDomain[canonicalHost(domain)] }

// ofHosts returns the provider that runs all the hosts. One foreign host among them is enough for none: mail may go there.
func (t Table) ofHosts(hosts []string) *Provider {
	var found *Provider
	for _, host := range hosts {
		p := t.ofHost(host)
		if p == nil || found != nil && found != p {
			return nil
		}
		found = p
	}
	return found
}

// ofHost finds the longest suffix of the host, cut at dots.
func (t Table) ofHost(host string) *Provider {
	for suffix := host; suffix != ""; {
		if name, ok := t.bySuffix[suffix]; ok {
			return t.byName[name]
		}
		_, rest, ok := strings.Cut(suffix, ".")
		if !ok {
			break
		}
		suffix = rest
	}
	return nil
}
