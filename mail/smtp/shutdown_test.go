package smtp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"postrider/mail/smtp"
)

func TestShutdownTellsWaitingClientsToLeave(t *testing.T) {
	t.Parallel()
	serverTLS, _ := certificate(t)
	server, address := startServer(t, &desk{}, smtp.Config{TLS: serverTLS, Auth: true})
	idle := connect(t, address)
	inMail := connect(t, address)
	inMail.send("HELO client.test\r\nMAIL FROM:<a@client.test>\r\n")
	inMail.expect("250 ", "250 ")
	inAuth := connect(t, address)
	inAuth.send("HELO client.test\r\nAUTH LOGIN\r\n")
	inAuth.expect("250 ", "334 ")
	inHandshake := connect(t, address)
	inHandshake.send("STARTTLS\r\n")
	inHandshake.expect("220 ")

	if err := server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}

	for _, p := range []*peer{idle, inMail, inAuth} {
		p.expect("421 4.3.2")
		p.closed()
	}
	inHandshake.closed()
}

// watchedConn tells when it is about to be read.
type watchedConn struct {
	net.Conn
	reading chan<- struct{}
}

func (c watchedConn) Read(p []byte) (int, error) {
	c.reading <- struct{}{}
	return c.Conn.Read(p)
}

func TestShutdownLetsAMessageUnderWayFinish(t *testing.T) {
	t.Parallel()
	d := &desk{}
	server := newServer(t, d, smtp.Config{})
	near, far := net.Pipe()
	near.SetDeadline(time.Now().Add(20 * time.Second))
	reading := make(chan struct{}, 100)
	go smtp.ServeConn(server, context.Background(), watchedConn{far, reading})
	p := &peer{t: t, conn: near, in: newReader(near)}
	p.expect("220 ")
	p.begin()
	p.send("half a ")
	for range 4 { // EHLO, the transaction, these bytes, and the wait for more
		<-reading
	}
	idle := &peer{t: t, conn: pipeTo(t, server)}
	idle.in = newReader(idle.conn)
	idle.expect("220 ")
	stopped := make(chan error, 1)
	go func() { stopped <- server.Shutdown(context.Background()) }()
	idle.expect("421 ")
	server.Serve(context.Background(), listen(t)) // returns when the shutdown has reached everyone

	p.send("message\r\n.\r\n")

	p.expect("250 2.0.0 queued", "421 4.3.2")
	p.closed()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if got := d.accepted(); len(got) != 1 || got[0].Body != "half a message\r\n" {
		t.Errorf("accepted %+v", got)
	}
	if d.opened != d.closed || d.resets != 1 {
		t.Errorf("%d sessions opened, %d closed, %d resets", d.opened, d.closed, d.resets)
	}
}

func TestShutdownCutsWhatDoesNotFinishInTime(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	d := &desk{onData: func(ctx context.Context, r io.Reader) *smtp.Reply {
		io.Copy(io.Discard, r)
		close(entered)
		<-ctx.Done()
		return smtp.NewReply(451, "4.3.0", "Not stored")
	}}
	server, address := startServer(t, d, smtp.Config{})
	p := connect(t, address)
	p.begin()
	p.send(".\r\n")
	<-entered
	late, cancel := context.WithCancel(context.Background())
	cancel()
	if err := server.Shutdown(late); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// The session's no may or may not get through before the connection is cut; a yes must not appear.
	for line := p.line(); line != ""; line = p.line() {
		if !strings.HasPrefix(line, "4") {
			t.Errorf("server said %q", line)
		}
	}
}

func TestEndOfContextCutsConnections(t *testing.T) {
	t.Parallel()
	server := newServer(t, &desk{}, smtp.Config{})
	listener := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	p := connect(t, listener.Addr().String())
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	p.closed()
}

func TestServeAfterShutdownReturnsAtOnce(t *testing.T) {
	t.Parallel()
	server := newServer(t, &desk{}, smtp.Config{})
	if err := server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(context.Background(), listen(t)); err != nil {
		t.Error(err)
	}
}
