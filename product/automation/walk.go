package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
)

// walk is one run inside a turn.
type walk struct {
	*turn
	graph *flow.Graph
	run   *Run

	began time.Time // when the run came to the current step
	past  []taken   // steps of earlier turns, read when somebody asks
	known bool      // past has been read
}

// arrive counts how often a run has come to a step. Only a graph with circles has to look.
func (w *walk) arrive(node *flow.Node) error {
	r := w.run
	w.began = w.tx.Now()
	if node == nil {
		w.failRun(r, internalError, "The step is gone.")
		return nil
	}
	if r.Pass > 0 { // it came here in an earlier turn
		return nil
	}
	r.Pass = 1
	if !w.graph.Cyclic {
		return nil
	}
	steps, err := w.history()
	if err != nil {
		return err
	}
	for _, t := range steps {
		if t.Key == r.Step {
			r.Pass++
		}
	}
	if r.Pass > flow.MaxPasses {
		w.failRun(r, tooManyPasses, fmt.Sprintf("The run came to this step more than %d times.", flow.MaxPasses))
	}
	return nil
}

// history returns all steps of the run so far, those of this turn included.
func (w *walk) history() ([]taken, error) {
	if !w.known {
		past, err := selectTaken(w.tx, w.run.ID)
		if err != nil {
			return nil, err
		}
		w.past, w.known = past, true
	}
	all := slices.Clone(w.past)
	for _, t := range w.steps {
		switch {
		case t.Run != w.run.ID:
		case t.Number < int64(len(all)): // a wait that is over
			all[t.Number] = t
		default:
			all = append(all, t)
		}
	}
	return all, nil
}

// record writes a step down that has been done.
func (w *walk) record(node *flow.Node, status StepStatus, output any, problem string) {
	t := taken{Run: w.run.ID, Number: w.run.Taken, Key: node.Key, Type: string(node.Type), Status: status, Output: shown(output), Failure: problem, StartedAt: w.began}
	if t.StartedAt.IsZero() {
		t.StartedAt = w.tx.Now()
	}
	if status != StepWaiting {
		t.CompletedAt = w.tx.Now()
		w.run.Taken++
	}
	w.steps = append(w.steps, t)
}

// leave goes on along a way.
func (w *walk) leave(node *flow.Node, way flow.Way, branch string) {
	r := w.run
	r.Step, r.Pass, r.Tries, r.ResumeAt = node.Next(way, branch), 0, 0, time.Time{}
}

// do does a step. It tells whether the run stays there.
func (w *walk) do(item queue.Item, node *flow.Node) (stays bool, err error) {
	switch node.Type {
	case flow.Delay:
		return w.delay(node), nil
	case flow.WaitForEvent:
		return w.await(node)
	case flow.SendEmail:
		return w.prepareMail(item, node)
	case flow.HTTPRequest:
		return true, w.prepareCall(item, node)
	case flow.Condition:
		met, err := w.meets(w.run, node.Config.Rules)
		if err != nil {
			return false, err
		}
		way := flow.NotMet
		if met {
			way = flow.Met
		}
		w.record(node, StepCompleted, map[string]any{"met": met}, "")
		w.leave(node, way, "")
	case flow.Split:
		branch := node.Choose(string(w.run.ID))
		w.record(node, StepCompleted, map[string]any{"branch": branch}, "")
		w.leave(node, flow.AlongABranch, branch)
	case flow.Trigger:
		w.record(node, StepCompleted, nil, "")
		w.leave(node, flow.Default, "")
	case flow.Exit:
		w.record(node, StepCompleted, nil, "")
		w.run.Step = ""
	default:
		return false, w.change(node)
	}
	return false, nil
}

// delay begins a wait, or ends one whose time has come.
func (w *walk) delay(node *flow.Node) (stays bool) {
	r := w.run
	if r.ResumeAt.IsZero() {
		r.ResumeAt = w.tx.Now().Add(node.Config.Duration)
		w.record(node, StepWaiting, nil, "")
		return true
	}
	if r.ResumeAt.After(w.tx.Now()) {
		return true
	}
	w.record(node, StepCompleted, nil, "")
	w.leave(node, flow.Default, "")
	return false
}

