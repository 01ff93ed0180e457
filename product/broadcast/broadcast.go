// Package broadcast sends one message to many people: everybody on a list, in a segment, or both.
//
// Whom a broadcast is for is written down when it begins, a row a person. The rows are handed to the mail queue page by page; a page
// is one transaction, in which its emails come to be and its rows say so. Whoever may not be mailed by then is not, and the row says
// why. A broadcast is over when every row is.
//
//	Owns     broadcast, broadcast_recipient, broadcast_count, broadcast_part, broadcast_link, broadcast_click
//	Follows  email.sent, .accepted, .delivered, .delivery_delayed, .bounced, .complained, .failed, .suppressed, .cancelled, .opened,
//	         .clicked, .unsubscribed of its own mail
//	Queues   broadcasts (one item each)
//	Emits    broadcast.sent, .cancelled, .failed
package broadcast

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/audience"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/product/suppression"
	"postrider/product/template"
	"postrider/world"
)

// ID names a broadcast.
type ID string

// Lane is the queue of broadcasts that have something to do.
const Lane queue.Lane = "broadcast"

// Broadcast is one message to many people.
type Broadcast struct {
	ID        ID
	Workspace space.ID
	Name      string
	Status    Status
	Target    audience.Target

	From        string
	ReplyTo     []string
	Subject     string
	PreviewText string
	HTML, Text  string
	// Template and TemplateVersion are what the mail is made from instead of HTML and Text. The version is fixed when it is sent.
	Template        string
	TemplateVersion int64
	Variables       template.Values
	Tags            []email.Tag
	// TrackOpens and TrackClicks are nil where the domain decides.
	TrackOpens, TrackClicks *bool
	// Throttle is how many mails an hour; 0 means as many as can be.
	Throttle int64
	Window   Window

	CreatedBy, KeyID string
	Test             bool
	Failure          *Failure

	// work is the queue item that moves the broadcast on; empty if there is nothing to do.
	work string
	// place is the last contact that became a recipient, ceiling the last one that may. A retry begins at the first recipient again: place
	// is then how far those who failed wait once more.
	place, ceiling int64
	// nextAt is when the next page may be handed over.
	nextAt time.Time

	ScheduledAt, QueuedAt, StartedAt, ExpandedAt, HandedAt, PausedAt, SentAt, CancelledAt, CreatedAt, UpdatedAt time.Time
}

// Status tells how far a broadcast is.
type Status string

// Statuses of broadcasts.
const (
	Draft     Status = "draft"
	Scheduled Status = "scheduled"
	Queued    Status = "queued"
	Sending   Status = "sending"
	Sent      Status = "sent"
	Cancelled Status = "cancelled"
	Failed    Status = "failed"
)

// deleting is the status of a broadcast that nobody can find any more while its rows go.
const deleting Status = "deleting"

// Statuses are all statuses, in the order in which they come.
var Statuses = []Status{Draft, Scheduled, Queued, Sending, Sent, Cancelled, Failed}

// Failure says why a broadcast could not go on.
type Failure struct {
	Reason  string `json:"reason" example:"domain_auth_broken"`
	Message string `json:"message" example:"SPF or DKIM of acme.test no longer passes."`
}

// Reasons for which recipients do not get their mail, besides those of mail itself.
const (
	reasonRender   = "template_render_failed"
	reasonTemplate = "template_unavailable"
	reasonAudience = "audience_deleted"
	reasonSender   = "sender_not_allowed"
	reasonSuspend  = "workspace_suspended"
	reasonCancel   = "broadcast_cancelled"
	reasonNobody   = "no_recipient_reached"
	reasonAddress  = "invalid_recipient"
)

// ErrNotFound means that the workspace has no such broadcast.
var ErrNotFound = api.NotFound("broadcast")

// refuse is the error of a broadcast in a status that does not allow what is asked.
func (b Broadcast) refuse(allowed ...Status) error {
	return api.ErrInvalidState.With("current", b.Status).With("allowed", allowed)
}

// Parts are the services that broadcasts are made of.
type Parts struct {
	Plans        *plan.Service
	Accounts     *account.Service
	Templates    *template.Service
	Domains      *domain.Service
	Suppressions *suppression.Service
	Emails       *email.Service
	Audience     *audience.Service
	// Node is the owner of leases.
	Node string
}

// Service sends broadcasts.
type Service struct {
	world  world.World
	db     *db.DB
	parts  Parts
	holder *queue.Holder // of the leases on broadcasts
}

// New returns the service of one process.
func New(w world.World, d *db.DB, parts Parts) *Service {
	return &Service{world: w, db: d, parts: parts, holder: queue.NewHolder(w, d, parts.Node+"/broadcast")}
}

// Uses returns what broadcasts need a list, a segment or a topic for: those that have not ended.
func (s *Service) Uses(tx *db.Tx, ws space.ID, id string) ([]audience.Use, error) {
	if !api.IsID(id) {
		return nil, nil // a property, which broadcasts name only in their text
	}
	return selectUses(tx, ws, id)
}
