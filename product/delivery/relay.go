package delivery

import (
	"context"
	"errors"
	"net/netip"

	"postrider/mail/report"
	"postrider/mail/smtp"
	"postrider/mail/tlspolicy"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
	"postrider/product/relay"
)

// tryRelay hands the message to the relay of the workspace. A yes means that the relay has it, not that it has arrived.
func (t *talk) tryRelay(ctx context.Context) {
	r, err := t.service.relays.Of(ctx, t.job.taken.Email.Workspace)
	if err != nil {
		t.noRelay(err)
		return
	}
	if t.connection.line != nil {
		if !t.connection.line.relayOf.Equal(r.UpdatedAt) { // another host, or another account there
			t.connection.hangUp()
		} else if t.send(ctx) {
			return
		}
	}
	t.turnTo(r.Host, netip.Addr{}, r.Port)
	signedIn, err := t.service.relays.Connect(ctx, r)
	if err != nil {
		t.brokeOff(err, false)
		return
	}
	t.connection.line = &line{client: signedIn.Client, hello: t.service.config.Hello, host: r.Host, relayOf: r.UpdatedAt, local: signedIn.Local, remote: signedIn.Remote, tls: tlsFacts(signedIn.TLS, tlspolicy.Required, len(signedIn.TLS.VerifiedChains) > 0)}
	t.send(ctx)
}

// noRelay defers mail whose relay was taken away: its owner may set another before the mail is too old.
func (t *talk) noRelay(err error) {
	a := &t.outcome.Attempt
	a.FinishedAt, a.Stage, a.Outcome, t.heard.Failure = t.service.now(), smtp.StageConnect, email.AttemptDeferred, shape.OurOwn
	a.Response = "The workspace has no relay; set one, or route the domain directly."
	if !errors.Is(err, relay.ErrNone) {
		t.service.world.Log.Error("relay could not be loaded", "workspace", t.job.taken.Email.Workspace, "error", err)
		a.Response = "The relay could not be looked up; it will be tried again."
	}
	t.classify(report.Reply{Enhanced: "4.3.5", Text: a.Response, Stage: smtp.StageConnect})
}
