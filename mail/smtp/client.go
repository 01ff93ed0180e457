package smtp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"postrider/world"
)

// ClientTimeouts bound how long the client waits at each step. Zero fields take what RFC 5321 §4.5.3.2 asks for.
type ClientTimeouts struct {
	Banner   time.Duration
	Hello    time.Duration
	StartTLS time.Duration
	Mail     time.Duration
	Rcpt     time.Duration
	DataInit time.Duration
	// Body is the wait for the server to take one block of the message; it starts again with every block.
	Body time.Duration
	// Final is the wait for the answer to the final dot. It is long because giving up here may send the message twice.
	Final time.Duration
	// Quit is short: nothing depends on the answer.
	Quit time.Duration
}

// ClientConfig says how a client presents itself. Hello and Clock are required.
type ClientConfig struct {
	// Hello is the name given in EHLO.
	Hello    string
	Clock    world.Clock
	Timeouts ClientTimeouts
	// Secure tells that the connection is encrypted already, from the first byte.
	Secure bool
}

// phase is where a client stands.
type phase int

const (
	phaseNew   phase = iota // nothing was said
	phaseReady              // greeted; MAIL may follow
	phaseOpen               // a transaction was left half way; RSET must come before the next MAIL
	phaseDead               // the connection is of no more use
)

// errPhase is a call at the wrong time.
var errPhase = errors.New("connection is not ready for this")

// ErrSpokeBeforeTLS means that a server's yes to STARTTLS came with more: somebody wants words of theirs taken for the server's.
var ErrSpokeBeforeTLS error = &ProtocolError{Problem: "server spoke before TLS was up"}

// Client owns one connection to a server for the connection's whole life. It is for one goroutine. When the context of a
// call ends, the socket is closed and the call returns.
type Client struct {
	config     ClientConfig
	raw        net.Conn // the socket; never changes, so that a context may close it
	conn       net.Conn // raw, or TLS over it
	in         *bufio.Reader
	out        []byte // the block being written
	block      []byte // the block being read of a body
	extensions Extensions
	phase      phase
	heard      func(command string, reply Reply)
	trusted    bool // it has taken a message on this connection
}

// NewClient returns a client on a fresh connection, which it owns from now on. Greet comes next.
func NewClient(conn net.Conn, config ClientConfig) *Client {
	t := &config.Timeouts
	setDefault(&t.Banner, 5*time.Minute)
	setDefault(&t.Hello, 5*time.Minute)
	setDefault(&t.StartTLS, 2*time.Minute)
	setDefault(&t.Mail, 5*time.Minute)
	setDefault(&t.Rcpt, 5*time.Minute)
	setDefault(&t.DataInit, 2*time.Minute)
	setDefault(&t.Body, 3*time.Minute)
	setDefault(&t.Final, 10*time.Minute)
	setDefault(&t.Quit, 10*time.Second)
	return &Client{config: config, raw: conn, conn: conn, in: bufio.NewReaderSize(conn, replyBuffer)}
}

// Usable reports whether another message may be sent over the connection.
func (c *Client) Usable() bool { return c.phase == phaseReady || c.phase == phaseOpen }

// Extensions returns what the server offered in its last answer to EHLO.
func (c *Client) Extensions() Extensions { return c.extensions }

// Hear has a function told of every reply from now on, with the command it answers; nil is nobody. The banner answers no
// command, and of commands that may hold secrets only the verb is told. It is called from within the call that reads.
func (c *Client) Hear(heard func(command string, reply Reply)) { c.heard = heard }

// Greet reads the banner and says EHLO, or HELO to a server that does not know it. Any failure is an *Error.
func (c *Client) Greet(ctx context.Context) error {
	if c.phase != phaseNew {
		return &Error{Stage: StageBanner, Err: errPhase}
	}
	if !isHello(c.config.Hello) {
		return &Error{Stage: StageEHLO, Err: errors.New("own name is malformed")}
	}
	defer c.watch(ctx)()
	banner, err := c.read(ctx, StageBanner, c.config.Timeouts.Banner)
	c.tell("", banner, err)
	if err != nil {
		return err
	}
	if banner.Code != 220 {
		return c.refused(StageBanner, banner)
	}
	return c.hello(ctx)
}

