package standing

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/mail/smtp"
	"postrider/world"
)

// Public tells whether receivers can see an address, so that somebody could warn of it.
func Public(addr netip.Addr) bool {
	return addr.IsGlobalUnicast() && !addr.IsPrivate()
}

// ListedBy is the word of the check that found an address on a blocklist.
const ListedBy = "blocklist"

// Blocklist asks whether a list warns receivers of an address (RFC 5782).
func Blocklist(ctx context.Context, names world.Resolver, list string, addr netip.Addr) Finding {
	f := Finding{Check: ListedBy, Status: Warn, Address: addr.String(), Found: list}
	found, _, err := names.IP(ctx, reversed(addr)+"."+list)
	switch {
	case err != nil && !missing(err):
		f.Message = fmt.Sprintf("%s could not be asked: %v.", list, err)
	// Lists answer so to name servers that ask for too many.
	case len(found) > 0 && strings.HasPrefix(found[0].String(), "127.255."):
		f.Mend, f.Message = "Ask through a name server of your own: --resolver.", list+" does not answer questions that come through this name server."
	case len(found) > 0 && !isListing(found[0]):
		f.Message = fmt.Sprintf("%s answers with %s, which no blocklist does; it may have been given up.", list, found[0])
	case len(found) > 0:
		f.Status, f.Mend = Fail, "Find and stop the cause, then ask "+list+" to remove the address."
		f.Message = fmt.Sprintf("%s is listed by %s.", addr, list)
	default:
		f.Status, f.Message = Good, fmt.Sprintf("%s is not listed by %s.", addr, list)
	}
	return f
}

// isListing tells whether an answer means that an address is listed: those are in 127.0.0.0/8, and never 127.0.0.1 (RFC 5782 §2.1).
func isListing(answer netip.Addr) bool {
	return answer.Is4() && answer.IsLoopback() && answer != netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// reversed writes an address as lists are asked for it: the bytes of IPv4, or the half bytes of IPv6, last first.
func reversed(addr netip.Addr) string {
	addr = addr.Unmap()
	if addr.Is4() {
		parts := strings.Split(addr.String(), ".")
		slices.Reverse(parts)
		return strings.Join(parts, ".")
	}
	digits := strings.Split(strings.ReplaceAll(addr.StringExpanded(), ":", ""), "")
	slices.Reverse(digits)
	return strings.Join(digits, ".")
}

// probeWithin is how long another server may take to greet us.
const probeWithin = 10 * time.Second

// Probe says whom to call, to see whether mail gets out at all.
type Probe struct {
	// Domain is whose mail server is called, on Port; Hello is the name given to it.
	Domain string
	Port   int
	Hello  string
}

// Port calls another mail server: many providers block the port that mail goes through.
func Port(ctx context.Context, w world.World, p Probe) Finding {
	ctx, done := context.WithTimeout(ctx, probeWithin)
	defer done()
	f := Finding{Check: "port", Status: Warn}
	servers, _, err := w.Resolver.MX(ctx, p.Domain)
	if err != nil || len(servers) == 0 {
		f.Message = fmt.Sprintf("The mail servers of %s could not be looked up%s.", p.Domain, Because(err))
		return f
	}
	host := strings.TrimSuffix(servers[0].Host, ".")
	addrs, _, err := w.Resolver.IP(ctx, host)
	if err != nil || len(addrs) == 0 {
		f.Message = fmt.Sprintf("%s has no address%s.", host, Because(err))
		return f
	}
	f.Found, f.Status = host, Fail
	f.Mend = "Ask the provider to open outgoing port " + strconv.Itoa(p.Port) + ", or send through a relay."
	conn, err := w.Dialer.DialContext(ctx, "tcp", net.JoinHostPort(addrs[0].String(), strconv.Itoa(p.Port)))
	if err != nil {
		f.Message = fmt.Sprintf("No connection to %s: %v.", host, err)
		return f
	}
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: p.Hello, Clock: w.Clock})
	defer client.Close()
	if err := client.Greet(ctx); err != nil {
		f.Message = fmt.Sprintf("%s does not greet us: %v.", host, err)
		return f
	}
	f.Status, f.Mend, f.Message = Good, "", fmt.Sprintf("%s greets us on port %d.", host, p.Port)
	return f
}
