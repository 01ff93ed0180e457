// Package audience keeps whom a workspace writes to: contacts with their properties, the lists they joined and how they agreed to it,
// the topics they want to hear of, and the segments that filters make of them.
//
// A person's no is stronger than anything a customer sends: an upsert or an import never brings back somebody who left.
//
//	Owns     contact, contact_total, contact_search, audience_list, list_contact, topic, contact_topic, contact_property, contact_value,
//	         segment, segment_contact, contact_import, contact_import_error, contact_erasure
//	Follows  suppression.added, suppression.removed, email.accepted, email.opened, email.clicked
//	Queues   contact imports, confirmations, erasures, discards
//	Emits    contact.created, .updated, .deleted, .confirmed, .unsubscribed, import.completed, import.failed
package audience

import (
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/email"
	"postrider/product/logs"
	"postrider/product/plan"
	"postrider/product/suppression"
	"postrider/product/template"
	"postrider/product/webhook"
	"postrider/world"
)

// ContactID names a contact.
type ContactID string

// Contact is one person a workspace writes to: one address.
type Contact struct {
	// Number is the contact's place in the order in which contacts came; cursors are made of it.
	Number    int64
	ID        ContactID
	Workspace space.ID
	// Address is the form in which all spellings are equal.
	Address             string
	FirstName, LastName string
	Status              Status
	Unsubscribed        bool
	// LeftAt is when the person left by themselves, zero if they did not.
	LeftAt time.Time
	// Suppression is why the address is not mailed at all; empty if it is.
	Suppression suppression.Reason
	Consent     *Consent

	Sent, Opened, Clicked                   int64
	LastSentAt, LastOpenedAt, LastClickedAt time.Time
	CreatedAt, UpdatedAt                    time.Time

	// pending and subscribed count the lists that the contact is on, by what was said there.
	pending, subscribed int64
}

// Status tells whether a contact may be mailed.
type Status string

// Statuses of contacts, and of their memberships.
const (
	Subscribed   Status = "subscribed"
	Unsubscribed Status = "unsubscribed"
	Pending      Status = "pending"
	Bounced      Status = "bounced"
	Complained   Status = "complained"
)

// settle works out the status: what others say of the address comes first, then what the person said, then what is still open.
func (c *Contact) settle() {
	switch {
	case c.Suppression == suppression.Complaint:
		c.Status = Complained
	case c.Suppression == suppression.Bounce || c.Suppression == suppression.Invalid:
		c.Status = Bounced
	case c.Unsubscribed || c.Suppression == suppression.Unsubscribe:
		c.Status = Unsubscribed
	case c.pending > 0 && c.subscribed == 0:
		c.Status = Pending
	default:
		c.Status = Subscribed
	}
}

// Consent is how somebody agreed to be mailed.
type Consent struct {
	Source    string    `json:"source"`
	IP        string    `json:"ip,omitempty"`
	UserAgent string    `json:"user_agent,omitempty"`
	At        time.Time `json:"at"`
}

func hostOf(key string) string { return key[strings.LastIndexByte(key, '@')+1:] }

// Errors of audiences.
var (
	// ErrContactNotFound means that the workspace has no such contact.
	ErrContactNotFound = api.NotFound("contact")
	// ErrListNotFound means that the workspace has no such list.
	ErrListNotFound = api.NotFound("audience")
	// ErrSegmentNotFound means that the workspace has no such segment.
	ErrSegmentNotFound = api.NotFound("segment")
	// ErrTopicNotFound means that the workspace has no such topic.
	ErrTopicNotFound = api.NotFound("topic")
	// ErrPropertyNotFound means that the workspace has no such property.
	ErrPropertyNotFound = api.NotFound("contact_property")
	// ErrImportNotFound means that the workspace has no such import.
	ErrImportNotFound = api.NotFound("contact_import")
	// ErrQuota means that the plan has no room for another contact.
	ErrQuota = api.NewError(402, "contact_quota_exceeded", "contact_quota_exceeded",
		"The plan has no room for more contacts. Delete some or upgrade.")
	// ErrInUse means that something else still needs what is to be deleted.
	ErrInUse = api.NewError(409, "resource_in_use", "validation_error", "Something else still uses it. Change or delete that first.")
	// ErrSenderDomain means that a confirmation has no sender whose domain is verified.
	ErrSenderDomain = api.NewError(403, "sender_domain_required", "validation_error",
		"A confirmation needs a sender at a verified domain. Name one as from.")
	// ErrLink means that a confirmation link is not one of ours, or stands for nothing any more.
	ErrLink = api.NotFound("confirmation_link").Saying("This confirmation link is not valid. Open it again from the email.")
	// ErrLinkExpired means that a confirmation link is past its time.
	ErrLinkExpired = api.NewError(410, "token_expired", "not_found", "This confirmation link has expired. Ask for a new one.")
)

// Use is something that needs a list, a segment, a topic or a property.
type Use struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Parts are the services below, and what slices above do for this one, that audiences are made of.
type Parts struct {
	Keys         *seal.Keyring
	Blobs        blob.Store
	Plans        *plan.Service
	Accounts     *account.Service
	Templates    *template.Service
	Suppressions *suppression.Service
	Emails       *email.Service
	Webhooks     *webhook.Service
	// Logs is where traces of people are; nil if there are none.
	Logs *logs.Service
	// BaseURL is where people reach the installation.
	BaseURL string
	// InUse tells what slices above need a thing, by its id or key, for; nil if none is above.
	InUse func(tx *db.Tx, ws space.ID, idOrKey string) ([]Use, error)
	// Forget lets slices above forget what they keep of a contact; nil if none is above.
	Forget func(tx *db.Tx, ws space.ID, contact ContactID, number int64) error
	// Node is the owner of leases.
	Node string
}

// Service keeps audiences.
type Service struct {
	world  world.World
	db     *db.DB
	parts  Parts
	holder *queue.Holder // of the leases on imports, letters and erasures
}

// New returns the service of one process.
func New(w world.World, d *db.DB, parts Parts) *Service {
	parts.BaseURL = strings.TrimRight(parts.BaseURL, "/")
	return &Service{world: w, db: d, parts: parts, holder: queue.NewHolder(w, d, parts.Node+"/audience")}
}

// Count returns how many contacts a workspace has.
func (s *Service) Count(tx *db.Tx, ws space.ID) (int64, error) { return total.Of(tx, ws) }