// await begins to wait for an event, or ends the wait: the event has come, or the time is over.
func (w *walk) await(node *flow.Node) (stays bool, err error) {
	r := w.run
	if r.ResumeAt.IsZero() {
		r.ResumeAt = w.tx.Now().Add(node.Config.Duration)
		w.record(node, StepWaiting, nil, "")
		return true, insertWait(w.tx, r, node.Config.EventName)
	}
	over := !r.ResumeAt.After(w.tx.Now())
	received, err := hasReceived(w.tx, r.ID)
	if err != nil || !over && !received {
		return true, err
	}
	said, ok, err := takeWait(w.tx, r.ID)
	if err != nil {
		return false, err
	}
	if ok {
		w.record(node, StepCompleted, map[string]any{"event": said}, "")
		w.leave(node, flow.Received, "")
		return false, nil
	}
	w.record(node, StepCompleted, map[string]any{"timeout": true}, "")
	w.leave(node, flow.TimedOut, "")
	return false, nil
}

// change does a step that changes a contact or sends an event, in this transaction.
func (w *walk) change(node *flow.Node) error {
	output, err := w.apply(node)
	if err != nil && !isAnswer(err) {
		return err
	}
	if err != nil {
		problem := sentence(err)
		if errors.Is(err, audience.ErrContactNotFound) {
			problem = "The contact, or what the step names, is gone."
		}
		w.record(node, StepFailed, nil, problem)
		w.failRun(w.run, stepFailed, problem)
		return nil
	}
	w.record(node, StepCompleted, output, "")
	w.leave(node, flow.Default, "")
	return nil
}

func (w *walk) apply(node *flow.Node) (any, error) {
	people, r, c := w.service.parts.Audience, w.run, node.Config
	var err error
	switch node.Type {
	case flow.ContactUpdate:
		change, err := w.contactChange(c.Values)
		if err != nil {
			return nil, err
		}
		_, err = people.Change(w.tx, r.Workspace, r.Contact, change)
		return nil, err
	case flow.ContactDelete:
		err = people.Delete(w.tx, r.Workspace, r.Contact)
	case flow.AddToSegment:
		_, err = people.Change(w.tx, r.Workspace, r.Contact, audience.Change{Segments: []string{c.SegmentID}})
	case flow.RemoveFromSegment:
		_, err = people.LeaveSegment(w.tx, r.Workspace, r.Contact, c.SegmentID)
	case flow.AddToList:
		_, err = people.Change(w.tx, r.Workspace, r.Contact, audience.Change{Lists: []string{c.ListID}})
	case flow.RemoveFromList:
		_, err = people.LeaveList(w.tx, r.Workspace, r.Contact, c.ListID)
	case flow.SetTopic:
		_, err = people.Change(w.tx, r.Workspace, r.Contact, audience.Change{Topics: map[string]audience.Subscription{c.TopicID: audience.Subscription(c.Subscription)}})
	case flow.EmitEvent:
		return w.emit(node)
	}
	return nil, err
}

// contactChange fills in the variables of an update.
func (w *walk) contactChange(values map[string]any) (change audience.Change, err error) {
	scope, err := w.scope()
	if err != nil {
		return change, err
	}
	filled, _ := scope.Resolve(values).(map[string]any)
	if text, ok := filled["first_name"]; ok {
		first := flow.Text(text)
		change.FirstName = &first
	}
	if text, ok := filled["last_name"]; ok {
		last := flow.Text(text)
		change.LastName = &last
	}
	switch truth := filled["unsubscribed"].(type) {
	case nil:
	case bool:
		change.Unsubscribed = &truth
	default: // to go on would mail somebody who was to be left alone
		return change, api.Invalid("unsubscribed", "Must be true or false.")
	}
	if properties, ok := filled["properties"].(map[string]any); ok {
		change.Properties = map[string]json.RawMessage{}
		for key, value := range properties {
			change.Properties[key] = json.RawMessage(db.JSON(value))
		}
	}
	return change, nil
}

// emit sends an event of the customer's own. What it begins is one deeper than this run.
func (w *walk) emit(node *flow.Node) (any, error) {
	scope, err := w.scope()
	if err != nil {
		return nil, err
	}
	payload, _ := scope.Resolve(orEmpty(node.Config.Values)).(map[string]any)
	r := w.run
	sent, err := w.service.send(w.tx, happening{workspace: r.Workspace, name: node.Config.EventName, id: w.service.world.NewID(), kind: "event", contact: r.Contact,
		email: r.Email, payload: orEmpty(payload), depth: r.Depth + 1, simulated: r.Simulated})
	if err != nil {
		return nil, err
	}
	return map[string]any{"event_id": sent.id, "runs": len(sent.runs)}, nil
}

func orEmpty(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	return values
}
