package delivery

import (
	"net/netip"
	"time"

	"postrider/mail/smtp"
	"postrider/product/delivery/internal/shape"
	"postrider/product/email"
	"postrider/world"
)

// connection is a place that the shaper has given, and the socket on it. One goroutine owns both for their whole life: it takes
// one job after the other, and nobody else ever touches the socket.
type connection struct {
	service *Service
	id      shape.ConnectionID
	jobs    chan *job
	line    *line // what is open, or nil
}

// line is a conversation with one server that can take another message.
type line struct {
	client     *smtp.Client
	hello      string // what we said who we are
	host       string
	local      netip.Addr
	remote     netip.AddrPort
	addresses  world.Answer // how remote was found
	encryption agreed
	tls        email.TLSFacts
	messages   int
	relayOf    time.Time // if it is with a relay: when that was last changed before it was signed in to
}

// run carries jobs until the connection is over or its place is given to another.
func (c *connection) run() {
	for j := range c.jobs {
		if c.serve(j) {
			return
		}
	}
	c.hangUp()
}

// serve makes one attempt and tells whether the connection is over.
func (c *connection) serve(j *job) (over bool) {
	t := c.service.attempt(j, c)
	if over = c.service.finish(t); over {
		c.hangUp()
		c.service.leave(t)
	}
	return over
}

// hangUp says goodbye, if there is anybody to say it to.
func (c *connection) hangUp() {
	if c.line != nil {
		c.line.client.Quit(c.service.life)
		c.line = nil
	}
}

// lose closes a conversation that is of no more use.
func (c *connection) lose() {
	c.line.client.Close()
	c.line = nil
}