func (c *Client) hello(ctx context.Context) error {
	reply, err := c.exchange(ctx, StageEHLO, c.config.Timeouts.Hello, "EHLO "+c.config.Hello+"\r\n")
	if err != nil {
		return err
	}
	if reply.Code == 250 {
		c.extensions = parseExtensions(reply)
		c.phase = phaseReady
		return nil
	}
	if !reply.Permanent() {
		return c.refused(StageEHLO, reply)
	}
	reply, err = c.exchange(ctx, StageEHLO, c.config.Timeouts.Hello, "HELO "+c.config.Hello+"\r\n")
	if err != nil {
		return err
	}
	if reply.Code != 250 {
		return c.refused(StageEHLO, reply)
	}
	c.extensions = Extensions{}
	c.phase = phaseReady
	return nil
}

// StartTLS secures the connection and says EHLO again. If the server declines, the error carries its reply and the
// connection is still usable in clear text; whether that is allowed is the caller's policy. Any other failure ends the
// connection.
func (c *Client) StartTLS(ctx context.Context, config *tls.Config) (tls.ConnectionState, error) {
	if c.phase != phaseReady || c.conn != c.raw {
		return tls.ConnectionState{}, &Error{Stage: StageStartTLS, Err: errPhase}
	}
	defer c.watch(ctx)()
	reply, err := c.exchange(ctx, StageStartTLS, c.config.Timeouts.StartTLS, "STARTTLS\r\n")
	if err != nil {
		return tls.ConnectionState{}, err
	}
	if reply.Code != 220 {
		return tls.ConnectionState{}, &Error{Stage: StageStartTLS, Reply: reply}
	}
	// Whatever came with the reply came in clear text and would be taken for the first words of the secure dialogue.
	if c.in.Buffered() > 0 {
		return tls.ConnectionState{}, c.failed(ctx, StageStartTLS, ErrSpokeBeforeTLS)
	}
	secure := tls.Client(c.raw, config)
	if err := c.raw.SetDeadline(c.config.Clock.Now().Add(c.config.Timeouts.StartTLS)); err != nil {
		return tls.ConnectionState{}, c.failed(ctx, StageStartTLS, err)
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		return tls.ConnectionState{}, c.failed(ctx, StageStartTLS, err)
	}
	c.conn = secure
	c.in.Reset(secure)
	c.extensions = Extensions{}
	return secure.ConnectionState(), c.hello(ctx)
}

// Reset drops a transaction left half way. Between two messages it also tells whether the server is still there.
func (c *Client) Reset(ctx context.Context) error {
	if !c.Usable() {
		return &Error{Stage: StageMailFrom, Err: errPhase}
	}
	defer c.watch(ctx)()
	return c.reset(ctx)
}

func (c *Client) reset(ctx context.Context) error {
	reply, err := c.exchange(ctx, StageMailFrom, c.config.Timeouts.Mail, "RSET\r\n")
	if err != nil {
		return err
	}
	if reply.Code != 250 {
		return c.refused(StageMailFrom, reply)
	}
	c.phase = phaseReady
	return nil
}

// Quit says goodbye if anybody listens, and closes the connection.
func (c *Client) Quit(ctx context.Context) {
	if c.phase != phaseDead {
		release := c.watch(ctx)
		c.exchange(ctx, StageEndOfData, c.config.Timeouts.Quit, "QUIT\r\n")
		release()
	}
	c.Close()
}

// Close closes the connection without a word.
func (c *Client) Close() {
	c.phase = phaseDead
	c.raw.Close()
}
