package delivery

import (
	"context"
	"errors"

	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/product/email"
	"postrider/product/relay"
)

// tryRelay hands the message to the relay of the workspace. A yes means that the relay has it, not that it has arrived.
func (s *Service) tryRelay(ctx context.Context, o *email.Outcome, l *letter, raw []byte) {
	r, err := s.relays.Of(ctx, o.Taken.Email.Workspace)
	if err != nil {
		s.noRelay(o, err)
		return
	}
	key := "relay/" + string(r.Workspace)
	leave, err := s.pool.enter(ctx, key)
	if err != nil {
		s.brokeOff(o, &smtp.Error{Stage: smtp.StageConnect, Err: err}, false)
		return
	}
	defer leave()
	if c := s.pool.reuse(key, true); c != nil && c.host == r.Host {
		if decided, stale := s.send(ctx, o, l, raw, c); decided || !stale {
			return
		}
	}
	o.Attempt.MXHost, o.Attempt.MXPort = r.Host, r.Port
	signedIn, err := s.relays.Connect(ctx, r)
	if err != nil {
		s.brokeOff(o, err, false)
		return
	}
	s.send(ctx, o, l, raw, &connection{key: key, client: signedIn.Client, host: r.Host, local: signedIn.Local, remote: signedIn.Remote,
		tls: tlsFacts(signedIn.TLS, tlsRequired)})
}

// noRelay defers mail whose relay was taken away: its owner may set another before the mail is too old.
func (s *Service) noRelay(o *email.Outcome, err error) {
	o.Attempt.FinishedAt, o.Attempt.Stage, o.Attempt.Outcome = s.now(), smtp.StageConnect, email.AttemptDeferred
	o.Attempt.Response = "The workspace has no relay; set one, or route the domain directly."
	if !errors.Is(err, relay.ErrNone) {
		s.world.Log.Error("relay could not be loaded", "workspace", o.Taken.Email.Workspace, "error", err)
		o.Attempt.Response = "The relay could not be looked up; it will be tried again."
	}
	s.classify(o, report.Reply{Enhanced: "4.3.5", Text: o.Attempt.Response, Stage: smtp.StageConnect})
}
