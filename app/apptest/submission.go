package apptest

import (
	"context"
	"crypto/tls"
	"net"

	"postrider/app"
	"postrider/mail/smtp"
)

// Submission opens the door for mail over SMTP (TLS from the first byte if implicit) until the test ends, and returns its address.
func (in *Installation) Submission(implicit bool) string {
	in.t.Helper()
	server, err := in.App.Submission.Server(in.certificate(), implicit)
	in.must(err)
	return in.serve(server)
}

// MX opens the door for mail from other servers until the test ends, and returns its address.
func (in *Installation) MX() string {
	in.t.Helper()
	server, err := in.App.Inbound.Server(in.certificate())
	in.must(err)
	return in.serve(server)
}

func (in *Installation) certificate() *tls.Config {
	in.t.Helper()
	certificate, err := app.SelfSigned(in.App.World, "mx1."+serviceDomain)
	in.must(err)
	return &tls.Config{Certificates: []tls.Certificate{certificate}}
}

func (in *Installation) serve(server *smtp.Server) string {
	in.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	in.must(err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	in.t.Cleanup(func() {
		stop()
		<-served
	})
	return listener.Addr().String()
}
