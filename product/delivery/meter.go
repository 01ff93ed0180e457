package delivery

import (
	"maps"

	"postrider/product/email"
)

// AttemptKind is what attempts are counted by: what followed, and who runs the mailbox.
type AttemptKind struct {
	// Outcome is delivered, deferred, refused, given_up or called_back.
	Outcome string
	ISP     string
}

// Numbers is what this node has done since it started, and what it does now.
type Numbers struct {
	Attempts map[AttemptKind]int64
	// Connections are open or being opened; Held are the recipients that this node has leased.
	Connections, Held int
}

// Numbers returns them for monitors.
func (s *Service) Numbers() Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Numbers{Attempts: maps.Clone(s.attempts), Connections: len(s.connections), Held: len(s.held)}
}

var outcomeNames = map[email.Decision]string{email.Done: "delivered", email.Later: "deferred", email.Refused: "refused", email.GivenUp: "given_up",
	email.CalledBack: "called_back"}

// countAttempt counts an attempt that has ended. The caller holds mu.
func (s *Service) countAttempt(o email.Outcome) {
	kind := AttemptKind{Outcome: outcomeNames[o.Decision], ISP: o.Taken.Recipient.ISP}
	if kind.ISP == "" {
		kind.ISP = "other"
	}
	s.attempts[kind]++
}
