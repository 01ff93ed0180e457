package submission_test

import (
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"postrider/app/apptest"
)

// client is a raw SMTP client that writes down what it hears.
type client struct {
	t    *testing.T
	conn net.Conn
	text *textproto.Conn
}

// dial connects to the door on port 587 and changes to TLS.
func dial(t *testing.T, in *apptest.Installation) *client {
	t.Helper()
	c := plain(t, in.Submission(false))
	c.say("EHLO app.test", 250)
	c.say("STARTTLS", 220)
	c.secure()
	c.say("EHLO app.test", 250)
	return c
}

func plain(t *testing.T, address string) *client {
	t.Helper()
	conn := rawDial(t, address)
	c := &client{t: t, conn: conn, text: textproto.NewConn(conn)}
	c.hear(220)
	return c
}

func (c *client) secure() {
	c.conn = tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true})
	c.text = textproto.NewConn(c.conn)
}

// signIn authenticates with the key.
func (c *client) signIn(key string) *client {
	c.t.Helper()
	c.say(plainAuth("postrider", key), 235)
	return c
}

func plainAuth(user, key string) string {
	return "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+key))
}

// say sends a command and returns the answer, which must have the code.
func (c *client) say(command string, code int) string {
	c.t.Helper()
	if err := c.text.PrintfLine("%s", command); err != nil {
		c.t.Fatal(err)
	}
	return c.hear(code)
}

func (c *client) hear(code int) string {
	c.t.Helper()
	got, message, err := c.text.ReadResponse(0)
	if got != code {
		c.t.Fatalf("server said %d %s (%v), want %d", got, message, err, code)
	}
	return message
}

// envelope begins a message from hello@acme.test.
func (c *client) envelope(to ...string) {
	c.t.Helper()
	c.say("MAIL FROM:<hello@acme.test>", 250)
	for _, recipient := range to {
		c.say("RCPT TO:<"+recipient+">", 250)
	}
}

// hand sends a message, its lines ended by \n, and returns the answer to it.
func (c *client) hand(message string, code int) string {
	c.t.Helper()
	c.say("DATA", 354)
	w := c.text.DotWriter()
	if _, err := w.Write([]byte(message)); err != nil {
		c.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		c.t.Fatal(err)
	}
	return c.hear(code)
}

// send hands in a message and returns the id of its email.
func (c *client) send(message string, to ...string) string {
	c.t.Helper()
	c.envelope(to...)
	id, ok := strings.CutPrefix(c.hand(message, 250), "2.0.0 queued as ")
	if !ok {
		c.t.Fatalf("answer without an id: %q", id)
	}
	return id
}

const simple = "From: Acme <hello@acme.test>\nTo: ann@example.net\nSubject: Hello\n\nHello there\n"

func rawDial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	t.Cleanup(func() { conn.Close() })
	return conn
}
