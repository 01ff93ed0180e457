package app

import (
	"context"
	"crypto/tls"
	"io"
	"net"

	"postrider/mail/smtp"
)

// newMX returns the server other mail servers speak to. No domain receives mail yet, so every recipient is refused.
func (a *App) newMX(host string, certificate tls.Certificate) (*smtp.Server, error) {
	return smtp.NewServer(smtp.Config{
		Hostname: host, Clock: a.World.Clock, Log: a.World.Log, TLS: serverTLS(certificate),
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) { return noRecipients{}, nil },
	})
}

func serverTLS(certificate tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
}

// noRecipients is a session in which nobody lives here.
type noRecipients struct{}

func (noRecipients) Auth(context.Context, string, string, string) *smtp.Reply {
	return smtp.NewReply(535, "5.7.8", "Authentication is not offered here")
}
func (noRecipients) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply { return nil }
func (noRecipients) Rcpt(context.Context, smtp.Path, smtp.RcptParams) *smtp.Reply {
	return smtp.NewReply(550, "5.7.1", "No such recipient here")
}
func (noRecipients) Data(_ context.Context, r io.Reader) *smtp.Reply {
	_, _ = io.Copy(io.Discard, r) // unreachable without a recipient, but the session must read
	return smtp.NewReply(554, "5.5.1", "No valid recipients")
}
func (noRecipients) Reset()  {}
func (noRecipients) Logout() {}

// listen opens a TCP address; the empty address opens none.
func listen(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	return net.Listen("tcp", address)
}
