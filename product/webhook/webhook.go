// Package webhook tells customers' servers what happened: it follows the record of events, and posts each one, signed, to every
// endpoint that asked for it, until the endpoint has taken it or time is up.
//
// A delivery is one event for one endpoint. It is written in the transaction in which the event is followed, so inside the
// database there is exactly one; the post itself happens at least once, always with the event's id. The queue holds one item an
// endpoint: whoever has claimed it is alone in posting there, so ten requests at once are ten in the whole installation, and an
// endpoint that hangs is a line of its own that nobody else stands in.
//
//	Owns     webhook, webhook_total, webhook_payload, webhook_delivery, webhook_attempt
//	Follows  every event of the catalogue
//	Queues   webhook (one item an endpoint), webhook_notice, webhook_cancel
//	Emits    webhook.disabled
package webhook

import (
	"sync"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/plan"
	"postrider/world"
)

// ID names an endpoint. It is also the id of the endpoint's queue item.
type ID string

// DeliveryID names one event on its way to one endpoint.
type DeliveryID string

// Lane is the queue of endpoints that have something to be told.
const Lane queue.Lane = "webhook"

// Endpoint is a customer's server that wants to hear of events.
type Endpoint struct {
	ID        ID
	Workspace space.ID
	URL       string
	// Events are names of the catalogue, families such as email.*, or * for everything.
	Events      []string
	Description string
	// Domains and Tenants narrow what is told; empty means all.
	Domains, Tenants []string
	// IncludeBody asks for the text of received mail inside the event.
	IncludeBody bool
	// Headers are sent along. They may be secrets, and are never shown again.
	Headers map[string]string
	Status  Status
	// DisabledReason is Gone, Failing or Manual while the endpoint is disabled.
	DisabledReason Reason

	secret, previous  secret
	secretPrefix      string
	previousExpiresAt time.Time
	health
	CreatedAt, UpdatedAt time.Time
	// since is the number of the newest event when the endpoint was made, nil if that is not known.
	since *int64
}

// health is how an endpoint has been doing since it last took an event.
type health struct {
	failures                                int64
	firstFailureAt, warnedAt, lastAttemptAt time.Time
	lastStatus                              int
}

// Status tells whether an endpoint is told of anything.
type Status string

// Statuses of an endpoint.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
)

// Reason is why an endpoint is disabled.
type Reason string

const (
	// Gone means that the endpoint answered 410.
	Gone Reason = "gone"
	// Failing means that the endpoint took nothing for five days.
	Failing Reason = "failing"
	// Manual means that somebody wished it.
	Manual Reason = "manual"
)

// Errors of webhooks.
var (
	// ErrNotFound means that the workspace has no such endpoint.
	ErrNotFound = api.NotFound("webhook")
	// ErrDeliveryNotFound means that the workspace has no such delivery, or not any more.
	ErrDeliveryNotFound = api.NotFound("webhook_delivery")
	// ErrQuota means that the plan has no room for another endpoint.
	ErrQuota = api.NewError(402, "webhook_quota_exceeded", "webhook_quota_exceeded", "The plan has no room for another webhook.")
)

// Config is what an installation decides about webhooks.
type Config struct {
	// Node names this process among those that share the database.
	Node string
	// BaseURL is where this installation answers; it does not post to itself.
	BaseURL string
	// Policy says which addresses customers may choose.
	Policy httpout.Policy
	// PlainHeaders leaves out the svix-* copies of the signature headers, which receivers written for Resend read.
	PlainHeaders bool
	// MaxInFlight bounds the requests at once, and with them memory and sockets; zero means 2048.
	MaxInFlight int
	// Timeout is how long an endpoint may take to answer; zero means 15 seconds.
	Timeout time.Duration
	// Inline posts inside the step that begins it, for tests and the simulator.
	Inline bool
	// Postman carries mails to owners; without one they are not sent.
	Postman account.Postman
}

// Parts are the services below, and questions to slices above, that webhooks are made of.
type Parts struct {
	Keys     *seal.Keyring
	Plans    *plan.Service
	Accounts *account.Service
	// DomainsExist tells whether all ids are domains of the workspace.
	DomainsExist func(tx *db.Tx, ws space.ID, ids []string) (bool, error)
	// ExternalID is what a workspace calls a managed customer; empty means that there is none of this id.
	ExternalID func(tx *db.Tx, ws space.ID, id string) (string, error)
	// Posted is told of every attempt, and must not wait; nil means that nobody wants to know.
	Posted func(Posted)
}

const (
	// defaultInFlight lets some hundred endpoints hang at once and still has room for those that answer.
	defaultInFlight = 2048
	// defaultTimeout is the answer time that senders of webhooks commonly allow.
	defaultTimeout = 15 * time.Second
)

// Service keeps endpoints and posts to them.
type Service struct {
	world     world.World
	db        *db.DB
	parts     Parts
	config    Config
	catalogue catalogue
	client    *httpout.Client
	holder    *queue.Holder // of the leases on endpoints
	// doubtful are claims whose commit was not answered. Only Step uses it.
	doubtful []int64

	streams streams
	desk    *desk
	wake    chan struct{} // buffered; receives when an outcome waits or an endpoint has changed
	running sync.WaitGroup
}

// New returns the service of one process.
func New(w world.World, d *db.DB, parts Parts, config Config) *Service {
	if config.MaxInFlight == 0 {
		config.MaxInFlight = defaultInFlight
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	client := httpout.New(httpout.Config{Policy: config.Policy, Resolver: w.Resolver, Dialer: w.Dialer, Clock: w.Clock, Timeout: config.Timeout,
		Self: httpout.SelfOf(config.BaseURL), HeadIsEnough: true})
	return &Service{world: w, db: d, parts: parts, config: config, catalogue: readCatalogue(), client: client, holder: queue.NewHolder(w, d, "webhook/"+config.Node),
		desk: newDesk(config.MaxInFlight), wake: make(chan struct{}, 1)}
}

// Count tells how many endpoints the workspace has.
func (s *Service) Count(tx *db.Tx, ws space.ID) (int64, error) { return total.Of(tx, ws) }
