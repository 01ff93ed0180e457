// Package guard keeps senders whose mail bounces or is complained about from spoiling the name of everyone else. It warns them, then
// slows them down, then stops them. Mail to the simulator and of test keys counts for nothing.
//
// A subject is a managed customer, or a workspace with all its mail.
//
//	Owns     guard
//	Follows  email.bounced, email.complained
//	Emits    guardrail.warned, guardrail.throttled, guardrail.paused, guardrail.lifted
package guard

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/stats"
	"postrider/product/tenant"
	"postrider/world"
)

// Step is how far a sender was held back.
type Step string

// Steps from the mildest to the hardest.
const (
	Clear     Step = "clear"
	Warned    Step = "warned"
	Throttled Step = "throttled"
	Paused    Step = "paused"
)

var ladder = map[Step]int{Clear: 0, Warned: 1, Throttled: 2, Paused: 3}

func (s Step) harderThan(other Step) bool { return ladder[s] > ladder[other] }

const (
	// lookEvery is how soon new bounces and complaints are judged. The counts of statistics lag behind by less.
	lookEvery = time.Minute
	// freshFor is how long after the last bad news a sender is judged every time.
	freshFor = 10 * time.Minute
	// restEvery is how often it is judged afterwards: counts are kept by quarters of an hour.
	restEvery = 15 * time.Minute
	// calmFor is the shortest time between a step and a milder one, so that nobody goes up and down with every mail.
	calmFor = 6 * time.Hour
	// batch bounds the senders that are judged in one transaction.
	batch = 20
)

// state is what is remembered of a subject.
type state struct {
	subject   string
	workspace space.ID
	step      Step
	// hourly is how many recipients an hour a throttled subject may mail.
	hourly int64
	// judgedFrom is when counting began again, after a person has let a stopped sender go on.
	judgedFrom, steppedAt, heardAt, dueAt time.Time
}

// tenant is the managed customer, or nothing if the subject is the workspace.
func (s state) tenant() string {
	if s.subject == string(s.workspace) {
		return ""
	}
	return s.subject
}

// Service judges senders.
type Service struct {
	world world.World
	db    *db.DB
	parts Parts
	pace  pacer
}

// Parts are the services below.
type Parts struct {
	Stats    *stats.Service
	Tenants  *tenant.Service
	Accounts *account.Service
}

// New returns the service of one process.
func New(w world.World, d *db.DB, parts Parts) *Service {
	return &Service{world: w, db: d, parts: parts}
}

// Followers returns what reads the record of events.
func (s *Service) Followers() []event.Follower {
	return []event.Follower{{Name: "guard", Gather: event.Leisurely, Types: []string{"email.bounced", "email.complained"}, Handle: hear}}
}

// Workers returns what judges senders.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{{Name: "guardrails", Every: lookEvery, Step: s.Step}}
}

// hear notes who has bounces and complaints; they are judged soon.
func hear(tx *db.Tx, events []event.Event) error {
	var heard []state
	seen := map[string]bool{}
	for _, e := range events {
		for _, subject := range []string{string(e.Workspace), e.Tenant} {
			if subject != "" && !seen[subject] {
				seen[subject] = true
				heard = append(heard, state{subject: subject, workspace: e.Workspace, step: Clear, heardAt: tx.Now(), dueAt: tx.Now().Add(lookEvery)})
			}
		}
	}
	return upsertHeard(tx, heard)
}
