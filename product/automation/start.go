package automation

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/queue"
	"postrider/platform/space"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// Guards against automations that feed each other.
const (
	// maxDepth is how many runs may lead to each other by the events they send.
	maxDepth = 10
	// maxStarts is how often a contact may begin one automation in an hour. Runs that change a contact whose changes begin runs are
	// stopped by it.
	maxStarts    = 100
	startsPeriod = time.Hour
)

// happening is an event that may begin runs and end waits.
type happening struct {
	workspace space.ID
	name      string
	id        string
	kind      string
	contact   audience.ContactID
	email     string
	payload   map[string]any
	// at is when it happened if that is not now.
	at        time.Time
	depth     int64
	simulated bool
}

// begun is what an event led to.
type begun struct {
	matched []ID
	runs    []*Run
}

func (b begun) ids() []RunID {
	ids := make([]RunID, len(b.runs))
	for i, r := range b.runs {
		ids[i] = r.ID
	}
	return ids
}

// occur lets an event happen: automations that wait for it begin, runs that wait for it go on.
func (s *Service) occur(tx *db.Tx, h happening) (begun, error) {
	listeners, err := selectListeners(tx, h.workspace, h.name)
	if err != nil {
		return begun{}, err
	}
	b, err := s.begin(tx, h, listeners)
	if err != nil {
		return b, err
	}
	return b, s.resume(tx, h)
}

// begin starts a run for each trigger that takes the event.
func (s *Service) begin(tx *db.Tx, h happening, listeners []listener) (b begun, err error) {
	for _, l := range listeners {
		r, err := s.enter(tx, h, l)
		if err != nil {
			return b, err
		}
		if r == nil {
			continue
		}
		b.runs = append(b.runs, r)
		if !slices.Contains(b.matched, l.automation) {
			b.matched = append(b.matched, l.automation)
		}
	}
	if err := s.write(tx, b.runs); err != nil {
		return b, err
	}
	return b, noteHeard(tx, h, b.ids()...)
}

// enter makes the run of a trigger; nil if the trigger does not take the event.
func (s *Service) enter(tx *db.Tx, h happening, l listener) (*Run, error) {
	graph, err := s.graph(tx, l.automation, l.version)
	if err != nil {
		return nil, err
	}
	node := graph.Step(l.step)
	if node == nil || h.contact == "" && (graph.NeedsContact || flow.AboutContact(node.Config.Rules)) {
		return nil, nil
	}
	if matches, err := s.matches(tx, h.workspace, node.Config.Rules, h.contact, h.payload); err != nil || !matches {
		return nil, err
	}
	r := &Run{ID: RunID(s.world.NewID()), Workspace: h.workspace, Automation: l.automation, Version: l.version, Status: Running, Simulated: h.simulated,
		Contact: h.contact, Email: h.email, Cause: cause{Type: h.kind, EventName: h.name, EventID: api.Ref(h.id)}, Payload: h.payload, Depth: h.depth, Step: l.step, StartedAt: tx.Now(), Stops: l.stops}
	starts, err := admit(tx, r, node.Config.ReEntry)
	if err != nil || starts == 0 {
		return nil, err
	}
	if starts > maxStarts+1 {
		return nil, leave(tx, r) // nobody will end a run that is not begun
	}
	switch {
	case h.depth > maxDepth:
		r.fail(tx.Now(), failure{l.step, loopDetected, fmt.Sprintf("Runs led to each other by their events more than %d times.", maxDepth)})
	case starts > maxStarts:
		r.fail(tx.Now(), failure{l.step, tooManyStarts, fmt.Sprintf("The contact began this automation more than %d times within an hour.", maxStarts)})
	}
	return r, nil
}

// admit returns how often the contact of a run began the automation in the current period, this run included; 0 if it may not begin.
// The runs of test keys take nobody's place: what is tried out must not keep anybody from the real thing.
func admit(tx *db.Tx, r *Run, rule flow.ReEntry) (int64, error) {
	if r.Contact == "" || r.Simulated {
		return 1, nil
	}
	return enter(tx, r, rule, startsPeriod)
}

