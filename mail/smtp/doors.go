package smtp

import (
	"net"
	"net/netip"
	"sync"
)

// doors counts who is inside and refuses whom the limits exclude.
type doors struct {
	maxAll, maxPeer int

	mu    sync.Mutex
	all   int                  // guarded by mu
	peers map[netip.Prefix]int // guarded by mu; holds only peers with connections, so its size is bounded by maxAll
}

func newDoors(maxAll, maxPeer int) doors {
	return doors{maxAll: maxAll, maxPeer: maxPeer, peers: make(map[netip.Prefix]int)}
}

// enter counts a connection in, or returns the reply that turns it away.
func (d *doors) enter(peer netip.Prefix) *Reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all >= d.maxAll {
		return replyCrowded
	}
	if peer.IsValid() && d.peers[peer] >= d.maxPeer {
		return replyCrowdedPeer
	}
	d.all++
	d.peers[peer]++
	return nil
}

func (d *doors) leave(peer netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all--
	if d.peers[peer]--; d.peers[peer] == 0 {
		delete(d.peers, peer)
	}
}

// peerOf returns whom an address belongs to: an IPv4 address is one peer; an IPv6 customer commands a whole /64. Addresses
// that are not of the internet share the invalid prefix, for which there is no limit per peer.
func peerOf(addr net.Addr) netip.Prefix {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
