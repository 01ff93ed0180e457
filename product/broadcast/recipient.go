package broadcast

import (
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/space"
	"postrider/product/email"
)

// recipient is one person a broadcast is for, and what became of their mail.
type recipient struct {
	// ID is also that of the email, unless the mail was tried again with another.
	ID        string
	Workspace space.ID
	Broadcast ID
	// Contact is the number of the contact, ContactID its id. Both outlive the contact.
	Contact   int64
	ContactID string
	Address   string
	State     email.State
	Email     email.ID
	Problem   *problem
	// BounceType is permanent, transient or undetermined for mail that bounced.
	BounceType    string
	Opens, Clicks int64
	Unsubscribed  bool

	SentAt, DeliveredAt, UpdatedAt time.Time
}

// States of recipients, besides those of mail.
const (
	// Pending recipients wait to be handed to the mail queue.
	Pending email.State = "pending"
	// Skipped recipients were not mailed because they are not meant any more.
	Skipped email.State = "skipped"
)

// problem is why a recipient did not get the mail.
type problem struct {
	Stage    stage    `json:"stage" example:"delivery"`
	Reason   string   `json:"reason" example:"hard_bounce"`
	Class    api.Ref  `json:"class,omitempty" example:"hard"`
	Message  string   `json:"message" example:"550 5.1.1 The email account does not exist."`
	SMTPCode *int     `json:"smtp_code" example:"550"`
	Enhanced api.Ref  `json:"enhanced_code,omitempty" example:"5.1.1"`
	At       api.Time `json:"occurred_at"`
}

// stage is where on its way a mail was stopped.
type stage string

const (
	atRender      stage = "render"
	atSuppression stage = "suppression"
	atDelivery    stage = "delivery"
)

// openStates are those in which something is still to be done.
var openStates = []email.State{Pending, email.Queued, email.Sending, email.Accepted}

func isOpen(s email.State) bool { return slices.Contains(openStates, s) }

// arrived tells whether the mail is, or was, in a mailbox.
func arrived(s email.State) bool {
	return s == email.Delivered || s == email.Opened || s == email.Clicked || s == email.Complained
}

// wentOut tells whether a server has been given the mail and has decided.
func wentOut(s email.State) bool { return arrived(s) || s == email.Sent || s == email.Bounced }

// rank orders the states through which mail passes.
var rank = map[email.State]int{Pending: 0, email.Queued: 1, email.Sending: 2, email.Accepted: 3, email.Sent: 4, email.Delivered: 5, email.Opened: 6,
	email.Clicked: 7, email.Complained: 8}

// mayBecome tells whether an event that announces a state is news for the recipient. Events are silent about some states between.
func (r recipient) mayBecome(next email.State) bool {
	from, onTheWay := rank[r.State]
	if !onTheWay || next == r.State {
		return false
	}
	switch next {
	case email.Bounced:
		return from <= rank[email.Delivered] // whoever has opened a mail has it, whatever is said later
	case email.Failed, email.Suppressed, email.Cancelled, Skipped:
		return isOpen(r.State)
	case email.Queued, email.Sending:
		return isOpen(r.State) && from > 0 // mail that waits again is still on its way
	}
	return rank[next] > from
}

// matching returns the states that a filter for one means: who has clicked has opened, and has the mail.
func matching(status string) []string {
	switch email.State(status) {
	case email.Sent:
		return []string{string(email.Sent), string(email.Delivered), string(email.Opened), string(email.Clicked), string(email.Complained), string(email.Bounced)}
	case email.Delivered:
		return []string{string(email.Delivered), string(email.Opened), string(email.Clicked), string(email.Complained)}
	case email.Opened:
		return []string{string(email.Opened), string(email.Clicked)}
	}
	return []string{status}
}
