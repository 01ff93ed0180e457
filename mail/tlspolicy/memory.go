package tlspolicy

import (
	"fmt"
	"time"
)

const (
	// rememberFor is how long encryption that worked is counted on without having been seen again.
	rememberFor = 30 * 24 * time.Hour
	// holdFor is how long encryption that worked must have been broken before clear text is allowed again. It is more than an
	// attacker can easily keep up, and less than the three days that mail waits, so that a server that gave encryption up does
	// not cost its users their mail.
	holdFor = 48 * time.Hour
)

// Protection is how well a message was protected on its way.
type Protection string

const (
	// Plain means in clear text.
	Plain Protection = "plain"
	// Encrypted means encrypted, to whoever answered.
	Encrypted Protection = "encrypted"
	// Verified means encrypted, to a server that proved who it is.
	Verified Protection = "verified"
)

// Memory is the best that worked with a recipient's domain. It is kept by domain and not by server: an attacker who cannot break the
// encryption of the first server would only have to keep us from it. The zero value remembers nothing.
type Memory struct {
	// EncryptedAt and VerifiedAt are when a message last went out with that much protection.
	EncryptedAt time.Time `json:"encrypted_at"`
	VerifiedAt  time.Time `json:"verified_at"`
	// BrokenSince is when encryption first failed after that, or zero.
	BrokenSince time.Time `json:"broken_since"`
}

// Delivered returns the memory after a message went out.
func (m Memory) Delivered(p Protection, now time.Time) Memory {
	switch p {
	case Verified:
		return Memory{EncryptedAt: now, VerifiedAt: now}
	case Encrypted:
		return Memory{EncryptedAt: now, VerifiedAt: m.VerifiedAt}
	}
	if _, held := m.Held(now); held {
		return m // it went out because it had to, as a report on broken encryption does
	}
	return Memory{}
}

// Failed returns the memory after a server could be reached but encryption was not offered or failed.
func (m Memory) Failed(now time.Time) Memory {
	if !m.EncryptedAt.IsZero() && m.BrokenSince.IsZero() {
		m.BrokenSince = now
	}
	return m
}

// Held tells whether clear text is out of the question because of what is remembered, and until when.
func (m Memory) Held(now time.Time) (until time.Time, held bool) {
	if m.EncryptedAt.IsZero() {
		return time.Time{}, false
	}
	until = m.EncryptedAt.Add(rememberFor)
	if giveUp := m.BrokenSince.Add(holdFor); !m.BrokenSince.IsZero() && giveUp.Before(until) {
		until = giveUp
	}
	return until, now.Before(until)
}

// words says in a sentence what the memory means for the next message.
func (m Memory) words(now time.Time) string {
	until, held := m.Held(now)
	switch {
	case held && m.BrokenSince.IsZero():
		return fmt.Sprintf("Encryption worked with this domain on %s%s, so it is required.", day(m.EncryptedAt), m.proof())
	case held:
		return fmt.Sprintf("Encryption worked with this domain on %s%s and is broken since %s; clear text is refused until %s.",
			day(m.EncryptedAt), m.proof(), day(m.BrokenSince), until.UTC().Format("2006-01-02 15:04 MST"))
	case !m.BrokenSince.IsZero():
		return fmt.Sprintf("Encryption worked with this domain on %s%s and is broken since %s; it is no longer insisted on.",
			day(m.EncryptedAt), m.proof(), day(m.BrokenSince))
	}
	return "Nobody demands encryption; it is used if the server offers it."
}

func (m Memory) proof() string {
	if m.VerifiedAt.IsZero() {
		return ""
	}
	return " (with a proven certificate on " + day(m.VerifiedAt) + ")"
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
