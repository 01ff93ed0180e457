package limit

import "net/netip"

// siteBits is how much of an IPv6 address names the subscriber; whoever has one address there has all of them.
const siteBits = 64

// Site is the key by which whoever stands behind a network address is counted.
func Site(from netip.Addr) string {
	if from = from.Unmap().WithZone(""); from.Is6() {
		if network, err := from.Prefix(siteBits); err == nil {
			return network.String()
		}
	}
	return from.String()
}
