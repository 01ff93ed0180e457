package httpout

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxURLLength is what servers and logs everywhere can hold.
const maxURLLength = 2048

// publicPorts are those where strangers expect web servers. Others would make us a port scanner.
var publicPorts = []int{80, 443, 8080, 8443}

// Policy says which targets are allowed.
type Policy struct {
	// AllowPrivate permits loopback and private addresses, for installations whose customers share their network. Link-local
	// and metadata addresses stay refused.
	AllowPrivate bool
	// PrivateHosts are names and addresses for which AllowPrivate holds even if it holds for no other.
	PrivateHosts []string
	// AnyLoopbackPort permits loopback addresses on every port, for development.
	AnyLoopbackPort bool
	// RequireTLS permits plain http only to the loopback and private addresses that are allowed at all.
	RequireTLS bool
	// ExtraPorts are permitted besides 80, 443, 8080 and 8443.
	ExtraPorts []int
}

// Refusal is the error of a target that is against the policy. Its sentence is meant for whoever chose the target.
type Refusal struct {
	Sentence string
}

// Error returns the sentence.
func (r *Refusal) Error() string { return r.Sentence }

func refuse(format string, args ...any) error {
	return &Refusal{Sentence: fmt.Sprintf(format, args...)}
}

// CheckURL tells whether a URL could be a target, as far as this can be seen without asking the network; the addresses
// behind a name are checked when a connection is made. The error is a Refusal.
func CheckURL(raw string, policy Policy) error {
	if len(raw) > maxURLLength {
		return refuse("The URL is longer than %d characters.", maxURLLength)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return refuse("The URL cannot be read.")
	}
	if strings.Contains(raw, "#") {
		return refuse("The URL must not have a fragment (#).")
	}
	return policy.checkTarget(u)
}

func (p Policy) checkTarget(u *url.URL) error {
	switch {
	case u == nil || u.Scheme != "https" && u.Scheme != "http":
		return refuse("The URL must start with https://.")
	case u.User != nil:
		return refuse("The URL must not contain a user name or password.")
	case u.Opaque != "" || u.Hostname() == "":
		return refuse("The URL names no host.")
	}
	host := strings.ToLower(u.Hostname())
	p = p.of(host)
	addr, isAddr, err := readHost(host)
	if err != nil {
		return err
	}
	if isAddr {
		return p.checkAddress(addr, portOf(u), u.Scheme)
	}
	return p.checkName(host, portOf(u), u.Scheme)
}

// of returns the policy as it is for one host.
func (p Policy) of(host string) Policy {
	p.AllowPrivate = p.AllowPrivate || slices.Contains(p.PrivateHosts, host)
	return p
}

// checkName decides what can be decided before the name is resolved.
func (p Policy) checkName(host string, port int, scheme string) error {
	if isLocalhost(host) {
		return p.checkAddress(loopback4, port, scheme)
	}
	if !strings.Contains(host, ".") && !p.AllowPrivate {
		return refuse("The host %q is not a full domain name.", host)
	}
	if p.RequireTLS && scheme == "http" && !p.AllowPrivate && !p.AnyLoopbackPort {
		return refuse("The URL must start with https://.")
	}
	if !p.allowsPort(port) && !p.AnyLoopbackPort {
		return p.refusePort(port)
	}
	return nil
}

// checkAddress decides about one address: the law of this package, applied to literal and resolved addresses alike.
func (p Policy) checkAddress(addr netip.Addr, port int, scheme string) error {
	if !p.allowsAddress(addr) {
		return refuse("The address %s is not on the public internet.", addr)
	}
	if !p.allowsPort(port) && !(p.AnyLoopbackPort && addr.IsLoopback()) {
		return p.refusePort(port)
	}
	if p.RequireTLS && scheme == "http" && IsPublic(addr) {
		return refuse("The URL must start with https://.")
	}
	return nil
}

func (p Policy) allowsPort(port int) bool {
	return slices.Contains(publicPorts, port) || port > 0 && slices.Contains(p.ExtraPorts, port)
}

func (p Policy) refusePort(port int) error {
	var allowed []string
	for _, known := range append(slices.Clone(publicPorts), p.ExtraPorts...) {
		allowed = append(allowed, strconv.Itoa(known))
	}
	if port == 0 {
		return refuse("The port cannot be read; allowed ports are %s.", strings.Join(allowed, ", "))
	}
	return refuse("Port %d is not allowed; allowed ports are %s.", port, strings.Join(allowed, ", "))
}

// portOf returns the port of a URL, or zero for one that is none.
func portOf(u *url.URL) int {
	switch {
	case u.Port() != "":
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil {
			return 0
		}
		return int(port)
	case u.Scheme == "https":
		return 443
	}
	return 80
}
