package delivery

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/mail/tlspolicy"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
	"postrider/world"
)

// attemptFor is the longest one attempt may take over all servers; past it something hangs that must not. Each step of a
// conversation has a shorter time of its own (mail/smtp).
const attemptFor = 30 * time.Minute

// talk is one attempt: a conversation about one recipient, with one server after the other until one of them has decided.
type talk struct {
	service    *Service
	job        *job
	connection *connection // nil if it comes to no server
	letter     *letter
	raw        []byte

	outcome email.Outcome
	heard   shape.Outcome
}

// attempt tries to hand a message to the recipient's servers and tells what came of it. It never fails: a failure is an outcome.
func (s *Service) attempt(j *job, c *connection) *talk {
	ctx, done := context.WithTimeout(s.life, attemptFor)
	defer done()
	t := &talk{service: s, job: j, connection: c, heard: shape.Outcome{Connection: j.work.Connection}}
	a := &t.outcome.Attempt
	t.outcome.Taken = j.taken
	*a = email.Attempt{ID: s.world.NewID(), Number: j.taken.Recipient.Attempts, StartedAt: s.now()}
	a.ISP, a.Node, a.Helo, a.TLS.Policy = j.taken.Recipient.ISP, s.config.Node, s.config.Hello, string(tlspolicy.None)
	ctx, span := s.world.Span(ctx, "delivery attempt", world.Calling)
	defer t.tell(span)
	t.letter = s.letters.borrow(s, j.taken)
	defer s.letters.giveBack(t.letter)
	var err error
	t.raw, err = t.letter.bytes(ctx)
	t.outcome.Headers = t.letter.headers
	switch {
	case err != nil:
		t.refuseLocally(err)
	case j.noWay != nil:
		t.dnsFailed(j.noWay)
	case c == nil:
		t.simulate()
	case j.taken.Email.Provider == email.Relay:
		t.tryRelay(ctx)
	default:
		t.tryServers(ctx)
	}
	t.heard.Closed = c != nil && c.line == nil
	return t
}

// tryServers asks one server after the other until one of them has decided.
func (t *talk) tryServers(ctx context.Context) {
	routes := t.service.routes
	found, err := routes.find(ctx, t.job.held.domain)
	if err != nil {
		t.dnsFailed(err)
		return
	}
	if t.connection.line != nil {
		if !t.fits(ctx, found) {
			t.connection.hangUp()
		} else if t.send(ctx) {
			return
		}
	}
	lookupErr := error(nil)
	tried := 0
	for _, host := range found.hosts {
		addrs, answer, err := routes.addresses(ctx, host)
		if err != nil {
			lookupErr = worse(lookupErr, err)
			continue
		}
		decision, err := t.agree(ctx, found, host, answer)
		if err != nil {
			tried++
			t.leaveAlone(host, err)
			continue
		}
		for _, addr := range addrs {
			if !reaches(t.source(), addr) {
				lookupErr = worse(lookupErr, errOtherFamily)
				continue
			}
			if tried++; tried > maxServers {
				t.orElsewhere()
				return
			}
			if t.converse(ctx, server{host, netip.AddrPortFrom(addr, uint16(t.service.config.Port)), answer, decision}) {
				return
			}
		}
	}
	if tried == 0 {
		t.dnsFailed(lookupErr)
	}
	t.orElsewhere() // some refuse a source before they have heard of a message
}

// server is one to speak to, and how.
type server struct {
	host      string
	addr      netip.AddrPort
	addresses world.Answer // how addr was found
	decision  tlspolicy.Decision
}

// fits tells whether the open conversation is with a server of the recipient's, and as protected as it must be. Sites are told apart
// by their best servers only, and another domain of the site may have had a different one in reserve.
func (t *talk) fits(ctx context.Context, found route) bool {
	host := t.connection.line.host
	return (slices.Contains(found.hosts, host) || t.service.table.Serves(found.site, host)) && t.protects(ctx, found)
}

// worse keeps the error that leaves more hope: one server whose name was not answered is reason to look again.
func worse(before, now error) error {
	if before == nil || errors.Is(now, world.ErrUnanswered) {
		return now
	}
	return before
}

// converse hands the message to one server. It tells whether the server has decided, for or against; if not, another may.
func (t *talk) converse(ctx context.Context, to server) bool {
	opened, err := t.connect(ctx, to, true)
	var failed *smtp.Error
	if errors.As(err, &failed) && failed.Stage == smtp.StageStartTLS && to.decision.PlaintextAllowed && !errors.Is(err, smtp.ErrSpokeBeforeTLS) {
		opened, err = t.connect(ctx, to, false)
	}
	t.turnTo(to.host, to.addr.Addr(), int(to.addr.Port()))
	t.outcome.Attempt.Helo = t.source().Hello
	if err != nil {
		t.brokeOff(err, false)
		return false
	}
	t.connection.line = opened
	return t.send(ctx)
}

