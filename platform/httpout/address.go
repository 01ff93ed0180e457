package httpout

import (
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"
)

// publicInternet holds the special-purpose registries of IANA. Of IPv6 it permits only global unicast, and of that neither
// tunnels (6to4, Teredo) nor documentation; forms that carry an IPv4 address inside (mapped, compatible, NAT64) are outside.
var publicInternet = ssrf.New(ssrf.WithAnyPort())

// privateNetworks are what AllowPrivate opens. Link-local is not among them: nothing a customer runs lives there.
var privateNetworks = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("fc00::/7"),
}

// metadataServices hand the credentials of a machine to whoever asks from it. Most clouds use 169.254.169.254, which is
// link-local; these are the ones elsewhere.
var metadataServices = []netip.Addr{
	netip.MustParseAddr("168.63.129.16"),   // Azure, a public address
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon over IPv6
	netip.MustParseAddr("fd20:ce::254"),    // Google over IPv6
}

// Allows tells whether an address that a name leads to may be called.
func (p Policy) Allows(host string, addr netip.Addr) bool { return p.of(host).allowsAddress(addr) }

func (p Policy) allowsAddress(addr netip.Addr) bool {
	if slices.Contains(metadataServices, addr) {
		return false
	}
	return IsPublic(addr) ||
		p.AllowPrivate && isPrivate(addr) ||
		p.AnyLoopbackPort && addr.IsLoopback() && isPrivate(addr)
}

// IsPublic tells whether an address is one of the public internet.
func IsPublic(addr netip.Addr) bool {
	return addr.IsValid() && addr.Zone() == "" && publicInternet.SafeAddr(addr) == nil
}

// isPrivate does not see through IPv4-mapped addresses, and should not: they are refused whatever is allowed.
func isPrivate(addr netip.Addr) bool {
	return slices.ContainsFunc(privateNetworks, func(network netip.Prefix) bool { return network.Contains(addr) })
}
