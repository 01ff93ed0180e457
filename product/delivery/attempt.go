package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/product/email"
	"postrider/world"
)

// attemptFor is the longest one attempt may take over all servers; past it something hangs that must not.
const attemptFor = 30 * time.Minute

// attempt tries to hand a message to the recipient's servers and tells what came of it. It never fails: a failure is an outcome.
func (s *Service) attempt(ctx context.Context, t email.Taken, l *letter) email.Outcome {
	ctx, done := context.WithTimeout(ctx, attemptFor)
	defer done()
	o := email.Outcome{Taken: t}
	o.Attempt = email.Attempt{ID: s.world.NewID(), Number: t.Recipient.Attempts, StartedAt: s.now()}
	o.Attempt.ISP, o.Attempt.Node, o.Attempt.Helo = t.Recipient.ISP, s.config.Node, s.config.Hello
	o.Attempt.TLS.Policy = string(tlsNone)
	raw, err := l.bytes(ctx)
	o.Headers = l.headers
	if err != nil {
		s.refuseLocally(&o, err)
		return o
	}
	if s.simulated(t) {
		s.simulate(&o)
		return o
	}
	if t.Email.Provider == email.Relay {
		s.tryRelay(ctx, &o, l, raw)
		return o
	}
	s.tryServers(ctx, &o, l, raw)
	return o
}

func (s *Service) now() time.Time { return s.world.Clock.Now().Truncate(time.Microsecond) }

// refuseLocally ends an attempt that never came to a server.
func (s *Service) refuseLocally(o *email.Outcome, err error) {
	o.Attempt.FinishedAt, o.Attempt.Stage = s.now(), smtp.StageDNS
	s.world.Log.Error("message could not be made", "email", o.Taken.Email.ID, "error", err)
	if errors.Is(err, message.ErrTooLarge) || errors.Is(err, message.ErrHeader) {
		o.Attempt.Outcome, o.Attempt.Response = email.AttemptBounced, "The message cannot be sent as it is: "+err.Error()
		o.Decision, o.Failure = email.GivenUp, &email.Failure{Reason: "message_rejected_locally", Message: o.Attempt.Response}
		return
	}
	o.Attempt.Outcome, o.Attempt.Response = email.AttemptDeferred, "The message could not be prepared; it will be tried again."
	o.Class = report.Classify(report.Reply{Enhanced: "4.3.0"})
	s.decide(o)
}

// tryServers asks one server after the other until one of them has decided.
func (s *Service) tryServers(ctx context.Context, o *email.Outcome, l *letter, raw []byte) {
	to, err := address.Parse(o.Taken.Recipient.Address)
	if err != nil {
		s.dnsFailed(o, errNoDomain)
		return
	}
	hosts, err := s.routes.hosts(ctx, to.Domain)
	if err != nil {
		s.dnsFailed(o, err)
		return
	}
	lookupErr := error(nil)
	tried := 0
	for _, host := range hosts {
		addrs, err := s.routes.addresses(ctx, host)
		if err != nil {
			lookupErr = worse(lookupErr, err)
			continue
		}
		for _, addr := range addrs[:min(len(addrs), maxServers)] {
			if tried++; tried > maxServers {
				return
			}
			if s.converse(ctx, o, l, raw, host, netip.AddrPortFrom(addr, uint16(s.config.Port))) {
				return
			}
		}
	}
	if tried == 0 {
		s.dnsFailed(o, lookupErr)
	}
}

// worse keeps the error that leaves more hope: one server whose name was not answered is reason to look again.
func worse(before, now error) error {
	if before == nil || errors.Is(now, world.ErrUnanswered) {
		return now
	}
	return before
}

func (s *Service) dnsFailed(o *email.Outcome, err error) {
	o.Attempt.FinishedAt, o.Attempt.Stage, o.Attempt.Outcome = s.now(), smtp.StageDNS, email.AttemptDNSFailed
	reply := report.Reply{Stage: smtp.StageDNS, Text: err.Error()}
	switch {
	case errors.Is(err, errNoDomain):
		reply.Enhanced = "5.1.2"
	case errors.Is(err, errNullMX):
		reply.Enhanced = "5.1.10"
	case errors.Is(err, errPrivate):
		reply.Enhanced = "5.4.4"
	default:
		reply.Enhanced, reply.Text = "4.4.3", "The name servers of the recipient's domain did not answer."
	}
	o.Attempt.Enhanced, o.Attempt.Response = reply.Enhanced, reply.Enhanced+" "+reply.Text
	if errors.Is(err, errNullMX) || errors.Is(err, errPrivate) {
		o.Attempt.Outcome = email.AttemptBounced // a published refusal, not a failed look-up
	}
	s.classify(o, reply)
}

func (s *Service) classify(o *email.Outcome, reply report.Reply) {
	o.Class = report.Classify(reply)
	o.Attempt.Class = email.NewClassFacts(o.Class)
	s.decide(o)
}

