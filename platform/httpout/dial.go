package httpout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"postrider/world"
)

// maxTries is how many addresses of a name are tried; each gets its share of the time to connect.
const maxTries = 3

// dial is the only way out: it turns a name into addresses, checks all of them and connects to one of them.
func (c *Client) dial(ctx context.Context, scheme, network, target string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.ConnectTimeout)
	defer cancel()
	host, portText, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, err
	}
	host = strings.ToLower(host)
	addrs, err := c.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	// One bad address spoils the name: it is either an attack or a mistake, and picking the good ones would hide it.
	policy := c.config.of(host)
	for _, addr := range addrs {
		if err := policy.checkAddress(addr, port, scheme); err != nil {
			return nil, err
		}
	}
	return c.connect(ctx, network, firstOf(addrs), port)
}

// firstOf returns the addresses to try, both kinds among them: this machine may have only one of them itself.
func firstOf(addrs []netip.Addr) []netip.Addr {
	if len(addrs) <= maxTries {
		return addrs
	}
	first := slices.Clone(addrs[:maxTries])
	if other := slices.IndexFunc(addrs, func(a netip.Addr) bool { return a.Is4() != addrs[0].Is4() }); other >= maxTries {
		first[maxTries-1] = addrs[other]
	}
	return first
}

func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addr, isAddr, err := readHost(host)
	if err != nil {
		return nil, err
	}
	if isAddr {
		return []netip.Addr{addr}, nil
	}
	if isLocalhost(host) {
		return []netip.Addr{loopback4, loopback6}, nil
	}
	addrs, _, err := c.config.Resolver.IP(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("resolve %s: %w", host, world.ErrNoData)
	}
	return addrs, nil
}

func (c *Client) connect(ctx context.Context, network string, addrs []netip.Addr, port int) (net.Conn, error) {
	share := c.config.ConnectTimeout / time.Duration(len(addrs))
	var failed []error
	for _, addr := range addrs {
		conn, err := c.connectOne(ctx, network, netip.AddrPortFrom(addr, uint16(port)), share)
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

func (c *Client) connectOne(ctx context.Context, network string, addr netip.AddrPort, share time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	return c.config.Dialer.DialContext(ctx, network, addr.String())
}
