package sandbox_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"
)

// peer is a client that speaks by hand.
type peer struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func (b *box) dial() *peer {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.SMTPAddr())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second)) // a server that hangs fails the test rather than the run
	p := &peer{t: b.t, conn: conn, in: bufio.NewReader(conn)}
	p.reply()
	return p
}

// say sends a line and returns the last line of the reply.
func (p *peer) say(line string) string {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, line+"\r\n"); err != nil {
		p.t.Fatal(err)
	}
	return p.reply()
}

func (p *peer) reply() string {
	p.t.Helper()
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		if len(line) < 4 || line[3] != '-' {
			return line
		}
	}
}

// closed waits for the server to hang up.
func (p *peer) closed() bool {
	rest, err := io.ReadAll(p.in)
	return err == nil && len(rest) == 0
}
