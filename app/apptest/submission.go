package apptest

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"postrider/app"
	"postrider/mail/smtp"
	"postrider/sandbox"
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
	settings := in.certificate()
	server, err := in.App.Inbound.Server(settings)
	in.must(err)
	address := in.serve(server)
	listening, err := net.ResolveTCPAddr("tcp", address)
	in.must(err)
	in.must(in.Sandbox.Attach(sandbox.Product{RecordsOf: in.App.SandboxRecords, MXAddr: address}))
	in.App.Inbound.Opened(listening, settings)
	_, err = in.App.Inbound.Beat(context.Background())
	in.must(err)
	return address
}

// Receiving opens the door for mail from other servers, makes the verified domain receive, and returns the address.
func (in *Installation) Receiving() string {
	in.t.Helper()
	address := in.MX()
	answer := in.Call(http.MethodPost, "/domains/"+in.DomainID+"/receiving", map[string]any{"enabled": true})
	if answer.Status != http.StatusOK {
		in.t.Fatalf("receiving was answered with %d: %s", answer.Status, answer.Raw)
	}
	return address
}

// Receive lets everything be checked and passed on that came from other servers.
func (in *Installation) Receive() {
	in.t.Helper()
	for _, step := range []func(context.Context) (bool, error){in.App.Inbound.CheckStep, in.App.Inbound.OperatorStep, in.App.Inbound.ForwardStep} {
		for busy := true; busy; {
			var err error
			busy, err = step(context.Background())
			in.must(err)
		}
	}
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
