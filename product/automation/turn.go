package automation

import (
	"cmp"
	"encoding/json"
	"errors"
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

// turn is the work of one transaction on some runs: it moves each on until it waits, ends, or has something to do outside.
type turn struct {
	service *Service
	tx      *db.Tx
	steps   []taken
	counts  tallies
	events  []event.Event
	done    []string
	jobs    []job
	used    []string // credentials that were shown
	names   map[space.ID]audience.Names
}

// job is a step to be done outside, and the item that is held meanwhile.
type job struct {
	item queue.Item
	run  Run
	// began is when the run came to the step.
	began time.Time
	mail  *letter
	call  *call
}

// outcome is what became of a job.
type outcome struct {
	job
	output any
	// failed is empty if the step was done. again tells that it may be done later.
	failed string
	again  bool
}

func (s *Service) newTurn(tx *db.Tx) *turn {
	return &turn{service: s, tx: tx, counts: tallies{}, names: map[space.ID]audience.Names{}}
}

// meets tells whether rules are true of a run. What the rules can name is read once for all runs of a workspace.
func (t *turn) meets(r *Run, rules json.RawMessage) (bool, error) {
	names, known := t.names[r.Workspace]
	if !known {
		var err error
		if names, err = t.service.parts.Audience.Names(t.tx, r.Workspace); err != nil {
			return false, err
		}
		t.names[r.Workspace] = names
	}
	contact := r.Contact
	if !flow.AboutContact(rules) {
		contact = "" // nothing of it needs to be read
	}
	met, err := names.Matches(t.tx, r.Workspace, rules, contact, facts(r.Payload).comparable())
	if isAnswer(err) { // the contact or what the rules name is gone
		return false, nil
	}
	return met, err
}

// isAnswer tells an answer to whoever asked from trouble of ours.
func isAnswer(err error) bool {
	var public *api.Error
	return errors.As(err, &public) && public.Status < 500
}

// sentence is what an answer says, for people.
func sentence(err error) string {
	var public *api.Error
	if errors.As(err, &public) {
		return public.Summary()
	}
	return "Something went wrong on our side."
}

// advance moves a run on that the transaction has locked and this process holds.
func (t *turn) advance(item queue.Item, r *Run) error {
	graph, err := t.service.graph(t.tx, r.Automation, r.Version)
	if err != nil {
		return err
	}
	w := &walk{turn: t, graph: graph, run: r}
	for range flow.MaxSteps + 1 { // every circle has a delay, so no run does more in one turn
		if r.Status != Running {
			break
		}
		if r.Step == "" {
			t.end(r, Completed)
			break
		}
		node := graph.Step(r.Step)
		if err := w.arrive(node); err != nil {
			return err
		}
		if r.Status != Running {
			break
		}
		stays, err := w.do(item, node)
		if err != nil {
			return err
		}
		if stays {
			break
		}
	}
	return t.put(item, r)
}

// endStopped cancels, of runs that are to go on, those whose automation was stopped after they began.
func (t *turn) endStopped(runs map[RunID]*Run) error {
	var automations []ID
	for _, r := range runs {
		if r.Status == Running && !slices.Contains(automations, r.Automation) {
			automations = append(automations, r.Automation)
		}
	}
	if len(automations) == 0 {
		return nil
	}
	stops, err := selectStops(t.tx, automations)
	if err != nil {
		return err
	}
	var stopped []string
	for id, r := range runs {
		if r.Status == Running && r.Stops < stops[r.Automation] {
			stopped = append(stopped, string(id))
		}
	}
	slices.Sort(stopped) // the same world does the same in the same order
	return t.cancel(runs, stopped)
}

// cancel cancels those of some runs, which the transaction has locked, that go on.
func (t *turn) cancel(runs map[RunID]*Run, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		r := runs[RunID(id)]
		if r == nil || r.Status != Running {
			continue
		}
		t.end(r, Cancelled)
		if err := t.put(queue.Item{ID: id}, r); err != nil {
			return err
		}
	}
	return deleteWaits(t.tx, ids)
}

// put writes a run down, and gives its item back or removes it. An item with a job is kept.
func (t *turn) put(item queue.Item, r *Run) error {
	if err := updateRun(t.tx, r); err != nil {
		return err
	}
	switch {
	case r.Status != Running:
		t.done = append(t.done, item.ID)
		return t.release(r)
	case len(t.jobs) > 0 && t.jobs[len(t.jobs)-1].run.ID == r.ID:
	default:
		due := r.ResumeAt
		if due.IsZero() {
			due = t.tx.Now()
		}
		_, err := queue.Postpone(t.tx, item, due)
		return err
	}
	return nil
}

