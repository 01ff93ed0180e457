// Package email is the send: what a customer asks us to mail, what became of it, and the record of both.
//
// Accept stores an email with its recipients, its first event and its queue items in one transaction. Delivery, a floor above, takes
// recipients when they are due and reports what happened to them; Record writes that down.
//
//	Owns     email, email_content, email_recipient, email_attachment, email_attempt, email_tracking, email_swept, email_unswept,
//	         email_called_back
//	Queues   mail (one item a recipient)
//	Emits    email.queued, .scheduled, .accepted, .sent, .delivered, .delivery_delayed, .bounced, .failed, .suppressed,
//	         .complained, .cancelled, .opened, .clicked
package email

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"postrider/mail/address"
	"postrider/mail/report"
	"postrider/mail/spam"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/product/suppression"
	"postrider/product/template"
	"postrider/product/tenant"
	"postrider/product/webhook"
	"postrider/world"
)

// ID names an email.
type ID string

// RecipientID names one recipient of one email. It is also the id of the recipient's queue item.
type RecipientID string

// Lane is the queue of recipients that wait to be mailed by any node.
const Lane queue.Lane = "mail"

// nodePrefix begins the provider of mail that one node alone may deliver; the node's id follows.
const nodePrefix = "node:"

// LaneOf is the queue of recipients that wait for one node; the empty id means any.
func LaneOf(node string) queue.Lane {
	if node == "" {
		return Lane
	}
	return Lane + "/" + queue.Lane(node)
}

// IsMail tells whether a lane holds recipients, of any node or of one.
func IsMail(lane queue.Lane) bool {
	return lane == Lane || strings.HasPrefix(string(lane), string(Lane)+"/")
}

// Node returns the id of the node that alone may deliver the email, or the empty string.
func (e Email) Node() string {
	id, _ := strings.CutPrefix(e.Provider, nodePrefix)
	if id == e.Provider {
		return ""
	}
	return id
}

// Email is one send.
type Email struct {
	ID        ID
	Workspace space.ID
	Domain    domain.ID
	Tenant    string
	KeyID     string
	Source    Source
	// Provider is the way the mail goes out: Direct, Relay, or node: and the id of a node.
	Provider string
	// ReturnPath is the envelope sender of mail that is passed on with its own; empty means that delivery makes one.
	ReturnPath string
	// Test mail never leaves the machine.
	Test           bool
	MessageID      string
	Status         State
	Delayed        bool
	From           string
	FromDomain     string
	Addresses      Addresses
	Subject        string
	Tags           []Tag
	Metadata       json.RawMessage
	IdempotencyKey string
	SizeBytes      int64
	Attachments    int
	Recipients     int
	TrackOpens     bool
	TrackClicks    bool
	// Opens and Clicks are those of people; programs are counted apart, with each recipient.
	Opens, Clicks int
	// ListUnsubscribe mail carries a link by which its recipient unsubscribes.
	ListUnsubscribe bool
	// Topic is what it is about, if recipients can choose that.
	Topic string
	// Template and TemplateVersion are what the email was made from; empty and 0 if it was not.
	Template        string
	TemplateVersion int64
	// Broadcast is what the email is part of; Contact and List are whom and what an unsubscribe link in it is about. All may be empty.
	Broadcast, Contact, List string
	// Run is the run of an automation that sent it; empty if none did.
	Run string
	// SentBy is the node that made the last attempt; empty if there was none.
	SentBy  string
	Failure *Failure

	CreatedAt, UpdatedAt, ScheduledAt, QueuedAt, SentAt, DeliveredAt time.Time
	// ExpiresAt is when we stop trying.
	ExpiresAt time.Time
}

// Source is the door an email came in by.
type Source string

// Sources of emails.
const (
	SourceAPI   Source = "api"
	SourceSMTP  Source = "smtp"
	SourceBatch Source = "batch"
	// SourceNotice is mail of the installation itself, to the people who have accounts in it.
	SourceNotice Source = "notice"
	// SourceConfirmation is mail that asks somebody to confirm being on a list.
	SourceConfirmation Source = "confirmation"
)

// Ways for mail to go out.
const (
	// Direct is to the recipients' servers, by ourselves.
	Direct = "direct"
	// Relay is through the mail server that the workspace has named.
	Relay = "relay"
)

// Addresses are the address lists of an email, in display form.
type Addresses struct {
	To      []string `json:"to,omitempty"`
	Cc      []string `json:"cc,omitempty"`
	Bcc     []string `json:"bcc,omitempty"`
	ReplyTo []string `json:"reply_to,omitempty"`
}

// Tag is a word the customer hangs on an email.
type Tag struct {
	Name  string `json:"name" example:"category"`
	Value string `json:"value" example:"welcome"`
}

// Failure says why an email was not delivered.
type Failure struct {
	Reason  string `json:"reason" example:"delivery_expired"`
	Message string `json:"message" example:"No server accepted the message within 72 hours."`
}

// Recipient is one address of an email and what became of it.
type Recipient struct {
	ID        RecipientID
	Workspace space.ID
	Email     ID
	Position  int
	Kind      Kind
	Address   string
	State     State
	Attempts  int
	// SoftBounces counts the permanent refusals that we took for temporary ones.
	SoftBounces   int
	ISP           string
	SMTPCode      int
	Enhanced      string
	Response      string
	Bounce        *Bounce
	DelayToldAt   time.Time
	UnnamedSince  time.Time
	DeliveredAt   time.Time
	NextAttemptAt time.Time
	// TakenAt is when the attempt under way, or the last one, began.
	TakenAt time.Time
}

