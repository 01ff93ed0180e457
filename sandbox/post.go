package sandbox

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"postrider/mail/smtp"
	"postrider/world"
)

const (
	// postTries and postPause let a report outlast a restart of the product.
	postTries = 5
	postPause = 30 * time.Second
	// postTimeout bounds one try; on loopback everything beyond seconds is a hang.
	postTimeout = time.Minute
)

// errUndeliverable means that trying again would not help.
var errUndeliverable = errors.New("nobody takes mail for this address")

// post sends a message the way a provider would, and tries again while it makes sense.
func (s *Sandbox) post(ctx context.Context, envelope smtp.Envelope, raw []byte) error {
	for try := 1; ; try++ {
		_, err := s.deliver(ctx, envelope, raw)
		if err == nil || errors.Is(err, errUndeliverable) || try == postTries {
			return err
		}
		if !s.wait(ctx, postPause) {
			return ctx.Err()
		}
	}
}

// deliver makes one try. It returns nil only if all recipients were accepted.
func (s *Sandbox) deliver(ctx context.Context, envelope smtp.Envelope, raw []byte) (smtp.Result, error) {
	addr, err := s.routeTo(envelope.To[0])
	if err != nil {
		return smtp.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	// The route is an address on loopback already, whatever the world's dialer makes of others.
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return smtp.Result{}, err
	}
	client := smtp.NewClient(conn, smtp.ClientConfig{Hello: hostname, Clock: world.SystemClock{}})
	defer client.Quit(ctx)
	if err := client.Greet(ctx); err != nil {
		return smtp.Result{}, err
	}
	if client.Extensions().StartTLS {
		// Certificates of mail servers are rarely valid for their names, so opportunistic TLS does not look at them (RFC 7435).
		if _, err := client.StartTLS(ctx, &tls.Config{InsecureSkipVerify: true}); err != nil {
			return smtp.Result{}, err
		}
	}
	envelope.EightBit = !isASCII(raw)
	envelope.SMTPUTF8 = envelope.EightBit && client.Extensions().SMTPUTF8
	envelope.Size = int64(len(raw))
	result, err := client.Send(ctx, envelope, bytes.NewReader(raw))
	if err != nil {
		return result, err
	}
	return result, refusalOf(result)
}

func refusalOf(result smtp.Result) error {
	for _, recipient := range result.Recipients {
		switch {
		case recipient.Accepted:
		case recipient.Reply.Permanent():
			return fmt.Errorf("%w: %s", errUndeliverable, recipient.Reply)
		default:
			return fmt.Errorf("refused for now: %s", recipient.Reply)
		}
	}
	return nil
}

// routeTo returns where mail for an address is really taken: by the product, or by the sandbox itself.
func (s *Sandbox) routeTo(to string) (string, error) {
	host := s.zone.mailHost(to[strings.LastIndexByte(to, '@')+1:])
	switch {
	case host == "":
		return "", errUndeliverable
	case !s.isOurs(host):
		return s.smtpAddr, nil
	}
	if product := s.product.Load(); product != nil && product.MXAddr != "" {
		return product.MXAddr, nil
	}
	return "", errNotAttached
}

// relay plays the network between the product's two ends: all hosts of the sandbox share one address, so mail to a domain
// whose mail server is the product's arrives here and is passed on, answer included. It returns nil for a yes.
func (s *Sandbox) relay(ctx context.Context, from smtp.Path, to []smtp.Path, raw []byte) *smtp.Reply {
	envelope := smtp.Envelope{From: from.String()}
	for _, path := range to {
		envelope.To = append(envelope.To, path.String())
	}
	result, err := s.deliver(ctx, envelope, raw)
	if err == nil {
		return nil
	}
	if result.Final.Code == 0 {
		s.world.Log.Warn("sandbox could not pass mail on to the product", "error", err)
		return replyNoRelay
	}
	accepted := false
	for _, recipient := range result.Recipients {
		accepted = accepted || recipient.Accepted
	}
	if !accepted {
		return &result.Final
	}
	// One answer cannot say yes and no, so the refused ones are told as any relay tells them: by a bounce.
	for _, recipient := range result.Recipients {
		if !recipient.Accepted && !from.IsNull() {
			s.later(func(ctx context.Context) error {
				return s.bounce(ctx, from.String(), recipient.Address, recipient.Reply, raw)
			})
		}
	}
	return nil
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
