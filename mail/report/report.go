// Package report understands what other mail servers say about our mail.
//
// Classify is the one place that decides what a refusal means: whether to try again, whether the address is bad, or whether it
// is us or the message that was not wanted. Three classes and not two, because a refusal for our reputation says nothing about
// the recipient: suppressing the address for it would lose a customer's reader for good.
//
// Read takes apart what comes to a return path: delivery reports in the form of RFC 3464 and in the many that are older, complaints
// (RFC 5965), statistics (RFC 7489, RFC 8460), and answers that nobody wrote.
//
// Pure: no clock, no network, no state.
package report

import "postrider/mail/smtp"

// Reply is the answer of a server, or what took its place: a delivery report, or a failure of our own that is told in the same
// terms (Code 0 and an enhanced code, such as 5.1.2 for a domain that does not exist or 4.4.1 for a server that is silent).
type Reply struct {
	// Code is the three-digit code, or 0 if there was none.
	Code int
	// Enhanced is the enhanced status code (RFC 3463), or empty; then it is looked for in Text.
	Enhanced string
	// Text is what the server said, lines joined, with or without its codes.
	Text string
	// Stage is where in the dialogue it was said.
	Stage smtp.Stage
}

// Class says whose fault a failure is and so what to do next.
type Class string

const (
	// Hard means the address is bad: do not try again, do not send to it.
	Hard Class = "hard"
	// Soft means a failure that may pass: try again.
	Soft Class = "soft"
	// Block means the sender or the message was refused: do not try again; the address may be fine.
	Block Class = "block"
)

// Category is the reason of a failure.
type Category string

// The reasons of failures.
const (
	NoMailbox          Category = "no_mailbox"
	NoDomain           Category = "no_domain"
	BadAddress         Category = "bad_address"
	MailboxDisabled    Category = "mailbox_disabled"
	MailboxFull        Category = "mailbox_full"
	TooLarge           Category = "too_large"
	ServerError        Category = "server_error"
	ServerBusy         Category = "server_busy"
	Network            Category = "network"
	RecipientRejected  Category = "recipient_rejected"
	Expired            Category = "expired"
	Protocol           Category = "protocol"
	ContentRejected    Category = "content_rejected"
	AttachmentRejected Category = "attachment_rejected"
	Reputation         Category = "reputation"
	Authentication     Category = "authentication"
	RateLimited        Category = "rate_limited"
	Greylisted         Category = "greylisted"
	Policy             Category = "policy"
	Unknown            Category = "unknown"
)

// Verdict is what a reply means.
type Verdict struct {
	Class    Class
	Category Category
	// Type and SubType are the same in the words that senders know from other services.
	Type    string
	SubType string
	// Suppress means that the address must not be sent to again.
	Suppress bool
}

// The values of Verdict.Type.
const (
	TypePermanent    = "Permanent"
	TypeTransient    = "Transient"
	TypeUndetermined = "Undetermined"
)

// verdict fills in what follows from class and category.
func verdict(class Class, category Category) Verdict {
	v := Verdict{Class: class, Category: category, Type: TypePermanent, SubType: "General", Suppress: class == Hard}
	if class == Soft {
		v.Type = TypeTransient
	}
	switch category {
	case NoMailbox, NoDomain, BadAddress:
		v.SubType = "NoEmail"
	case MailboxFull:
		v.SubType = "MailboxFull"
	case TooLarge:
		v.SubType = "MessageTooLarge"
	case ContentRejected, Reputation:
		v.SubType = "ContentRejected"
	case AttachmentRejected:
		v.SubType = "AttachmentRejected"
	case Unknown:
		v.Type, v.SubType = TypeUndetermined, "Undetermined"
	}
	return v
}
