package tlspolicy

import (
	"crypto/tls"
	"errors"
	"slices"
)

// Reasons why a server is not handed a message.
var (
	// ErrHostNotListed means that the MTA-STS policy of the recipient's domain does not name the server.
	ErrHostNotListed = errors.New("the recipient's domain does not list this server in its MTA-STS policy")
	// ErrNotEncrypted means that the connection is in clear text and must not be.
	ErrNotEncrypted = errors.New("the server does not encrypt the connection, which is required here")
)

// Decision is how to connect to one server. Decide makes it.
type Decision struct {
	Level Level
	// ServerName is the name to ask the server for.
	ServerName string
	// PlaintextAllowed tells whether a message may go in clear text if encryption is not offered or fails.
	PlaintextAllowed bool
	// Why is the reason for the level, in a sentence for people.
	Why string
	// Refusal is why the server must not be connected to at all, or nil.
	Refusal error

	host   string
	checks []check
}

// Config returns the settings of a connection that is encrypted as decided. Its handshake fails if Verify does.
func (d Decision) Config() *tls.Config {
	return &tls.Config{
		ServerName: d.ServerName,
		MinVersion: tls.VersionTLS12,
		// The checks are made in VerifyConnection: the library's own would refuse what an opportunistic connection takes and
		// what DANE proves.
		InsecureSkipVerify: true,
		VerifyConnection:   d.Verify,
	}
}

// Verify tells whether an encrypted connection satisfies everyone who has a say. It can be asked again of a connection that was
// opened under another decision. An error holds a *CheckError for each one who is not satisfied.
func (d Decision) Verify(state tls.ConnectionState) error {
	var failed []error
	for _, c := range d.checks {
		if !c.enforced {
			continue
		}
		if err := c.verify(state); err != nil {
			failed = append(failed, &CheckError{Policy: c.policy.Type, Err: err})
		}
	}
	return errors.Join(failed...)
}

// Accepts tells whether a message may go over a connection that is open already; state is nil if it is in clear text.
func (d Decision) Accepts(state *tls.ConnectionState) error {
	switch {
	case d.Refusal != nil:
		return d.Refusal
	case state != nil:
		return d.Verify(*state)
	case !d.PlaintextAllowed:
		return ErrNotEncrypted
	}
	return nil
}

// Implies tells whether every connection that satisfies the decision satisfies the next one too. To check a certificate costs more
// than to send a small message, and most messages follow others to the same domain.
func (d Decision) Implies(next Decision) bool {
	if next.Refusal != nil || d.host != next.host || d.PlaintextAllowed && !next.PlaintextAllowed {
		return false
	}
	for _, wanted := range next.checks {
		same := func(c check) bool {
			return c.enforced && c.policy.Equal(wanted.policy) && slices.Equal(c.names, wanted.names)
		}
		if wanted.enforced && !slices.ContainsFunc(d.checks, same) {
			return false
		}
	}
	return true
}

// Verified tells whether the server has proven who it is, demanded or not.
func (d Decision) Verified(state tls.ConnectionState) bool {
	for _, c := range d.checks {
		if c.proves && c.verify(state) == nil {
			return true
		}
	}
	return false
}

// Reached returns how well a connection under the decision protects, to be remembered; state is nil if it is in clear text.
func (d Decision) Reached(state *tls.ConnectionState) Protection {
	switch {
	case state == nil:
		return Plain
	case d.Verified(*state):
		return Verified
	}
	return Encrypted
}
