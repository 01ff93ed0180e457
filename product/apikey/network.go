package apikey

import "net/netip"

// mappedBits is how long the beginning of an IPv6 address is that stands for an IPv4 address (RFC 4291 §2.5.5.2).
const mappedBits = 96

// parseNetwork reads an address or a network. A network is taken without the bits that name a host.
func parseNetwork(text string) (netip.Prefix, bool) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), true
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	if ip := network.Addr(); ip.Is4In6() && network.Bits() >= mappedBits {
		network = netip.PrefixFrom(ip.Unmap(), network.Bits()-mappedBits) // callers are known by their IPv4 address
	}
	return network.Masked(), true
}

// networkText is the shortest form of a network: a single address has no length.
func networkText(network netip.Prefix) string {
	if network.IsSingleIP() {
		return network.Addr().String()
	}
	return network.String()
}
