// Package logs keeps a tape of what happens in a workspace: requests, mail, inbound mail, webhooks and the rest, in one list that can be
// searched and filtered. Requests are noted in memory and written in batches, so that no request waits for its entry or fails with
// it; everything else comes from the record of events.
//
//	Owns     log_entry, log_search
//	Follows  all events
package logs

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/plan"
	"postrider/world"
)

// ID names an entry.
type ID string

// Kind is what an entry is about.
type Kind string

// Kinds of entries.
const (
	Request    Kind = "api_request"
	Submission Kind = "smtp_submission"
	Email      Kind = "email"
	Inbound    Kind = "inbound"
	Webhook    Kind = "webhook"
	Domain     Kind = "domain"
	Auth       Kind = "auth"
	Automation Kind = "automation"
	System     Kind = "system"
)

// kinds are all of them, for filters.
var kinds = []Kind{Request, Submission, Email, Inbound, Webhook, Domain, Auth, Automation, System}

// Level is how much an entry deserves to be looked at.
type Level string

// Levels from the least to the most urgent.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// Entry is one line of the tape.
type Entry struct {
	ID        ID
	Workspace space.ID
	Kind      Kind
	Level     Level
	CreatedAt time.Time
	// Method, Endpoint, Route and ResponseStatus are of requests; Route is the endpoint without the ids in it.
	Method, Endpoint, Route string
	ResponseStatus          int
	Took                    time.Duration
	KeyID, UserID           string
	// Email is the mail that the entry is about, Subject what else has events of its own.
	Email, Subject, Domain, Tenant string
	// Status is the state of the mail, or what became of a webhook's post.
	Status     string
	Recipients int
	Message    string
	Details    Details

	// words are what the entry is found by.
	words []string
}

// Details are the facts of an entry that are only shown.
type Details struct {
	UserAgent    string          `json:"user_agent,omitempty"`
	IP           string          `json:"ip,omitempty"`
	RequestID    string          `json:"request_id,omitempty"`
	Ignored      []string        `json:"ignored_fields,omitempty"`
	RequestBody  json.RawMessage `json:"request_body,omitempty"`
	ResponseBody json.RawMessage `json:"response_body,omitempty"`
}

// ErrNotFound means that the workspace has no such entry, or not any more.
var ErrNotFound = api.NotFound("log")

// Parts are the services below, and what slices above do for this one.
type Parts struct {
	Plans    *plan.Service
	Accounts *account.Service
	// Steps tells what was done for a mail beside what its events say: attempts, and posts to webhooks. Nil knows of none.
	Steps func(tx *db.Tx, ws space.ID, email string, events []event.Event) ([]Step, error)
}

// Step is one thing that was done for a mail.
type Step struct {
	Type      string
	At        time.Time
	Recipient string
	Message   string
	Data      map[string]any
}

// Service keeps the tape.
type Service struct {
	world world.World
	db    *db.DB
	parts Parts

	noted chan note
	// notedBytes is how much memory the bodies in noted take.
	notedBytes atomic.Int64
	lost       lost
	writing    sync.Mutex  // held by whoever writes notes
	pending    []Entry     // guarded by writing: made of notes, and not written yet
	swept      queue.Round // of the sweep
}

// New returns the service.
func New(w world.World, d *db.DB, parts Parts) *Service {
	return &Service{world: w, db: d, parts: parts, noted: make(chan note, maxNoted)}
}

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "logs", Gather: event.Leisurely, Prepare: s.follow}}
}

// Writer returns what writes down the requests of this process. It has to run wherever requests are answered.
func (s *Service) Writer() queue.Worker {
	return queue.Worker{Name: "log entries", Step: s.write, Every: writeEvery}
}

// Workers returns what has to run somewhere.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{{Name: "log sweep", Step: s.sweep, Every: sweepEvery, Gentle: true}}
}

// longestKept is how long entries are kept on plans that do not say.
const longestKept = 90 * 24 * time.Hour

// retention is how long the entries of a plan are kept.
func (s *Service) retention(name plan.Name) time.Duration {
	p, err := s.parts.Plans.Get(name)
	if err != nil || p.Limits.LogRetentionDays == nil {
		return longestKept
	}
	return plan.Days(*p.Limits.LogRetentionDays)
}
