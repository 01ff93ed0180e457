package smtp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	netsmtp "net/smtp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"postrider/mail/smtp"
	"postrider/world"
)

func TestServerRefusesSettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	good := smtp.Config{Hostname: "mx.test", Clock: world.SystemClock{}, Handler: (&desk{}).handle}
	for name, spoil := range map[string]func(*smtp.Config){
		"no name":        func(c *smtp.Config) { c.Hostname = "" },
		"no clock":       func(c *smtp.Config) { c.Clock = nil },
		"no handler":     func(c *smtp.Config) { c.Handler = nil },
		"tls without it": func(c *smtp.Config) { c.RequireTLS = true },
		"465 without it": func(c *smtp.Config) { c.ImplicitTLS = true },
		"auth not there": func(c *smtp.Config) { c.RequireAuth = true },
		"huge lines":     func(c *smtp.Config) { c.MaxLineBytes = 1 << 20 },
	} {
		config := good
		spoil(&config)
		if _, err := smtp.NewServer(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := smtp.NewServer(good); err != nil {
		t.Error(err)
	}
}

// The standard library's client is a second opinion on the server.
func TestStandardClientSendsOverStartTLSWithAuth(t *testing.T) {
	t.Parallel()
	var d desk
	serverTLS, clientTLS := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: serverTLS, RequireTLS: true, RequireAuth: true, Auth: true})
	client, err := netsmtp.NewClient(dial(t, address), "mx.test")
	if err != nil {
		t.Fatal(err)
	}
	steps := []func() error{
		func() error { return client.Hello("client.test") },
		func() error { return client.StartTLS(clientTLS) },
		func() error { return client.Auth(netsmtp.PlainAuth("", "postrider", "secret", "mx.test")) },
		func() error { return client.Mail("a@client.test") },
		func() error { return client.Rcpt("b@mx.test") },
		func() error {
			w, err := client.Data()
			if err != nil {
				return err
			}
			io.WriteString(w, "Subject: x\n\n.dot\n")
			return w.Close()
		},
		client.Quit,
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	got := d.accepted()
	if len(got) != 1 || got[0].Body != "Subject: x\r\n\r\n.dot\r\n" || got[0].From.String() != "a@client.test" {
		t.Errorf("accepted %+v", got)
	}
	if d.hello != "client.test" || !d.secure {
		t.Errorf("session saw hello %q, tls %v", d.hello, d.secure)
	}
}

func TestImplicitTLSSpeaksFromTheFirstByte(t *testing.T) {
	t.Parallel()
	var d desk
	serverTLS, clientTLS := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: serverTLS, ImplicitTLS: true, RequireTLS: true})
	p := &peer{t: t, conn: tls.Client(dial(t, address), clientTLS)}
	p.in = newReader(p.conn)
	p.expect("220 ")
	p.begin()
	p.send(".\r\n")
	p.expect("250 ")
}

func TestCommandsPipelinedBehindStartTLSAreForgotten(t *testing.T) {
	t.Parallel()
	var d desk
	serverTLS, clientTLS := certificate(t)
	_, address := startServer(t, &d, smtp.Config{TLS: serverTLS})
	p := connect(t, address)
	p.send("EHLO client.test\r\n")
	p.skipReply()
	p.send("STARTTLS\r\nNOOP\r\n")
	p.expect("220 2.0.0")

	secure := &peer{t: t, conn: tls.Client(p.conn, clientTLS)}
	secure.in = newReader(secure.conn)
	secure.send("MAIL FROM:<a@client.test>\r\n")
	secure.expect("503 5.5.1 Say EHLO first")
	d.mu.Lock()
	if d.opened != 2 || d.closed != 1 {
		t.Errorf("%d sessions opened, %d closed; what was known in clear text was kept", d.opened, d.closed)
	}
	d.mu.Unlock()
	secure.send("EHLO client.test\r\n")
	for line := secure.line(); strings.HasPrefix(line, "250-"); line = secure.line() {
		if strings.Contains(line, "STARTTLS") {
			t.Error("STARTTLS offered twice")
		}
	}
	secure.send("STARTTLS\r\n")
	secure.expect("502 ")
	secure.send("QUIT\r\n")
	secure.expect("221 ")
}

func TestHandlerCanRefuseAConnection(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
		return nil, smtp.NewReply(554, "5.7.1", "Not you")
	}
	_, address := startServer(t, &desk{}, smtp.Config{Handler: refuse})
	p := &peer{t: t, conn: dial(t, address)}
	p.in = newReader(p.conn)
	p.expect("554 5.7.1 Not you")
	p.closed()
}

func TestConnectionsOverTheLimitAreTurnedAway(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]smtp.Config{
		"421 4.3.2": {MaxConnections: 2},
		"421 4.7.0": {MaxConnectionsPerIP: 2},
	} {
		_, address := startServer(t, &desk{}, config)
		first := connect(t, address)
		connect(t, address)
		third := &peer{t: t, conn: dial(t, address)}
		third.in = newReader(third.conn)
		third.expect(name)
		third.closed()

		first.send("QUIT\r\n")
		first.expect("221 ")
		first.closed() // which comes after it was counted out
		connect(t, address)
	}
}

// addressed is a connection that seems to come from elsewhere.
type addressed struct {
	net.Conn
	remote string
}

func (a addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(a.remote), Port: 1} }

