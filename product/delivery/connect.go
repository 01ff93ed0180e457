package delivery

import (
	"context"
	"net"
	"net/netip"
	"time"

	"postrider/mail/smtp"
	"postrider/mail/tlspolicy"
	"postrider/product/email"
)

// connectFor is how long a server may take to answer the knock; the operating system would wait for minutes.
const connectFor = 30 * time.Second

// connect opens a conversation. Errors are *smtp.Error and say how far it came.
func (t *talk) connect(ctx context.Context, to server, encrypt bool) (*line, error) {
	s := t.service
	dialing, done := context.WithTimeout(ctx, connectFor)
	defer done()
	socket, err := s.world.Dialer.DialContext(dialing, "tcp", to.addr.String())
	if err != nil {
		return nil, &smtp.Error{Stage: smtp.StageConnect, Err: err}
	}
	c := &line{client: smtp.NewClient(socket, smtp.ClientConfig{Hello: s.config.Hello, Clock: s.world.Clock}), host: to.host, remote: to.addr,
		local: localAddr(socket), addresses: to.addresses, encryption: agreed{domain: t.job.held.domain, demand: t.demand(), decision: to.decision},
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

func localAddr(socket net.Conn) netip.Addr {
	addr, err := netip.ParseAddrPort(socket.LocalAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return addr.Addr().Unmap()
}