func (r *Run) fail(at time.Time, why failure) {
	r.Status, r.Failure, r.CompletedAt, r.ResumeAt = Failed, &why, at, time.Time{}
}

// matches tells whether rules, if there are any, are true.
func (s *Service) matches(tx *db.Tx, ws space.ID, rules json.RawMessage, contact audience.ContactID, happened map[string]any) (bool, error) {
	if len(rules) == 0 {
		return true, nil
	}
	met, err := s.parts.Audience.Matches(tx, ws, rules, contact, facts(happened).comparable())
	if isAnswer(err) { // the contact or what the rules name is gone
		return false, nil
	}
	return met, err
}

// write stores runs that begin, with their queue items.
func (s *Service) write(tx *db.Tx, runs []*Run) error {
	if len(runs) == 0 {
		return nil
	}
	if err := insertRuns(tx, runs); err != nil {
		return err
	}
	counts := tallies{}
	var items []queue.Item
	var events []event.Event
	for _, r := range runs {
		counts.add(r, r.Status, 1)
		if r.Status == Running {
			items = append(items, queue.Item{ID: string(r.ID), Lane: Lane, Rank: queue.Normal, Due: tx.Now()})
			continue
		}
		events = append(events, s.ended(r, tx.Now()))
		if err := leave(tx, r); err != nil {
			return err
		}
	}
	if err := counts.save(tx); err != nil {
		return err
	}
	if err := event.Append(tx, events...); err != nil {
		return err
	}
	return queue.Add(tx, items...)
}

// resume lets runs go on that wait for the event.
func (s *Service) resume(tx *db.Tx, h happening) error {
	if h.contact == "" {
		return nil
	}
	ids, err := selectWaits(tx, h.workspace, h.contact, h.name)
	if err != nil || len(ids) == 0 {
		return err
	}
	runs, err := lockRuns(tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r := runs[RunID(id)]
		if r == nil || r.Status != Running || h.simulated && !r.Simulated { // what is tried out moves nothing that counts
			continue
		}
		graph, err := s.graph(tx, r.Automation, r.Version)
		if err != nil {
			return err
		}
		node := graph.Step(r.Step)
		if node == nil || node.Type != flow.WaitForEvent || node.Config.EventName != h.name { // it may have gone on to another wait
			continue
		}
		met, err := s.matches(tx, r.Workspace, node.Config.Rules, r.Contact, h.payload)
		if err != nil {
			return err
		}
		if !met {
			continue
		}
		if err := receive(tx, r.ID, h.payload); err != nil {
			return err
		}
		if err := noteHeard(tx, h, r.ID); err != nil {
			return err
		}
		// An item that is leased is being looked at already; whoever holds it waits for the run's row, and finds what was received.
		if _, err := queue.Reschedule(tx, Lane, id, tx.Now()); err != nil {
			return err
		}
	}
	tx.Wake(Lane.Topic())
	return nil
}

// ended is the event that tells of a run that is over.
func (s *Service) ended(r *Run, at time.Time) event.Event {
	kind := "automation.run.completed"
	if r.Status == Failed {
		kind = "automation.run.failed"
	}
	return event.Event{ID: s.world.NewID(), Workspace: r.Workspace, Type: kind, Subject: string(r.ID), OccurredAt: at, Data: json.RawMessage(db.JSON(newRunEvent(r)))}
}

// tallyKey is what runs are counted by.
type tallyKey struct {
	automation ID
	version    int64
	status     RunStatus
}

// tallies collects what a transaction changes in the counts.
type tallies map[tallyKey]int64

func (t tallies) add(r *Run, status RunStatus, n int64) {
	if !r.Test {
		t[tallyKey{r.Automation, r.Version, status}] += n
	}
}

// save writes the counts in one order, so that transactions do not wait for each other in a circle.
func (t tallies) save(tx *db.Tx) error {
	keys := make([]tallyKey, 0, len(t))
	for key, n := range t {
		if n != 0 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compareTally)
	for _, key := range keys {
		if err := addTally(tx, key, t[key]); err != nil {
			return err
		}
	}
	return nil
}