func TestNeighboursInOneIPv6NetworkAreOnePeer(t *testing.T) {
	t.Parallel()
	server := newServer(t, &desk{}, smtp.Config{MaxConnectionsPerIP: 1})
	for _, c := range []struct{ remote, banner string }{
		{"2001:db8::1", "220 "}, {"2001:db8::2", "421 4.7.0"}, {"2001:db8:0:1::1", "220 "},
		{"192.0.2.1", "220 "}, {"::ffff:192.0.2.1", "421 4.7.0"}, {"192.0.2.2", "220 "},
	} {
		near, far := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			smtp.ServeConn(server, context.Background(), addressed{far, c.remote})
		}()
		t.Cleanup(func() { near.Close(); <-done })
		p := &peer{t: t, conn: near, in: newReader(near)}
		p.expect(c.banner)
	}
}

func TestOverlongCommandIsRefusedAndTheNextOneRead(t *testing.T) {
	t.Parallel()
	_, address := startServer(t, &desk{}, smtp.Config{})
	p := connect(t, address)
	p.send("HELO " + strings.Repeat("a", 3000) + "\r\nNOOP\r\n")
	p.expect("500 5.5.2 Line too long", "250 2.0.0 Ok")
}

func TestAGreetingIsMadeOfWhatNamesAreMadeOf(t *testing.T) {
	t.Parallel()
	_, address := startServer(t, &desk{}, smtp.Config{})
	p := connect(t, address)
	for _, name := range []string{"<script>alert(1)</script>", `"><img/src=x>`, "a&#60;b.test", "a b.test", "gr\u00fc\u00df.test", strings.Repeat("a", 256)} {
		p.send("EHLO " + name + "\r\nHELO " + name + "\r\n")
		p.expect("501 5.5.2 Malformed", "501 5.5.2 Malformed")
	}
	p.send("HELO [192.0.2.1]\r\n")
	p.expect("250 ")
}

func TestEndlessCommandIsCutWithFlatMemory(t *testing.T) {
	t.Parallel()
	_, address := startServer(t, &desk{}, smtp.Config{})
	p := connect(t, address)
	go func() {
		chunk := []byte(strings.Repeat("a", 64<<10))
		for range 800 { // 50 MB
			if _, err := p.conn.Write(chunk); err != nil {
				return
			}
		}
	}()
	p.expect("421 4.7.0 Line too long")
}

// TestEndlessMessageIsCutWithFlatMemory streams more than is ever drained, without a line end, and watches the heap.
func TestEndlessMessageIsCutWithFlatMemory(t *testing.T) {
	var d desk
	d.onData = func(_ context.Context, r io.Reader) *smtp.Reply {
		io.Copy(io.Discard, r)
		return nil
	}
	_, address := startServer(t, &d, smtp.Config{MaxMessageBytes: 1 << 20})
	p := connect(t, address)
	p.begin()
	before := heapBytes()
	chunk := []byte(strings.Repeat("a", 64<<10))
	for range (smtp.MaxDrainBytes + 8<<20) / len(chunk) {
		if _, err := p.conn.Write(chunk); err != nil {
			break
		}
	}
	if grown := heapBytes() - before; grown > 5<<20 {
		t.Errorf("heap grew by %d bytes", grown)
	}
	p.expect("552 5.3.4")
}

func heapBytes() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestCommandsThatLeadNowhereEndInTooManyErrors(t *testing.T) {
	t.Parallel()
	_, address := startServer(t, &desk{}, smtp.Config{MaxErrors: 2})
	p := connect(t, address)
	for range 101 {
		p.send("NOOP\r\n")
		p.expect("250 2.0.0 Ok")
	}
	p.send("NOOP\r\n")
	p.expect("421 4.7.0")
	p.closed()
}

func TestWhatFollowsARefusedSenderHasAnEnd(t *testing.T) {
	t.Parallel()
	for limit, borne := range map[int]int{2: smtp.DefaultMaxRecipients + 1, 200: 201} {
		for _, command := range []string{"RCPT TO:<b@mx.test>\r\n", "DATA\r\n", bdat("x", true)} {
			_, address := startServer(t, &desk{}, smtp.Config{MaxErrors: 3, MaxRecipients: limit})
			p := connect(t, address)
			p.send("HELO client.test\r\nMAIL FROM:<unknown@client.test>\r\n" + strings.Repeat(command, borne+2))
			p.expect("250 ", "550 5.1.1")
			for range borne + 2 {
				p.expect("503 5.5.1 Say MAIL")
			}
			p.expect("421 4.7.0")
			p.closed()
		}
	}
}

func TestSilentPeerIsToldTimeout(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]smtp.ServerTimeouts{
		"command": {Command: time.Nanosecond},
		"data":    {Data: time.Nanosecond},
		"message": {Message: time.Nanosecond},
	} {
		_, address := startServer(t, &desk{}, smtp.Config{Timeouts: config})
		p := connect(t, address)
		if name != "command" {
			p.begin()
		}
		p.expect("421 4.4.2 Timeout")
		p.closed()
	}
}

// shortListener fails twice for want of file descriptors before it works.
type shortListener struct {
	net.Listener
	failures int
}

func (l *shortListener) Accept() (net.Conn, error) {
	if l.failures++; l.failures <= 2 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestServeOutlastsShortages(t *testing.T) {
	t.Parallel()
	server := newServer(t, &desk{}, smtp.Config{})
	listener := &shortListener{Listener: listen(t)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background(), listener) }()
	p := connect(t, listener.Addr().String())
	p.send("QUIT\r\n")
	p.expect("221 ")
	if err := server.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestServeReturnsWhyItsListenerBroke(t *testing.T) {
	t.Parallel()
	server := newServer(t, &desk{}, smtp.Config{})
	listener := listen(t)
	listener.Close()
	if err := server.Serve(context.Background(), listener); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