// converse hands the message to one server. It tells whether the server has decided, for or against; if not, another may.
func (s *Service) converse(ctx context.Context, o *email.Outcome, l *letter, raw []byte, host string, to netip.AddrPort) bool {
	leave, err := s.pool.enter(ctx, to.String())
	if err != nil {
		s.brokeOff(o, &smtp.Error{Stage: smtp.StageConnect, Err: err}, false)
		return true
	}
	defer leave()
	policy := tlsOpportunistic
	if o.Taken.Domain.TLS == "enforced" {
		policy = tlsRequired
	}
	if c := s.pool.reuse(to.String(), policy == tlsRequired); c != nil {
		if decided, fresh := s.send(ctx, o, l, raw, c); decided || !fresh {
			return decided
		}
	}
	c, err := s.connect(ctx, host, to, policy)
	var failed *smtp.Error
	if errors.As(err, &failed) && failed.Stage == smtp.StageStartTLS && policy == tlsOpportunistic {
		c, err = s.connect(ctx, host, to, tlsNone)
	}
	o.Attempt.MXHost, o.Attempt.MXIP, o.Attempt.MXPort = host, to.Addr(), int(to.Port())
	if err != nil {
		s.brokeOff(o, err, false)
		return false
	}
	decided, _ := s.send(ctx, o, l, raw, c)
	return decided
}

// send hands the message over an open connection. fresh tells that a kept connection had gone stale, which says nothing about
// the message: a new connection should be tried.
func (s *Service) send(ctx context.Context, o *email.Outcome, l *letter, raw []byte, c *connection) (decided, fresh bool) {
	a := &o.Attempt
	a.MXHost, a.MXIP, a.MXPort, a.LocalIP, a.TLS = c.host, c.remote.Addr(), int(c.remote.Port()), c.local, c.tls
	envelope := smtp.Envelope{From: s.returnPath(o.Taken), To: []string{o.Taken.Recipient.Address}, SMTPUTF8: l.utf8, EightBit: l.eightBit, Size: int64(len(raw))}
	kept := c.messages > 0
	c.messages++
	result, err := c.client.Send(ctx, envelope, bytes.NewReader(raw))
	a.FinishedAt = s.now()
	if c.client.Usable() {
		s.pool.keep(c)
	} else {
		c.client.Close()
	}
	r := result.Recipients[0]
	if err != nil || r.Reply.Code == 0 || !c.client.Usable() && r.Reply.Code == 421 && !result.SentFinalDot {
		if kept && !result.SentFinalDot {
			return false, true
		}
		s.brokeOff(o, orUnknown(err, r), result.SentFinalDot)
		return result.SentFinalDot, false
	}
	a.Stage, a.Code, a.Enhanced, a.Response = r.Stage, r.Reply.Code, r.Reply.Enhanced, r.Reply.String()
	if r.Accepted {
		a.Outcome, a.Stage, o.Decision = email.AttemptAccepted, smtp.StageEndOfData, email.Done
		a.NextAt, a.Class, o.Class = time.Time{}, nil, report.Verdict{} // of a server that was tried before
		return true, false
	}
	a.Outcome = email.AttemptDeferred
	if r.Reply.Permanent() {
		a.Outcome = email.AttemptBounced
	}
	s.classify(o, report.Reply{Code: r.Reply.Code, Enhanced: r.Reply.Enhanced, Text: r.Reply.Text(), Stage: r.Stage})
	if o.Decision == email.Later {
		a.Outcome = email.AttemptDeferred
	}
	return true, false
}

func orUnknown(err error, r smtp.RecipientResult) error {
	if err != nil {
		return err
	}
	return &smtp.Error{Stage: r.Stage, Reply: r.Reply}
}

// brokeOff notes a conversation that ended before the server had decided. After the final dot nobody knows whether the server
// has taken the message; it is sent again under the same Message-ID (RFC 1047), and the attempt says so.
func (s *Service) brokeOff(o *email.Outcome, err error, sentFinalDot bool) {
	a := &o.Attempt
	a.FinishedAt, a.Outcome, a.Stage, a.Ambiguous = s.now(), email.AttemptConnectionFailed, smtp.StageConnect, sentFinalDot
	reply := report.Reply{Enhanced: "4.4.2", Text: "The connection broke off."}
	var failed *smtp.Error
	if errors.As(err, &failed) {
		a.Stage = failed.Stage
		switch {
		case failed.Reply.Code != 0:
			reply = report.Reply{Code: failed.Reply.Code, Enhanced: failed.Reply.Enhanced, Text: failed.Reply.Text()}
			a.Outcome = email.AttemptDeferred
		case failed.Stage == smtp.StageStartTLS:
			a.Outcome = email.AttemptTLSFailed
			reply = report.Reply{Enhanced: "4.7.5", Text: "Encryption could not be set up: " + cause(failed.Err)}
		case failed.Stage == smtp.StageConnect:
			reply = report.Reply{Enhanced: "4.4.1", Text: "The server could not be reached: " + cause(failed.Err)}
		default:
			reply.Text = fmt.Sprintf("The connection broke off at %s: %s", failed.Stage, cause(failed.Err))
		}
	}
	reply.Stage = a.Stage
	a.Code, a.Enhanced, a.Response = reply.Code, reply.Enhanced, reply.Enhanced+" "+reply.Text
	if reply.Code != 0 {
		a.Response = strconv.Itoa(reply.Code) + " " + a.Response
	}
	s.classify(o, reply)
}

// cause keeps what an operator can use of an error, in one bounded line.
func cause(err error) string {
	text := err.Error()
	return text[:min(len(text), 200)]
}
