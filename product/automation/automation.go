// Package automation does by itself what a customer has drawn: when an event happens, a run begins at a trigger and goes from step to
// step, sends mail, asks other servers, changes contacts, and waits, for a minute or a year.
//
// A run is a row and a queue item. A step inside the database happens in the transaction that moves the run on, so it happens once.
// A step outside has a key made of run, step and pass, so that a crash between doing and writing down repeats nothing that anybody
// sees. Versions never change, and a run stays on the one it began with.
//
//	Owns     automation, automation_total, automation_version, automation_trigger, automation_use, automation_run, automation_step,
//	         automation_tally, automation_entry, automation_wait, automation_heard, automation_member, automation_credential, automation_event
//	Follows  contact.*, email.opened, .clicked, .bounced, .received
//	Queues   automation (one item a run), automation_schedule (one item a schedule), automation_watch; received_deleted is worked off
//	Emits    automation.run.completed, automation.run.failed, event.sent
package automation

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
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/plan"
	"postrider/product/suppression"
	"postrider/product/template"
	"postrider/product/webhook"
	"postrider/world"
)

// ID names an automation.
type ID string

// RunID names a run. It is also the id of the run's queue item.
type RunID string

// Status tells whether an automation begins runs.
type Status string

// Statuses of automations.
const (
	Enabled  Status = "enabled"
	Disabled Status = "disabled"
	Archived Status = "archived"
)

// Automation is a definition with its life: a draft, and versions that were published.
type Automation struct {
	ID          ID
	Workspace   space.ID
	Name        string
	Description string
	Status      Status
	Draft       flow.Definition
	// DraftChanged tells that the draft is not what was published last.
	DraftChanged bool
	// Published is the version that runs begin with, Latest the newest; 0 if there is none.
	Published, Latest int64
	// Stops is how often all its runs were stopped.
	Stops    int64
	Metadata map[string]any

	CreatedAt, UpdatedAt, ArchivedAt time.Time
}

// Version is a definition as it was published.
type Version struct {
	ID             string
	Automation     ID
	Number         int64
	Definition     flow.Definition
	Note           string
	RolledBackFrom int64
	CreatedBy      string
	CreatedAt      time.Time
}

// Errors of automations.
var (
	// ErrNotFound means that the workspace has no such automation.
	ErrNotFound = api.NotFound("automation")
	// ErrVersionNotFound means that the automation has no such version.
	ErrVersionNotFound = api.NotFound("automation_version")
	// ErrRunNotFound means that the automation has no such run.
	ErrRunNotFound = api.NotFound("automation_run")
	// ErrCredentialNotFound means that the workspace has no such credential.
	ErrCredentialNotFound = api.NotFound("automation_credential")
	// ErrEventNotFound means that the workspace has no such event.
	ErrEventNotFound = api.NotFound("event")
	// ErrQuota means that the plan has no room for another enabled automation.
	ErrQuota = api.NewError(402, "automation_quota_exceeded", "automation_quota_exceeded",
		"The plan has no room for another enabled automation. Disable one or upgrade.")
	// ErrInUse means that an automation still needs a credential or an event.
	ErrInUse = api.NewError(409, "resource_in_use", "validation_error", "An automation still uses it. Change that first.")
)

// Config is what an installation decides about automations.
type Config struct {
	// Node names this process among those that share the database.
	Node string
	// BaseURL is where this installation answers; HTTP steps do not ask it.
	BaseURL string
	// Policy says which addresses customers may choose.
	Policy httpout.Policy
	// Inline does outside steps inside the step that begins them, for tests and the simulator.
	Inline bool
}

// Parts are the services below that automations are made of.
type Parts struct {
	Keys         *seal.Keyring
	Plans        *plan.Service
	Accounts     *account.Service
	Domains      *domain.Service
	Webhooks     *webhook.Service
	Templates    *template.Service
	Suppressions *suppression.Service
	Emails       *email.Service
	Audience     *audience.Service
}

// Service keeps automations and runs them.
type Service struct {
	world  world.World
	db     *db.DB
	parts  Parts
	config Config
	client *httpout.Client
	holder *queue.Holder // of the leases on runs
	// doubtful are claims whose commit was not answered. Only Step uses it.
	doubtful []int64
	graphs   *graphs

	running sync.WaitGroup
	room    chan struct{} // a token for each outside step under way
	wake    chan struct{} // buffered; receives when an outside step has ended
	desk    desk
}

// Lane is the queue of runs.
const Lane queue.Lane = "automation"

// ScheduleLane is the queue of triggers that wait for a time.
const ScheduleLane queue.Lane = "automation_schedule"

const (
	// maxInFlight bounds outside steps at once, and with them memory and sockets.
	maxInFlight = 256
	// answerTimeout is above the longest that a step may wait for an answer.
	answerTimeout = 20 * time.Second
	// maxAnswer is how much of an answer is read; outputs are kept in the database.
	maxAnswer = 64 << 10
)

// New returns the service of one process.
func New(w world.World, d *db.DB, parts Parts, config Config) *Service {
	client := httpout.New(httpout.Config{Policy: config.Policy, Resolver: w.Resolver, Dialer: w.Dialer, Clock: w.Clock,
		Self: httpout.SelfOf(config.BaseURL), Timeout: answerTimeout, MaxResponseBytes: maxAnswer})
	return &Service{world: w, db: d, parts: parts, config: config, client: client, holder: queue.NewHolder(w, d, "automation/"+config.Node), graphs: newGraphs(),
		room: make(chan struct{}, maxInFlight), wake: make(chan struct{}, 1)}
}

var total = plan.Total{Table: "automation_total", Column: "automations"}

// Count tells how many automations of the workspace are enabled.
func (s *Service) Count(tx *db.Tx, ws space.ID) (int64, error) { return total.Of(tx, ws) }
