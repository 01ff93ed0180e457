package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"postrider/product/domain"
)

// name checks that the name we greet with resolves, and that the address resolves back to it: many receivers refuse mail otherwise.
func (e *examination) name(ctx context.Context) {
	hello := e.patient.Hello
	addrs, _, err := e.world.Resolver.IP(ctx, hello)
	if err != nil || len(addrs) == 0 {
		e.note("name", Fail, fmt.Sprintf("Publish: %s. A <public address of this machine>", hello), "%s, the name given to other servers, has no address%s.", hello, because(err))
		return
	}
	e.addrs = addrs
	e.note("name", Good, "", "%s resolves to %s.", hello, join(addrs))
	for _, addr := range addrs {
		names, _, err := e.world.Resolver.PTR(ctx, addr)
		switch {
		case err != nil && !missing(err):
			e.note("reverse name", Warn, "", "The reverse name of %s could not be looked up: %v.", addr, err)
		case !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "."), hello) }):
			e.note("reverse name", Fail, fmt.Sprintf("Ask the provider of %s to set its reverse DNS to %s.", addr, hello),
				"%s resolves back to %s instead of %s; large receivers refuse such mail.", addr, orNothing(names), hello)
		default:
			e.note("reverse name", Good, "", "%s resolves back to %s.", addr, hello)
		}
	}
}

// records checks the names below the service domain that customers' records point at.
func (e *examination) records(ctx context.Context) {
	hosts := domain.Hosts{Service: e.patient.Domain}
	e.spf(ctx, hosts.SPF())
	for _, host := range append([]string{hosts.Tracking()}, hosts.MX()...) {
		if addrs, _, err := e.world.Resolver.IP(ctx, host); err != nil || len(addrs) == 0 {
			e.note("records", Fail, fmt.Sprintf("Publish: %s. A <public address of this machine>", host), "%s has no address%s.", host, because(err))
		} else {
			e.note("records", Good, "", "%s resolves to %s.", host, join(addrs))
		}
	}
	mx, _, err := e.world.Resolver.MX(ctx, hosts.Bounces())
	if err != nil || len(mx) == 0 {
		e.note("records", Fail, fmt.Sprintf("Publish: %s. MX 10 %s.", hosts.Bounces(), hosts.MX()[0]), "%s has no mail server, so bounces are lost%s.", hosts.Bounces(), because(err))
		return
	}
	e.note("records", Good, "", "Bounces to %s reach %s.", hosts.Bounces(), strings.TrimSuffix(mx[0].Host, "."))
}

// spf checks that the record customers include lists every address we send from.
func (e *examination) spf(ctx context.Context, host string) {
	wanted := "v=spf1"
	for _, addr := range e.addrs {
		kind := "ip4:"
		if addr.Is6() {
			kind = "ip6:"
		}
		wanted += " " + kind + addr.String()
	}
	mend := fmt.Sprintf("Publish: %s. TXT \"%s -all\"", host, wanted)
	texts, _, err := e.world.Resolver.TXT(ctx, host)
	at := slices.IndexFunc(texts, func(text string) bool { return strings.HasPrefix(text, "v=spf1") })
	if at < 0 {
		e.note("spf", Fail, mend, "%s has no SPF record%s; customers' mail cannot pass SPF.", host, because(err))
		return
	}
	for _, addr := range e.addrs {
		if !covers(texts[at], addr) {
			e.note("spf", Fail, mend, "The SPF record of %s does not list %s.", host, addr)
			return
		}
	}
	e.note("spf", Good, "", "The SPF record of %s lists our addresses.", host)
}

// covers tells whether a record names an address or a network around it; what it includes from elsewhere counts as yes.
func covers(record string, addr netip.Addr) bool {
	for term := range strings.FieldsSeq(record) {
		if strings.HasPrefix(term, "include:") || strings.HasPrefix(term, "redirect=") || term == "a" || strings.HasPrefix(term, "a:") || strings.HasPrefix(term, "mx") {
			return true
		}
		_, network, ok := strings.Cut(term, ":")
		if !ok {
			continue
		}
		if prefix, err := netip.ParsePrefix(network); err == nil && prefix.Contains(addr) {
			return true
		}
		if single, err := netip.ParseAddr(network); err == nil && single == addr {
			return true
		}
	}
	return false
}
