package delivery

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"syscall"

	"golang.org/x/net/proxy"

	"postrider/product/node"
	"postrider/world"
)

// unusableSource is a connection that failed because of where it was to come from.
type unusableSource struct{ err error }

func (e *unusableSource) Error() string { return e.err.Error() }
func (e *unusableSource) Unwrap() error { return e.err }

var errCannotBind = errors.New("this network cannot choose the address that connections come from")

// reaches tells whether a source can connect to an address at all.
func reaches(from node.Source, to netip.Addr) bool {
	switch {
	case from.SOCKS5 != "" || !from.IPv4.IsValid() && !from.IPv6.IsValid():
		return true
	case to.Is4():
		return from.IPv4.IsValid()
	}
	return from.IPv6.IsValid()
}

// dialFrom connects from a source.
func dialFrom(ctx context.Context, dialer world.Dialer, from node.Source, to netip.AddrPort) (net.Conn, error) {
	local := from.IPv6
	if to.Addr().Is4() {
		local = from.IPv4
	}
	switch {
	case from.SOCKS5 != "":
		return dialThrough(ctx, dialer, from.SOCKS5, to)
	case !local.IsValid():
		return dialer.DialContext(ctx, "tcp", to.String())
	}
	bound, able := dialer.(world.SourceDialer)
	if !able {
		return nil, &unusableSource{errCannotBind}
	}
	conn, err := bound.DialFrom(ctx, local, "tcp", to.String())
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return nil, &unusableSource{err}
	}
	return conn, err
}

// dialThrough connects through a SOCKS5 proxy. A proxy that cannot be reached says nothing about the server.
func dialThrough(ctx context.Context, dialer world.Dialer, through string, to netip.AddrPort) (net.Conn, error) {
	at, err := url.Parse(through)
	if err != nil {
		return nil, &unusableSource{err}
	}
	var auth *proxy.Auth
	if at.User != nil {
		password, _ := at.User.Password()
		auth = &proxy.Auth{User: at.User.Username(), Password: password}
	}
	way := &wayToProxy{Dialer: dialer}
	through5, err := proxy.SOCKS5("tcp", at.Host, auth, way)
	if err != nil {
		return nil, &unusableSource{err}
	}
	conn, err := through5.(proxy.ContextDialer).DialContext(ctx, "tcp", to.String())
	if err != nil && way.failed {
		return nil, &unusableSource{err}
	}
	return conn, err
}

// wayToProxy remembers whether the proxy itself could be reached.
type wayToProxy struct {
	world.Dialer
	failed bool
}

func (w *wayToProxy) Dial(network, address string) (net.Conn, error) {
	return w.DialContext(context.Background(), network, address)
}

func (w *wayToProxy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.Dialer.DialContext(ctx, network, address)
	w.failed = err != nil
	return conn, err
}
