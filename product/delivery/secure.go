package delivery

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"postrider/mail/dane"
	"postrider/mail/smtp"
	"postrider/mail/tlspolicy"
	"postrider/platform/api"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
	"postrider/world"
)

// tlsEnforced is what a sender's domain says if its mail must not go in the clear.
const tlsEnforced = "enforced"

// agreed is under which terms a conversation was opened, and what it reached.
type agreed struct {
	domain   string
	demand   tlspolicy.Demand
	decision tlspolicy.Decision
	state    *tls.ConnectionState // nil in clear text
}

// demand is what the sender wants of a connection.
func (t *talk) demand() tlspolicy.Demand {
	switch {
	case t.job.taken.Domain.TLS == tlsEnforced:
		return tlspolicy.DemandEncryption
	case t.letter.anyhow:
		return tlspolicy.DemandDelivery
	case t.job.work.TLSRequired:
		return tlspolicy.DemandEncryption
	}
	return tlspolicy.DemandNothing
}

// agree decides how a server must be spoken to. An error means that it must be left alone.
func (t *talk) agree(ctx context.Context, found route, host string, addresses world.Answer) (tlspolicy.Decision, error) {
	s, domain := t.service, t.job.held.domain
	promise, err := dane.Lookup(ctx, s.world.Resolver, dane.Server{Domain: domain, MX: found.answer, Host: host, Addresses: addresses, Port: uint16(s.config.Port)})
	if err != nil {
		s.encryption.count(domain, tlspolicy.PromiseProblem(host, err))
		return tlspolicy.Decision{}, err
	}
	d := tlspolicy.Decide(tlspolicy.Facts{Domain: domain, Host: host, Demand: t.demand(), STS: found.sts, DANE: promise,
		Memory: s.encryption.memory(domain), Now: s.world.Clock.Now(), Roots: s.encryption.roots})
	if d.Refusal != nil {
		s.encryption.count(domain, d.Refused(host)...)
	}
	return d, d.Refusal
}

// leaveAlone notes that a server was not spoken to because it might not be the recipient's. That says nothing about the server.
func (t *talk) leaveAlone(host string, err error) {
	t.turnTo(host, netip.Addr{}, 0)
	t.brokeOff(&smtp.Error{Stage: smtp.StageStartTLS, Err: err}, false)
	t.heard.Failure = shape.OurOwn
}

// protects tells whether the open conversation is as protected as the message must be. Most messages follow one to the same domain,
// and for those nothing has to be asked.
func (t *talk) protects(ctx context.Context, found route) bool {
	l := t.connection.line
	before, demand := l.encryption, t.demand()
	if before.state != nil && before.domain == t.job.held.domain && before.demand == demand {
		return true
	}
	next, err := t.agree(ctx, found, l.host, l.addresses)
	if err != nil || !before.decision.Implies(next) && next.Accepts(before.state) != nil {
		return false
	}
	l.encryption.domain, l.encryption.demand, l.encryption.decision = t.job.held.domain, demand, next
	return true
}

// secure starts TLS if the server offers it, and fails if the decision is not satisfied.
func (t *talk) secure(ctx context.Context, c *line) error {
	d := c.encryption.decision
	if !c.client.Extensions().StartTLS {
		t.unprotected(c, nil)
		if !d.PlaintextAllowed {
			return &smtp.Error{Stage: smtp.StageStartTLS, Err: tlspolicy.ErrNotEncrypted}
		}
		c.tls.Policy = string(d.Level)
		return nil
	}
	state, err := c.client.StartTLS(ctx, d.Config())
	var failed *smtp.Error
	if errors.As(err, &failed) && failed.Stage == smtp.StageStartTLS {
		t.unprotected(c, err)
		if failed.Err == nil && c.client.Usable() { // offered, then declined: as good as not offered
			if !d.PlaintextAllowed {
				return &smtp.Error{Stage: smtp.StageStartTLS, Err: fmt.Errorf("%w: %d %s", tlspolicy.ErrNotEncrypted, failed.Reply.Code, failed.Reply.Text())}
			}
			c.tls.Policy = string(d.Level)
			return nil
		}
	}
	if err != nil {
		return err
	}
	c.encryption.state = &state
	c.tls = tlsFacts(state, d.Level, d.Verified(state))
	t.countSessions(c, nil)
	return nil
}

// unprotected remembers that encryption was not offered or failed.
func (t *talk) unprotected(c *line, err error) {
	t.service.encryption.remember(c.encryption.domain, func(m tlspolicy.Memory, now time.Time) tlspolicy.Memory { return m.Failed(now) })
	t.countSessions(c, err)
}

func (t *talk) countSessions(c *line, err error) {
	t.service.encryption.count(c.encryption.domain, c.encryption.decision.Sessions(tlspolicy.Connection{State: c.encryption.state, Err: err,
		SendingIP: c.local.String(), MXHost: c.host, MXIP: c.remote.Addr().String()})...)
}

// protected remembers how well the message that was just accepted was protected.
func (t *talk) protected() {
	if t.job.taken.Email.Provider == email.Relay {
		return
	}
	reached, facts := tlspolicy.Plain, t.outcome.Attempt.TLS
	switch {
	case facts.Verified:
		reached = tlspolicy.Verified
	case facts.Used:
		reached = tlspolicy.Encrypted
	}
	t.service.encryption.remember(t.job.held.domain, func(m tlspolicy.Memory, now time.Time) tlspolicy.Memory { return m.Delivered(reached, now) })
}

// ofPolicy tells whether a conversation ended because of what is wished of encryption here, by the sender or by the recipient's
// domain. Another domain behind the same server may wish something else.
func ofPolicy(err error) bool {
	var failed *tlspolicy.CheckError
	return errors.As(err, &failed) || errors.Is(err, tlspolicy.ErrNotEncrypted)
}

func tlsFacts(state tls.ConnectionState, level tlspolicy.Level, verified bool) email.TLSFacts {
	return email.TLSFacts{Used: true, Version: api.Ref(tlsVersion(state.Version)), Cipher: api.Ref(tls.CipherSuiteName(state.CipherSuite)), Policy: string(level),
		Verified: verified}
}

func tlsVersion(version uint16) string { return strings.ReplaceAll(tls.VersionName(version), " ", "") }
