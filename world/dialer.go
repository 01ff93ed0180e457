package world

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Dialer opens connections to other machines.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// SourceDialer is a Dialer that can also choose which address of this machine a connection comes from.
type SourceDialer interface {
	Dialer
	DialFrom(ctx context.Context, local netip.Addr, network, address string) (net.Conn, error)
}

// systemDialer is the network of this machine.
type systemDialer struct{ net.Dialer }

func newSystemDialer() *systemDialer {
	return &systemDialer{net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}}
}

// DialFrom connects from one of the machine's addresses; the port is any.
func (d *systemDialer) DialFrom(ctx context.Context, local netip.Addr, network, address string) (net.Conn, error) {
	from := d.Dialer
	from.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(local, 0))
	return from.DialContext(ctx, network, address)
}
