package apptest

import (
	"context"
	"crypto/tls"
	"net"

	"postrider/app"
)

// Submission opens the door for mail over SMTP (TLS from the first byte if implicit) until the test ends, and returns its address.
func (in *Installation) Submission(implicit bool) string {
	in.t.Helper()
	certificate, err := app.SelfSigned(in.App.World, "mx1."+serviceDomain)
	in.must(err)
	server, err := in.App.Submission.Server(&tls.Config{Certificates: []tls.Certificate{certificate}}, implicit)
	in.must(err)
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
