package smtp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// readBuffer is the most the server holds of a peer's input: the longest line that any command may need (RFC 4954 §4).
	readBuffer = 12288
	// writeBuffer holds the replies to a usual pipelined transaction.
	writeBuffer = 4096
	// lingerBytes and lingerFor bound what is read and thrown away after a last reply to a peer that is still talking. To
	// close on unread input would reset the connection, and the peer might never see the reply.
	lingerBytes = 1 << 20
	lingerFor   = 2 * time.Second
)

// What reading a command line can come to, besides failures of the connection.
var (
	errLineTooLong = errors.New("command line too long")
	errLineEndless = errors.New("command line without end")
	errLineEnding  = errors.New("command line with bare CR, bare LF or control characters")
	errStopping    = errors.New("server is stopping")
)

// serverConn is the server's end of one connection. All fields belong to the goroutine in serve unless they say otherwise.
type serverConn struct {
	config *Config
	cancel context.CancelFunc // ends the connection at once; anyone may call it
	raw    net.Conn           // the socket; never changes, so anyone may set deadlines on it
	conn   net.Conn           // raw, or TLS over it
	in     *bufio.Reader
	out    *bufio.Writer
	fresh  bool // the next read begins a command and starts its time

	mu        sync.Mutex
	stopping  bool      // guarded by mu: Shutdown has begun
	inData    bool      // guarded by mu: a message is under way and may be finished
	dataUntil time.Time // guarded by mu: when the message under way must be complete

	dialogue
}

func newServerConn(config *Config, raw net.Conn, cancel context.CancelFunc) *serverConn {
	c := &serverConn{config: config, cancel: cancel, raw: raw, conn: raw}
	c.info = ConnInfo{Remote: raw.RemoteAddr(), Local: raw.LocalAddr()}
	c.in = bufio.NewReaderSize(serverInput{c}, readBuffer)
	c.out = bufio.NewWriterSize(serverOutput{c}, writeBuffer)
	return c
}

// serverInput is the connection as the buffer reads it: before waiting for the peer, the peer gets what it waits for.
type serverInput struct{ c *serverConn }

func (s serverInput) Read(p []byte) (int, error) {
	if s.c.out.Buffered() > 0 {
		if err := s.c.out.Flush(); err != nil {
			return 0, err
		}
	}
	if err := s.c.armRead(); err != nil {
		return 0, err
	}
	n, err := s.c.conn.Read(p)
	if err != nil && s.c.isStopping() {
		return n, errStopping
	}
	return n, err
}

// serverOutput is the connection as the buffer writes it, each write with its own time.
type serverOutput struct{ c *serverConn }

func (s serverOutput) Write(p []byte) (int, error) {
	if err := s.c.raw.SetWriteDeadline(s.c.now().Add(s.c.config.Timeouts.Write)); err != nil {
		return 0, err
	}
	return s.c.conn.Write(p)
}

func (c *serverConn) now() time.Time { return c.config.Clock.Now() }

// armRead sets the deadline of the next read. A command has one deadline however many reads it takes; a message gets a new
// one with every read. It holds mu so that it cannot undo the deadline by which stop wakes the connection.
func (c *serverConn) armRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inData:
		deadline := c.now().Add(c.config.Timeouts.Data)
		if deadline.After(c.dataUntil) {
			deadline = c.dataUntil
		}
		return c.raw.SetReadDeadline(deadline)
	case c.stopping:
		return errStopping
	case c.fresh:
		c.fresh = false
		return c.raw.SetReadDeadline(c.now().Add(c.config.Timeouts.Command))
	}
	return nil
}

// stop makes the connection end soon: at once if it waits for a command, after the reply if a message is under way.
func (c *serverConn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	if !c.inData {
		c.raw.SetReadDeadline(time.Unix(1, 0)) // long past by any clock
	}
}

// isStopping reports whether the connection must end now; while a message is under way it need not.
func (c *serverConn) isStopping() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopping && !c.inData
}

// enterData marks a message as under way, unless the server is stopping.
func (c *serverConn) enterData() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopping {
		return false
	}
	c.inData = true
	c.dataUntil = c.now().Add(c.config.Timeouts.Message)
	return true
}

func (c *serverConn) leaveData() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inData = false
}

// readLine returns the next command line without its CRLF. The slice is valid until the next read.
func (c *serverConn) readLine() ([]byte, error) {
	c.fresh = true
	line, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errLineEndless
	case err != nil:
		return nil, err
	case len(line) > c.config.MaxLineBytes:
		return nil, errLineTooLong
	}
	line, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || !utf8.Valid(line) {
		return nil, errLineEnding
	}
	for _, b := range line {
		if b < ' ' || b == 0x7f {
			return nil, errLineEnding
		}
	}
	return line, nil
}

// write puts a reply into the buffer; it leaves before the next wait for input.
func (c *serverConn) write(r *Reply) {
	c.out.Write(r.appendWire(c.out.AvailableBuffer()))
}

// linger sends what is buffered and swallows, within bounds, what a talkative peer still sends.
func (c *serverConn) linger() {
	if c.out.Flush() != nil {
		return
	}
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
	c.raw.SetReadDeadline(c.now().Add(lingerFor))
	io.CopyN(io.Discard, c.raw, lingerBytes)
}

// isTimeout tells a peer that keeps us waiting from a connection that broke.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