// end settles a run that is over.
func (t *turn) end(r *Run, status RunStatus) {
	t.counts.add(r, Running, -1)
	t.counts.add(r, status, 1)
	r.Status, r.CompletedAt, r.ResumeAt = status, t.tx.Now(), time.Time{}
	if status == Completed {
		r.Step = ""
	}
	if status != Cancelled {
		t.events = append(t.events, t.service.ended(r, t.tx.Now()))
	}
}

// failRun ends a run that cannot go on.
func (t *turn) failRun(r *Run, code, message string) {
	r.Failure = &failure{r.Step, code, message}
	t.end(r, Failed)
}

// save writes what all runs of the turn did.
func (t *turn) save() error {
	if len(t.steps) > 0 {
		if err := insertTaken(t.tx, t.steps); err != nil {
			return err
		}
	}
	if err := noteUsed(t.tx, t.used); err != nil {
		return err
	}
	if err := t.counts.save(t.tx); err != nil {
		return err
	}
	if err := event.Append(t.tx, t.events...); err != nil {
		return err
	}
	if len(t.done) == 0 {
		return nil
	}
	return queue.Finish(t.tx, t.done...)
}

// settle takes what became of a step outside, unless the run has gone on without it.
func (t *turn) settle(o outcome, r *Run) error {
	if r == nil || r.Status != Running {
		t.done = append(t.done, o.item.ID)
		return nil
	}
	if r.Step != o.run.Step || r.Pass != o.run.Pass || r.Tries != o.run.Tries {
		// Whoever moved the run on could not give its item back if this claim holds it, and nobody else ever would.
		_, err := queue.Postpone(t.tx, o.item, t.tx.Now())
		return err
	}
	graph, err := t.service.graph(t.tx, r.Automation, r.Version)
	if err != nil {
		return err
	}
	node := graph.Step(r.Step)
	if o.call != nil && o.call.credential != nil {
		t.used = append(t.used, o.call.credential.ID)
	}
	if o.failed != "" && o.again && r.Tries < mostTries(node) {
		r.Tries++
		r.ResumeAt = t.tx.Now().Add(t.service.world.Jitter(retryAfter(r.Tries), retryJitter))
		return t.put(o.item, r)
	}
	if o.call != nil && r.forgotSince(&o.run) {
		o.output = nil // the answer may repeat what it was asked with
		if o.failed != "" {
			o.failed = messageDeleted
		}
	}
	w := &walk{turn: t, graph: graph, run: r, began: o.began}
	r.ResumeAt = time.Time{}
	if o.failed == "" {
		w.record(node, StepCompleted, o.output, "")
		w.leave(node, flow.Default, "")
		return t.advance(o.item, r)
	}
	w.record(node, StepFailed, o.output, o.failed)
	if node.Next(flow.Failed, "") != "" {
		w.leave(node, flow.Failed, "")
		return t.advance(o.item, r)
	}
	code := stepFailed
	if node.Type == flow.HTTPRequest {
		code = httpFailed
	}
	t.failRun(r, code, o.failed)
	return t.put(o.item, r)
}

// release lets the contact of a run that has ended begin again, if the rules allow it.
func (t *turn) release(r *Run) error {
	if r.Test {
		return nil
	}
	return leave(t.tx, r)
}

const (
	// mailTries is how often a mail is handed in again while that cannot be done for reasons of ours.
	mailTries   = 8
	firstRetry  = 10 * time.Second
	longest     = 15 * time.Minute
	retryJitter = 0.2
)

func mostTries(node *flow.Node) int64 {
	if node.Type == flow.HTTPRequest {
		return int64(node.Config.Request.Retry)
	}
	return mailTries
}

// retryAfter grows from ten seconds to a quarter of an hour.
func retryAfter(tries int64) time.Duration {
	return min(longest, firstRetry<<min(tries-1, 10))
}

func compareTally(a, b tallyKey) int {
	return cmp.Or(cmp.Compare(a.automation, b.automation), cmp.Compare(a.version, b.version), cmp.Compare(a.status, b.status))
}

// shown is a value as it is kept with a step.
func shown(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	return json.RawMessage(db.JSON(value))
}
