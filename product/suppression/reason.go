package suppression

import (
	"slices"
	"time"
)

// Reason is why an address is not mailed.
type Reason string

// Reasons of entries.
const (
	Bounce      Reason = "bounce"
	Complaint   Reason = "complaint"
	Unsubscribe Reason = "unsubscribe"
	Manual      Reason = "manual"
	Invalid     Reason = "invalid"
)

// weakestFirst orders the reasons by how much speaks against mailing the address again. A complaint is a person who was bothered,
// a bounce a server that said no, an invalid address one that cannot be right. What a customer noted counts less than these, and
// an unsubscription least, because it alone leaves some mail open.
var weakestFirst = []Reason{Unsubscribe, Manual, Invalid, Bounce, Complaint}

func (r Reason) known() bool { return slices.Contains(weakestFirst, r) }

func (r Reason) strongerThan(other Reason) bool {
	return slices.Index(weakestFirst, r) > slices.Index(weakestFirst, other)
}

// Origin is the coarser word that other vocabularies have for a reason.
type Origin string

// originOf maps every reason to the word that stands for it.
var originOf = map[Reason]Origin{Bounce: "bounce", Complaint: "complaint", Manual: "manual", Unsubscribe: "manual", Invalid: "manual"}

// Origin returns the coarser word for the reason.
func (r Reason) Origin() Origin { return originOf[r] }

// change is what a second entry for an address does to the first.
type change int

const (
	nothing change = iota
	amended
	strengthened
)

// absorb merges another entry for the same address into s. Nothing that is added makes an entry weaker:
//
//   - The stronger reason stays, with its story: what happened, in which email, who said so.
//   - The later end stays, and no end is the latest. Otherwise a block for a day would undo an unsubscription for good.
//   - A new note replaces the old one. It is a remark of people, whatever the reason.
//   - Id, age and hits are those of the address and stay as they are.
func (s *Suppression) absorb(other Suppression) change {
	was := *s
	if other.Reason.strongerThan(s.Reason) {
		s.Reason, s.Detail, s.CreatedBy = other.Reason, other.Detail, other.CreatedBy
		s.EmailID, s.DomainID, s.TenantID = other.EmailID, other.DomainID, other.TenantID
	}
	s.ExpiresAt = laterEnd(s.ExpiresAt, other.ExpiresAt)
	if other.Note != "" {
		s.Note = other.Note
	}
	switch {
	case s.Reason != was.Reason:
		return strengthened
	case !s.ExpiresAt.Equal(was.ExpiresAt) || s.Note != was.Note:
		return amended
	}
	return nothing
}

func laterEnd(a, b time.Time) time.Time {
	if a.IsZero() || b.IsZero() {
		return time.Time{}
	}
	if a.After(b) {
		return a
	}
	return b
}
