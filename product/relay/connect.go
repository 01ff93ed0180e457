package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"postrider/mail/smtp"
)

// connectFor is how long a relay may take to answer the knock.
const connectFor = 10 * time.Second

// errPrivate means that a relay would lie in our own network.
var errPrivate = errors.New("the relay has a private address")

// Connection is a relay that has let us in.
type Connection struct {
	Client *smtp.Client
	Local  netip.Addr
	Remote netip.AddrPort
	TLS    tls.ConnectionState
}

// Connect signs in to the relay. Errors are *smtp.Error and say how far it came.
func (s *Service) Connect(ctx context.Context, r Relay) (*Connection, error) {
	socket, err := s.dial(ctx, r)
	if err != nil {
		return nil, &smtp.Error{Stage: smtp.StageConnect, Err: err}
	}
	c := &Connection{Local: addrPort(socket.LocalAddr()).Addr(), Remote: addrPort(socket.RemoteAddr())}
	if err := s.enter(ctx, c, socket, r); err != nil {
		socket.Close()
		return nil, err
	}
	return c, nil
}

func (s *Service) dial(ctx context.Context, r Relay) (net.Conn, error) {
	ctx, done := context.WithTimeout(ctx, connectFor)
	defer done()
	found, _, err := s.world.Resolver.IP(ctx, r.Host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", r.Host, err)
	}
	var addrs []netip.Addr
	for _, addr := range found {
		if s.config.Network.Allows(r.Host, addr) {
			addrs = append(addrs, addr)
		}
	}
	err = errPrivate
	for i, addr := range addrs {
		var socket net.Conn
		share := connectFor / time.Duration(len(addrs)-i) // an address that is dead leaves the others their time
		if socket, err = s.dialOne(ctx, net.JoinHostPort(addr.String(), strconv.Itoa(r.Port)), share); err == nil {
			return socket, nil
		}
	}
	return nil, err
}

func (s *Service) dialOne(ctx context.Context, target string, within time.Duration) (net.Conn, error) {
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	return s.world.Dialer.DialContext(ctx, "tcp", target)
}

// enter encrypts the connection, always and with the certificate checked, and signs in.
func (s *Service) enter(ctx context.Context, c *Connection, socket net.Conn, r Relay) error {
	secured := &tls.Config{ServerName: r.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.config.TrustAnyone}
	config := smtp.ClientConfig{Hello: s.config.Hello, Clock: s.world.Clock}
	if r.Security == ImplicitTLS {
		secure := tls.Client(socket, secured)
		shaking, done := context.WithTimeout(ctx, connectFor)
		err := secure.HandshakeContext(shaking)
		done()
		if err != nil {
			return &smtp.Error{Stage: smtp.StageStartTLS, Err: err}
		}
		c.TLS, socket, config.Secure = secure.ConnectionState(), secure, true
	}
	c.Client = smtp.NewClient(socket, config)
	if err := c.Client.Greet(ctx); err != nil {
		return err
	}
	if r.Security == StartTLS {
		var err error
		if c.TLS, err = c.Client.StartTLS(ctx, secured); err != nil {
			return err
		}
	}
	return c.Client.Auth(ctx, r.Username, r.Password)
}

func addrPort(a net.Addr) netip.AddrPort {
	parsed, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(parsed.Addr().Unmap(), parsed.Port())
}