// underWay tells whether an attempt has begun whose outcome is not written down.
func (r Recipient) underWay() bool { return r.State == Sending && r.NextAttemptAt.IsZero() }

// Kind is the list a recipient stands in.
type Kind string

// Kinds of recipients.
const (
	To  Kind = "to"
	Cc  Kind = "cc"
	Bcc Kind = "bcc"
)

// Bounce tells why a recipient's server refused for good.
type Bounce struct {
	Type           string   `json:"type" example:"Permanent"`
	SubType        string   `json:"subType" example:"NoEmail"`
	Message        string   `json:"message" example:"550 5.1.1 The email account does not exist."`
	DiagnosticCode []string `json:"diagnosticCode"`
	Class          string   `json:"class" example:"hard"`
	Category       string   `json:"category" example:"no_mailbox"`
	SMTPCode       *int     `json:"smtp_code" doc:"Null if no server answered." example:"550"`
	Enhanced       string   `json:"enhanced_code" example:"5.1.1"`
	Suppressed     bool     `json:"suppressed" example:"false"`
	Asynchronous   bool     `json:"asynchronous" example:"false"`
}

func newBounce(class report.Verdict, code int, enhanced, text string) *Bounce {
	return &Bounce{Type: string(class.Type), SubType: string(class.SubType), Message: text, DiagnosticCode: []string{"smtp; " + text},
		Class: string(class.Class), Category: string(class.Category), SMTPCode: positive(code), Enhanced: enhanced}
}

// Attachment is a file of an email. Its content is in the blob store.
type Attachment struct {
	ID          string
	Filename    string
	ContentType string
	ContentID   string
	Inline      bool
	SizeBytes   int64
	Blob        blob.Ref
	// part is its place in a message that came ready made; such a file is in no store of its own, and Blob is only its hash.
	part int
}

// Content is what an email says.
type Content struct {
	HTML    string            `json:"html,omitempty"`
	Text    string            `json:"text,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Service accepts, keeps and tells of emails.
type Service struct {
	world    world.World
	db       *db.DB
	blobs    blob.Store
	accounts *account.Service
	domains  *domain.Service
	tenants  *tenant.Service
	plans    *plan.Service
	keys     *seal.Keyring
	baseURL  string
	// customerHosts tells that the installation is also reached under the tracking hosts of customers.
	customerHosts bool
	desk          *db.Desk[*pending]
	visits        *db.Desk[*visit]
	visitors      *semaphore.Weighted // who waits for their visit to be recorded
	fetcher       *httpout.Client
	spam          spam.Engine
	webhooks      *webhook.Service
	suppressions  *suppression.Service
	topics        Topics
	swept         queue.Round // of the removal of old contents
	templates     *template.Service
	delay         Delay
	calls         calls
	// archives bounds how many archives are held in memory to be looked into.
	archives *semaphore.Weighted
}

// Parts are what the service is built on.
type Parts struct {
	Blobs    blob.Store
	Accounts *account.Service
	Domains  *domain.Service
	Tenants  *tenant.Service
	Plans    *plan.Service
	Keys     *seal.Keyring
	// BaseURL is where links to files begin.
	BaseURL string
	// CustomerHosts tells that the installation is also reached under the tracking hosts of customers.
	CustomerHosts bool
	// Fetcher gets files that are named by their address (see NewFetcher); nil refuses them.
	Fetcher *httpout.Client
	// Spam judges messages; nil means the built-in engine.
	Spam spam.Engine
	// Webhooks knows who was told of an event.
	Webhooks *webhook.Service
	// Suppressions knows whom not to mail.
	Suppressions *suppression.Service
	Topics       Topics
	Templates    *template.Service
	// Delay slows senders down who have to be; nil slows nobody.
	Delay Delay
}

// Delay tells how long new mail of a workspace and managed customer to a number of recipients has to wait.
type Delay func(ctx context.Context, ws space.ID, tenant string, recipients int) time.Duration

// maxArchives times the largest file, and what archives in it may hold, is what looking into archives may cost.
const maxArchives = 8

// New returns the service.
func New(w world.World, d *db.DB, parts Parts) *Service {
	s := &Service{world: w, db: d, blobs: parts.Blobs, accounts: parts.Accounts, domains: parts.Domains, tenants: parts.Tenants,
		plans: parts.Plans, keys: parts.Keys, baseURL: strings.TrimRight(parts.BaseURL, "/"), customerHosts: parts.CustomerHosts,
		archives: semaphore.NewWeighted(maxArchives), fetcher: parts.Fetcher, spam: parts.Spam,
		webhooks: parts.Webhooks, suppressions: parts.Suppressions, topics: parts.Topics, templates: parts.Templates, delay: parts.Delay}
	s.desk = db.NewDesk(d, s.storePending)
	s.visits, s.visitors = db.NewDesk(d, s.recordVisits), semaphore.NewWeighted(maxVisitsWaiting)
	if s.spam == nil {
		s.spam = spam.Builtin{}
	}
	return s
}

// isp groups recipients by who runs their mailboxes.
func isp(addr address.Address) string {
	switch addr.Domain {
	case "gmail.com", "googlemail.com", "google.test":
		return "google"
	case "outlook.com", "hotmail.com", "live.com", "msn.com", "outlook.test":
		return "microsoft"
	case "yahoo.com", "ymail.com", "aol.com", "yahoo.test":
		return "yahoo"
	case "icloud.com", "me.com", "mac.com":
		return "apple"
	}
	return otherISP
}
