package httpout

import (
	"net/netip"
	"strings"
)

var (
	loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	loopback6 = netip.IPv6Loopback()
)

// maxNameLength and maxLabelLength are those of the domain name system (RFC 1035 §2.3.4).
const (
	maxNameLength  = 253
	maxLabelLength = 63
)

// readHost returns the address if host is one in its usual form, and refuses what neither is an address nor can be a name.
// The old forms of IPv4 (decimal, octal, hexadecimal, short) are refused whatever they mean: programs disagree about them,
// and only those who want to hide an address write them.
func readHost(host string) (addr netip.Addr, isAddr bool, err error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return netip.Addr{}, false, refuse("The address %s has a zone and cannot be reached from here.", addr)
		}
		return addr, true, nil
	}
	labels := strings.Split(host, ".")
	if isNumber(labels[len(labels)-1]) {
		return netip.Addr{}, false, refuse("Write an IP address in its usual form, such as 192.0.2.7.")
	}
	if len(host) > maxNameLength {
		return netip.Addr{}, false, refuse("The host name is too long.")
	}
	for _, label := range labels {
		if label == "" || len(label) > maxLabelLength || strings.IndexFunc(label, isForeign) >= 0 {
			return netip.Addr{}, false, refuse("The host %q is not a domain name; write international names in their xn-- form.", host)
		}
	}
	return netip.Addr{}, false, nil
}

// isNumber tells whether a resolver might read a last label as part of an address (URL Standard, "ends in a number").
func isNumber(label string) bool {
	if hex, found := strings.CutPrefix(label, "0x"); found {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// isForeign tells whether a character has no place in a lower-case host name. Underscores are against the letter of the
// rules, but such hosts exist.
func isForeign(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	return !letter && r != '-' && r != '_'
}

// isLocalhost tells whether a name always means this machine (RFC 6761 §6.3), whatever a name server says.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
