package delivery

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"time"

	"postrider/mail/smtp"
	"postrider/platform/api"
	"postrider/product/email"
)

// connectFor is how long a server may take to answer the knock; the operating system would wait for minutes.
const connectFor = 30 * time.Second

// tlsPolicy says what to do about encryption.
type tlsPolicy string

const (
	tlsOpportunistic tlsPolicy = "opportunistic" // encrypt if the server can
	tlsRequired      tlsPolicy = "required"      // encrypt or do not send
	tlsNone          tlsPolicy = "none"          // the server's encryption is broken; send without
)

// tlsEnforced is what a sender's domain says if its mail must not go in the clear.
const tlsEnforced = "enforced"

// connect opens a conversation. Errors are *smtp.Error and say how far it came.
func (t *talk) connect(ctx context.Context, host string, to netip.AddrPort, policy tlsPolicy) (*line, error) {
	s := t.service
	dialing, done := context.WithTimeout(ctx, connectFor)
	defer done()
	socket, err := s.world.Dialer.DialContext(dialing, "tcp", to.String())
	if err != nil {
		return nil, &smtp.Error{Stage: smtp.StageConnect, Err: err}
	}
	c := &line{client: smtp.NewClient(socket, smtp.ClientConfig{Hello: s.config.Hello, Clock: s.world.Clock}), host: host, remote: to,
		local: localAddr(socket), tls: email.TLSFacts{Policy: string(policy)}}
	t.connected(c)
	if err := c.client.Greet(ctx); err != nil {
		c.client.Close()
		return nil, err
	}
	if policy == tlsNone {
		return c, nil
	}
	if err := c.secure(ctx, policy); err != nil {
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

var errNoTLS = errors.New("the server does not offer encryption, which this domain requires")

// secure starts TLS if the server offers it. Certificates are not checked: many servers have self-signed ones, and refusing those
// would mean sending in clear text to them instead.
func (c *line) secure(ctx context.Context, policy tlsPolicy) error {
	if !c.client.Extensions().StartTLS {
		if policy == tlsRequired {
			return &smtp.Error{Stage: smtp.StageStartTLS, Err: errNoTLS}
		}
		return nil
	}
	state, err := c.client.StartTLS(ctx, &tls.Config{ServerName: c.host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err != nil {
		var refused *smtp.Error
		if policy == tlsOpportunistic && errors.As(err, &refused) && refused.Err == nil && c.client.Usable() {
			return nil // offered, then declined: as good as not offered
		}
		return err
	}
	c.tls = tlsFacts(state, policy)
	return nil
}

func tlsFacts(state tls.ConnectionState, policy tlsPolicy) email.TLSFacts {
	return email.TLSFacts{Used: true, Version: api.Ref(tlsVersion(state.Version)), Cipher: api.Ref(tls.CipherSuiteName(state.CipherSuite)), Policy: string(policy),
		Verified: len(state.VerifiedChains) > 0}
}

func tlsVersion(version uint16) string {
	switch version {
	case tls.VersionTLS12:
		return "TLS1.2"
	case tls.VersionTLS13:
		return "TLS1.3"
	}
	return tls.VersionName(version)
}
