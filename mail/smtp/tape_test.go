package smtp_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"postrider/mail/smtp"
)

// tape is a connection whose peer said everything in advance and never listens.
type tape struct {
	io.Reader
	heard bytes.Buffer
	armed int // how often a read got a deadline
}

func (t *tape) Write(p []byte) (int, error)      { return t.heard.Write(p) }
func (t *tape) Close() error                     { return nil }
func (t *tape) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (t *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (t *tape) SetDeadline(time.Time) error      { return nil }
func (t *tape) SetReadDeadline(time.Time) error  { t.armed++; return nil }
func (t *tape) SetWriteDeadline(time.Time) error { return nil }

// A peer that sends a byte now and then must not earn new time with each.
func TestACommandHasOneDeadlineHoweverSlowItComes(t *testing.T) {
	t.Parallel()
	conn := &tape{Reader: iotest.OneByteReader(strings.NewReader("NOOP\r\nNOOP\r\n"))}
	smtp.ServeConn(newServer(t, &desk{}, smtp.Config{}), context.Background(), conn)
	if conn.armed != 3 { // two commands, and the wait for a third
		t.Errorf("%d deadlines were set", conn.armed)
	}
}

// To close on unread input resets a connection, and the peer may lose the reply that explains it.
func TestInputOfAPeerStillTalkingIsSwallowed(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		strings.Repeat("x", 200<<10),
		"BDAT 200000\r\n" + strings.Repeat("x", 200_000),
		strings.Repeat("WHAT\r\n", 20_000),
	} {
		input := strings.NewReader(said)
		conn := &tape{Reader: input}
		smtp.ServeConn(newServer(t, &desk{}, smtp.Config{}), context.Background(), conn)
		if input.Len() > 0 {
			t.Errorf("%.10q: %d bytes left unread", said, input.Len())
		}
	}
}
