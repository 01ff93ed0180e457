package doctor

import (
	"context"
	"net/netip"
	"strings"

	"postrider/app/install"
	"postrider/mail/standing"
	"postrider/product/domain"
)

// name checks that the name we greet with resolves, and that the address resolves back to it: many receivers refuse mail otherwise.
func (e *examination) name(ctx context.Context) {
	addrs, found := standing.Name(ctx, e.world.Resolver, e.patient.Hello)
	e.addrs = addrs
	e.add(found)
	for _, addr := range addrs {
		e.add(standing.Reverse(ctx, e.world.Resolver, addr, e.patient.Hello))
	}
}

// records checks the names below the service domain that customers' records point at.
func (e *examination) records(ctx context.Context) {
	hosts := domain.Hosts{Service: e.patient.Domain}
	e.add(standing.SPF(ctx, e.world.Resolver, hosts.SPF(), e.addrs))
	site := install.Site{Hostname: e.patient.Hostname, Domain: e.patient.Domain, Hello: e.patient.Hello, Addresses: e.addrs}
	if len(e.addrs) == 0 { // what they should be is not known; that they are not there is
		site.Addresses = []netip.Addr{netip.IPv4Unspecified()}
	}
	for _, r := range install.Records(site) {
		if r.Type == "PTR" || r.Name == hosts.SPF() { // looked at more closely already
			continue
		}
		e.record(install.Look(ctx, e.world.Resolver, r))
	}
}

// unknown stands for an address that is not known.
var unknown = netip.IPv4Unspecified().String()

// record notes what was found in place of a record, and the record to publish.
func (e *examination) record(l install.Looked) {
	check, status := "records", standing.Fail
	if !l.Required {
		check, status = "advised", standing.Warn
	}
	mend := "Publish: " + strings.ReplaceAll(l.Record.String(), unknown, standing.OurAddress)
	// Behind a proxy names lead elsewhere; that they lead somewhere is what can be asked for.
	if l.State == install.Different && (l.Type == "A" || l.Type == "AAAA" || strings.Contains(l.Value, unknown)) {
		l.State = install.Published
	}
	switch l.State {
	case install.Published:
		e.note(check, standing.Good, "", "%s has its %s record.", l.Name, l.Type)
	case install.Missing:
		e.note(check, status, mend, "%s has no %s record: %s.", l.Name, l.Type, l.Purpose)
	case install.Different:
		e.note(check, status, mend, "The %s record of %s is not as it must be (%s): %s.", l.Type, l.Name, strings.Join(l.Found, "; "), l.Purpose)
	case install.Unanswered:
		e.note(check, standing.Warn, "Check the name servers: dig "+l.Name+" "+l.Type, "The name servers of %s did not answer.", l.Name)
	}
}
