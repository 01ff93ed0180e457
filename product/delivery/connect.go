package delivery

import (
	"context"
	"net"
	"net/netip"
	"time"

	"postrider/mail/smtp"
	"postrider/mail/tlspolicy"
	"postrider/product/email"
	"postrider/product/node"
)

// connectFor is how long a server may take to answer the knock; the operating system would wait for minutes.
const connectFor = 30 * time.Second

// connect opens a conversation. Errors are *smtp.Error and say how far it came.
func (t *talk) connect(ctx context.Context, to server, encrypt bool) (*line, error) {
	s := t.service
	dialing, done := context.WithTimeout(ctx, connectFor)
	defer done()
	from := t.source()
	socket, err := dialFrom(dialing, s.world.Dialer, from, to.addr)
	if err != nil {
		return nil, &smtp.Error{Stage: smtp.StageConnect, Err: err}
	}
	c := &line{client: smtp.NewClient(socket, smtp.ClientConfig{Hello: from.Hello, Clock: s.world.Clock}), hello: from.Hello, host: to.host, remote: to.addr,
		local: localAddr(from, socket), addresses: to.addresses, encryption: agreed{domain: t.job.held.domain, demand: t.demand(), decision: to.decision},
		tls: email.TLSFacts{Policy: string(tlspolicy.None)}}
	t.connected(c)
	if err := c.client.Greet(ctx); err != nil {
		c.client.Close()
		return nil, err
	}
	if !encrypt {
		return c, nil
	}
	if err := t.secure(ctx, c); err != nil {
		c.client.Close()
		return nil, err
	}
	return c, nil
}

// source is where the message leaves from.
func (t *talk) source() node.Source { return t.service.sources.state[t.job.held.path.Source].Source }

// localAddr returns the address that the server sees, as far as it is known: a proxy's is known if the operator has told.
func localAddr(from node.Source, socket net.Conn) netip.Addr {
	if from.SOCKS5 != "" {
		return from.IPv4
	}
	addr, err := netip.ParseAddrPort(socket.LocalAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return addr.Addr().Unmap()
}
