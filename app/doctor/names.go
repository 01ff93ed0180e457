package doctor

import (
	"context"
	"fmt"
	"strings"

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
	for _, host := range append([]string{hosts.Tracking()}, hosts.MX()...) {
		if addrs, _, err := e.world.Resolver.IP(ctx, host); err != nil || len(addrs) == 0 {
			e.note("records", standing.Fail, fmt.Sprintf("Publish: %s. A <public address of this machine>", host), "%s has no address%s.", host, standing.Because(err))
		} else {
			e.note("records", standing.Good, "", "%s resolves to %s.", host, join(addrs))
		}
	}
	mx, _, err := e.world.Resolver.MX(ctx, hosts.Bounces())
	if err != nil || len(mx) == 0 {
		e.note("records", standing.Fail, fmt.Sprintf("Publish: %s. MX 10 %s.", hosts.Bounces(), hosts.MX()[0]), "%s has no mail server, so bounces are lost%s.", hosts.Bounces(), standing.Because(err))
		return
	}
	e.note("records", standing.Good, "", "Bounces to %s reach %s.", hosts.Bounces(), strings.TrimSuffix(mx[0].Host, "."))
}
