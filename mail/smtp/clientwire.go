package smtp

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// lastWordsFor is the wait for a reply that a server may have sent before it closed on us.
const lastWordsFor = time.Second

// watch closes the socket when ctx ends before the returned function is called.
func (c *Client) watch(ctx context.Context) (release func()) {
	stop := context.AfterFunc(ctx, func() { c.raw.Close() })
	return func() {
		if !stop() {
			c.phase = phaseDead
		}
	}
}

// exchange sends one command and reads the reply.
func (c *Client) exchange(ctx context.Context, stage Stage, timeout time.Duration, command string) (Reply, error) {
	c.out = append(c.out[:0], command...)
	if err := c.flush(timeout); err != nil {
		if reply, ok := c.lastWords(); ok {
			return reply, nil
		}
		return Reply{}, c.failed(ctx, stage, err)
	}
	reply, err := c.read(ctx, stage, timeout)
	c.tell(tellable(command), reply, err)
	return reply, err
}

// tell tells the listener, if there is one, of a reply.
func (c *Client) tell(command string, reply Reply, err error) {
	if c.heard != nil && err == nil {
		c.heard(command, reply)
	}
}

// tellable returns as much of a command as anybody may know.
func tellable(command string) string {
	command = strings.TrimRight(command, "\r\n")
	verb, _, _ := strings.Cut(command, " ")
	switch verb {
	case "EHLO", "HELO", "STARTTLS", "RSET", "QUIT", ".":
		return command
	}
	return "AUTH"
}

// flush writes the block in out.
func (c *Client) flush(timeout time.Duration) error {
	if err := c.conn.SetWriteDeadline(c.config.Clock.Now().Add(timeout)); err != nil {
		return err
	}
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

// read reads one reply. Code 421 means that the server is leaving (RFC 5321 §3.8), whatever it was asked.
func (c *Client) read(ctx context.Context, stage Stage, timeout time.Duration) (Reply, error) {
	if err := c.conn.SetReadDeadline(c.config.Clock.Now().Add(timeout)); err != nil {
		return Reply{}, c.failed(ctx, stage, err)
	}
	reply, err := readReply(c.in)
	if err != nil {
		return Reply{}, c.failed(ctx, stage, err)
	}
	if reply.Code == 421 {
		c.Close()
	}
	return reply, nil
}

// lastWords returns the refusal a server sent before it closed the connection, if any. The connection is dead either way.
func (c *Client) lastWords() (Reply, bool) {
	defer c.Close()
	if c.conn.SetReadDeadline(c.config.Clock.Now().Add(lastWordsFor)) != nil {
		return Reply{}, false
	}
	reply, err := readReply(c.in)
	return reply, err == nil && (reply.Temporary() || reply.Permanent())
}

// refused ends a dialogue that the server will not begin.
func (c *Client) refused(stage Stage, reply Reply) error {
	c.Close()
	return &Error{Stage: stage, Reply: reply}
}

// failed ends a broken connection. If ctx closed it, that is the cause.
func (c *Client) failed(ctx context.Context, stage Stage, err error) error {
	c.Close()
	if cause := context.Cause(ctx); cause != nil {
		err = fmt.Errorf("%w (%v)", cause, err)
	}
	return &Error{Stage: stage, Err: err}
}
