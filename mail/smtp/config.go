package smtp

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"time"

	"postrider/world"
)

// Limits used where a Config leaves them zero.
const (
	// DefaultMaxMessageBytes fits the 25 MB that large providers take, in base64.
	DefaultMaxMessageBytes = 35 << 20
	// DefaultMaxRecipients is the number every server must be able to take (RFC 5321 §4.5.3.1.8).
	DefaultMaxRecipients = 100
	// DefaultMaxLineBytes leaves room for the parameters of many extensions over the 512 of RFC 5321 §4.5.3.1.4.
	DefaultMaxLineBytes = 2048
	// DefaultMaxTextLineBytes tolerates programs that write a whole HTML page into one line, far over the 998 of RFC 5322
	// §2.1.1, while a stream without end is still refused early.
	DefaultMaxTextLineBytes = 1 << 20
	// DefaultMaxErrors forgives a confused client but not a guessing one.
	DefaultMaxErrors = 20
	// DefaultMaxConnections keeps a machine with 1024 file descriptors alive.
	DefaultMaxConnections = 500
	// DefaultMaxConnectionsPerIP is what a large sender opens at most to one server.
	DefaultMaxConnectionsPerIP = 50
)

// ServerTimeouts bound how long the server waits for a peer. Zero fields take the default.
type ServerTimeouts struct {
	// Command is the wait for one whole command (RFC 5321 §4.5.3.2.7).
	Command time.Duration
	// Data is the wait for the next bytes of a message; it starts again whenever some arrive.
	Data time.Duration
	// Message bounds a whole message, so that a trickle does not hold a connection for ever.
	Message time.Duration
	// Handshake bounds the TLS handshake.
	Handshake time.Duration
	// Write is the wait for the peer to take a reply.
	Write time.Duration
}

// Config says what a Server offers and how much it bears. Hostname, Clock and Handler are required.
type Config struct {
	// Hostname is the name in the greeting.
	Hostname string
	// Banner follows the name in the greeting; "ESMTP" if empty. It should not tell a version.
	Banner string

	// TLS enables STARTTLS, or is used from the first byte if ImplicitTLS is set.
	TLS         *tls.Config
	ImplicitTLS bool
	// RequireTLS refuses AUTH and MAIL in clear text.
	RequireTLS bool
	// Auth offers AUTH PLAIN and LOGIN; RequireAuth refuses MAIL before it.
	Auth        bool
	RequireAuth bool

	MaxMessageBytes     int64
	MaxRecipients       int
	MaxLineBytes        int
	MaxTextLineBytes    int
	MaxErrors           int
	MaxConnections      int
	MaxConnectionsPerIP int
	Timeouts            ServerTimeouts

	Clock   world.Clock
	Log     *slog.Logger
	Handler Handler
}

// check fills in the defaults and finds settings that cannot work together.
func (c *Config) check() error {
	switch {
	case c.Hostname == "" || c.Clock == nil || c.Handler == nil:
		return errors.New("smtp server needs a host name, a clock and a handler")
	case (c.RequireTLS || c.ImplicitTLS) && c.TLS == nil:
		return errors.New("smtp server requires TLS but has no TLS configuration")
	case c.RequireAuth && !c.Auth:
		return errors.New("smtp server requires AUTH but does not offer it")
	case c.MaxLineBytes > readBuffer:
		return errors.New("smtp server cannot read command lines that long")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	setDefault(&c.Banner, "ESMTP")
	setDefault(&c.MaxMessageBytes, DefaultMaxMessageBytes)
	setDefault(&c.MaxRecipients, DefaultMaxRecipients)
	setDefault(&c.MaxLineBytes, DefaultMaxLineBytes)
	setDefault(&c.MaxTextLineBytes, DefaultMaxTextLineBytes)
	setDefault(&c.MaxErrors, DefaultMaxErrors)
	setDefault(&c.MaxConnections, DefaultMaxConnections)
	setDefault(&c.MaxConnectionsPerIP, DefaultMaxConnectionsPerIP)
	setDefault(&c.Timeouts.Command, 5*time.Minute)
	setDefault(&c.Timeouts.Data, 5*time.Minute)
	setDefault(&c.Timeouts.Message, time.Hour)
	setDefault(&c.Timeouts.Handshake, time.Minute)
	setDefault(&c.Timeouts.Write, time.Minute)
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
