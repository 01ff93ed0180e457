package doctor

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"

	"postrider/mail/smtp"
)

// blocklists asks whether receivers have been warned of us.
func (e *examination) blocklists(ctx context.Context) {
	for _, list := range e.patient.Blocklists {
		for _, addr := range e.addrs {
			if !addr.Is4() || addr.IsLoopback() || addr.IsPrivate() {
				continue
			}
			parts := strings.Split(addr.String(), ".")
			slices.Reverse(parts)
			found, _, err := e.world.Resolver.IP(ctx, strings.Join(parts, ".")+"."+list)
			switch {
			case err != nil && !missing(err):
				e.note("blocklist", Warn, "", "%s could not be asked: %v.", list, err)
			case len(found) > 0 && strings.HasPrefix(found[0].String(), "127.255."):
				e.note("blocklist", Warn, "Ask through a name server of your own: --resolver.", "%s does not answer questions that come through this name server.", list)
			case len(found) > 0:
				e.note("blocklist", Fail, "Find and stop the cause, then ask "+list+" to remove the address.", "%s is listed by %s.", addr, list)
			default:
				e.note("blocklist", Good, "", "%s is not listed by %s.", addr, list)
			}
		}
	}
}

// port calls another mail server: many providers block the port that mail goes through.
func (e *examination) port(ctx context.Context) {
	if e.patient.Probe == "" {
		return
	}
	ctx, done := context.WithTimeout(ctx, probeWithin)
	defer done()
	mend := "Ask the provider to open outgoing port " + strconv.Itoa(e.patient.Port) + ", or send through a relay."
	servers, _, err := e.world.Resolver.MX(ctx, e.patient.Probe)
	if err != nil || len(servers) == 0 {
		e.note("port", Warn, "", "The mail servers of %s could not be looked up%s.", e.patient.Probe, because(err))
		return
	}
	host := strings.TrimSuffix(servers[0].Host, ".")
	addrs, _, err := e.world.Resolver.IP(ctx, host)
	if err != nil || len(addrs) == 0 {
		e.note("port", Warn, "", "%s has no address%s.", host, because(err))
		return
	}
	conn, err := e.world.Dialer.DialContext(ctx, "tcp", net.JoinHostPort(addrs[0].String(), strconv.Itoa(e.patient.Port)))
	if err != nil {
		e.note("port", Fail, mend, "No connection to %s: %v.", host, err)
		return
	}
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: e.patient.Hello, Clock: e.world.Clock})
	defer client.Close()
	if err := client.Greet(ctx); err != nil {
		e.note("port", Fail, mend, "%s does not greet us: %v.", host, err)
		return
	}
	e.note("port", Good, "", "%s greets us on port %d.", host, e.patient.Port)
}