// turnTo notes which server is meant from now on, and forgets what was noted of a conversation with one before it.
func (t *talk) turnTo(host string, addr netip.Addr, port int) {
	a := &t.outcome.Attempt
	a.MXHost, a.MXIP, a.MXPort = host, addr, port
	a.LocalIP, a.TLS = netip.Addr{}, email.TLSFacts{Policy: string(tlspolicy.None)}
}

// send hands the message over the open conversation and tells whether the server has decided. A conversation that had carried
// others and is found dead, or is ended now, says nothing about the message: another one should be tried.
func (t *talk) send(ctx context.Context) (decided bool) {
	l, a := t.connection.line, &t.outcome.Attempt
	a.Helo, a.MXHost, a.MXIP, a.MXPort, a.LocalIP, a.TLS = l.hello, l.host, l.remote.Addr(), int(l.remote.Port()), l.local, l.tls
	taken := t.job.taken
	envelope := smtp.Envelope{From: t.service.returnPath(taken), To: []string{taken.Recipient.Address}, SMTPUTF8: t.letter.utf8,
		EightBit: t.letter.eightBit, Size: int64(len(t.raw)), Permit: t.permit}
	used := l.messages > 0
	l.messages++
	t.connected(l)
	result, err := l.client.Send(ctx, envelope, bytes.NewReader(t.raw))
	a.FinishedAt = t.service.now()
	usable := l.client.Usable()
	if !usable {
		t.connection.lose()
	}
	switch {
	case errors.Is(err, errLeaseOver):
		t.leaseOver()
		return true
	case errors.Is(err, errCalledBack):
		t.calledBack()
		return true
	}
	r := result.Recipients[0]
	if err != nil || r.Reply.Code == 0 || !usable && r.Reply.Code == 421 && !result.SentFinalDot {
		if !used || result.SentFinalDot {
			t.brokeOff(orUnknown(err, r), result.SentFinalDot)
		}
		return result.SentFinalDot
	}
	t.answered(r)
	return true
}

func orUnknown(err error, r smtp.RecipientResult) error {
	if err != nil {
		return err
	}
	return &smtp.Error{Stage: r.Stage, Reply: r.Reply}
}

// answered notes what a server has decided about the recipient.
func (t *talk) answered(r smtp.RecipientResult) {
	a := &t.outcome.Attempt
	a.Stage, a.Code, a.Enhanced, a.Response, a.Ambiguous = r.Stage, r.Reply.Code, r.Reply.Enhanced, r.Reply.String(), false
	t.heard.Failure = shape.NoFailure
	if r.Accepted {
		a.Outcome, a.Stage, t.outcome.Decision = email.AttemptAccepted, smtp.StageEndOfData, email.Done
		a.NextAt, a.Class, t.outcome.Class = time.Time{}, nil, report.Verdict{} // of a server that was tried before
		t.protected()
		t.hear(r)
		return
	}
	a.Outcome = email.AttemptDeferred
	if r.Reply.Permanent() {
		a.Outcome = email.AttemptBounced
	}
	t.classify(report.Reply{Code: r.Reply.Code, Enhanced: r.Reply.Enhanced, Text: r.Reply.Text(), Stage: r.Stage})
	t.hear(r)
	t.orElsewhere()
	if t.outcome.Decision == email.Later {
		a.Outcome = email.AttemptDeferred
	}
}

// orElsewhere has a message that was refused for the address of its source tried from another one.
func (t *talk) orElsewhere() {
	a := &t.outcome.Attempt
	if t.outcome.Class.Category == report.Reputation && t.sourceIsBlocked() && t.service.elsewhere(t.job.held, a.Response) {
		t.outcome.Decision, a.Outcome, a.NextAt = email.Later, email.AttemptDeferred, t.service.now().Add(elsewhereAfter)
	}
}

// sourceIsBlocked tells whether the server named our address as what it refuses.
func (t *talk) sourceIsBlocked() bool {
	return slices.ContainsFunc(t.heard.Replies, t.service.table.Provider(t.job.held.path.Site).BlocksSource)
}

// elsewhereAfter is when a message that one source could not deliver is tried from another.
const elsewhereAfter = 10 * time.Second

// hear passes a reply on to the shaper.
func (t *talk) hear(r smtp.RecipientResult) {
	speaker := shape.TheServer
	if r.Local {
		speaker = shape.Ourselves
	}
	t.heard.Replies = []shape.Reply{{Speaker: speaker, Code: r.Reply.Code, Enhanced: r.Reply.Enhanced, Text: r.Reply.Text(),
		Class: t.outcome.Class.Class, Category: t.outcome.Class.Category}}
}
