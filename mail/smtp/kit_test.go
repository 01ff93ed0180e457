package smtp_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/mail/smtp"
	"postrider/world"
)

// received is one message a desk took.
type received struct {
	From smtp.Path
	To   []smtp.Path
	Body string
}

// desk is what the sessions of a test server share: it decides by the local part of addresses and keeps what was accepted.
type desk struct {
	onData func(ctx context.Context, r io.Reader) *smtp.Reply // replaces the usual reading, if set

	mu       sync.Mutex
	messages []received
	mails    []smtp.MailParams
	opened   int
	closed   int
	resets   int
	hello    string
	secure   bool
}

func (d *desk) handle(_ context.Context, conn *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened++
	return &clerk{desk: d, conn: conn}, nil
}

func (d *desk) accepted() []received {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]received(nil), d.messages...)
}

// clerk is a session of a desk.
type clerk struct {
	desk *desk
	conn *smtp.ConnInfo
	now  received
}

// verdicts are the replies a clerk gives to certain local parts.
var verdicts = map[string]*smtp.Reply{
	"unknown": smtp.NewReply(550, "5.1.1", "No such user"),
	"later":   smtp.NewReply(450, "4.2.1", "Try later"),
	"forged":  smtp.NewReply(550, "5.7.1", "first\r\n250 second"),
	"absurd":  smtp.NewReply(354, "", "Go on"),
}

func (c *clerk) Auth(_ context.Context, _, user, password string) *smtp.Reply {
	if user == "postrider" && password == "secret" {
		return nil
	}
	return smtp.NewReply(535, "5.7.8", "Authentication failed")
}

func (c *clerk) Mail(_ context.Context, from smtp.Path, params smtp.MailParams) *smtp.Reply {
	if from.Local == "panic" {
		panic("clerk fell over")
	}
	c.desk.mu.Lock()
	defer c.desk.mu.Unlock()
	c.desk.mails = append(c.desk.mails, params)
	c.desk.hello, c.desk.secure = c.conn.Hello, c.conn.TLS != nil
	c.now = received{From: from}
	return verdicts[from.Local]
}

func (c *clerk) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	if refusal := verdicts[to.Local]; refusal != nil {
		return refusal
	}
	c.now.To = append(c.now.To, to)
	return nil
}

func (c *clerk) Data(ctx context.Context, r io.Reader) *smtp.Reply {
	if c.desk.onData != nil {
		return c.desk.onData(ctx, r)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		return smtp.NewReply(451, "4.3.0", "ignored by the server")
	}
	c.desk.mu.Lock()
	defer c.desk.mu.Unlock()
	c.now.Body = string(body)
	c.desk.messages = append(c.desk.messages, c.now)
	return smtp.NewReply(250, "2.0.0", "queued as 42")
}

func (c *clerk) Reset() {
	c.desk.mu.Lock()
	defer c.desk.mu.Unlock()
	c.desk.resets++
}

func (c *clerk) Logout() {
	c.desk.mu.Lock()
	defer c.desk.mu.Unlock()
	c.desk.closed++
}

// startServer runs a server on loopback until the test ends and returns it with its address. The configuration's required
// fields are filled in.
func startServer(t testing.TB, d *desk, config smtp.Config) (*smtp.Server, string) {
	t.Helper()
	server := newServer(t, d, config)
	listener := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	return server, listener.Addr().String()
}

func newServer(t testing.TB, d *desk, config smtp.Config) *smtp.Server {
	t.Helper()
	config.Hostname = "mx.test"
	config.Clock = world.SystemClock{}
	if config.Handler == nil {
		config.Handler = d.handle
	}
	server, err := smtp.NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { conn.Close() })
	return conn
}

// peer is a raw client.
type peer struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

// connect returns a raw client that has read the greeting.
func connect(t testing.TB, address string) *peer {
	t.Helper()
	p := &peer{t: t, conn: dial(t, address)}
	p.in = bufio.NewReader(p.conn)
	p.expect("220 mx.test ESMTP")
	return p
}

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, text); err != nil {
		p.t.Fatalf("send %.40q: %v", text, err)
	}
}

// line returns the next line without its end, or "" when the server has closed.
func (p *peer) line() string {
	line, err := p.in.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(line, "\r\n")
}

// expect reads one line for each prefix.
func (p *peer) expect(prefixes ...string) {
	p.t.Helper()
	for _, prefix := range prefixes {
		if line := p.line(); !strings.HasPrefix(line, prefix) || prefix == "" && line != "" {
			p.t.Fatalf("server said %q, want %q", line, prefix)
		}
	}
}

// skipReply reads one reply of any number of lines and returns its last line.
func (p *peer) skipReply() string {
	for {
		line := p.line()
		if len(line) < 4 || line[3] != '-' {
			return line
		}
	}
}

func (p *peer) closed() {
	p.t.Helper()
	p.expect("")
}

// begin leads the dialogue up to the server's 354.
func (p *peer) begin() {
	p.t.Helper()
	p.send("EHLO client.test\r\n")
	p.skipReply()
	p.send("MAIL FROM:<a@client.test>\r\nRCPT TO:<b@mx.test>\r\nDATA\r\n")
	p.expect("250 2.1.0", "250 2.1.5", "354 ")
}

// certificate returns TLS settings for a server called mx.test and a client that trusts it.
func certificate(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"mx.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	server = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return server, &tls.Config{ServerName: "mx.test", RootCAs: pool}
}

func newReader(conn net.Conn) *bufio.Reader { return bufio.NewReader(conn) }

// pipeTo connects to a server in memory.
func pipeTo(t testing.TB, server *smtp.Server) net.Conn {
	near, far := net.Pipe()
	near.SetDeadline(time.Now().Add(20 * time.Second))
	done := make(chan struct{})
	go func() {
		defer close(done)
		smtp.ServeConn(server, context.Background(), far)
	}()
	t.Cleanup(func() {
		near.Close()
		<-done
	})
	return near
}
