package doctor

import (
	"context"

	"postrider/mail/standing"
)

// blocklists asks whether receivers have been warned of us.
func (e *examination) blocklists(ctx context.Context) {
	for _, list := range e.patient.Blocklists {
		for _, addr := range e.addrs {
			if standing.Public(addr) {
				e.add(standing.Blocklist(ctx, e.world.Resolver, list, addr))
			}
		}
	}
}

// port calls another mail server, to see whether mail gets out.
func (e *examination) port(ctx context.Context) {
	if e.patient.Probe != "" {
		e.add(standing.Port(ctx, e.world, standing.Probe{Domain: e.patient.Probe, Port: e.patient.Port, Hello: e.patient.Hello}))
	}
}
