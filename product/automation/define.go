package automation

import (
	"context"
	"encoding/json"
	"fmt"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/automation/internal/flow"
	"postrider/product/plan"
)

const (
	maxName        = 120
	maxDescription = 500
	maxMetadata    = 16 << 10
	maxNote        = 500
)

// change is what a customer asks an automation to be. What it does not say stays.
type change struct {
	Name        api.Optional[string]            `json:"name" doc:"1 to 120 characters." example:"Welcome series"`
	Description api.Optional[string]            `json:"description" example:"For everybody who signs up"`
	Status      string                          `json:"status" doc:"enabled validates and publishes the draft at once." example:"disabled"`
	Enabled     *bool                           `json:"enabled" doc:"Another way to say status."`
	Triggers    api.Optional[[]triggerWish]     `json:"triggers" doc:"Instead of steps of type trigger."`
	Steps       api.Optional[[]flow.Step]       `json:"steps" doc:"At most 150; steps and connections are changed together." example:"[{\"key\":\"start\",\"type\":\"trigger\",\"config\":{\"event_name\":\"user.signed_up\"}},{\"key\":\"wait\",\"type\":\"delay\",\"config\":{\"duration\":\"3 days\"}}]"`
	Connections api.Optional[[]flow.Connection] `json:"connections"`
	Metadata    api.Optional[map[string]any]    `json:"metadata" example:"{}"`
	Note        string                          `json:"note" doc:"A remark on the version, if one is published."`
}

// triggerWish is a trigger that does not stand among the steps.
type triggerWish struct {
	raw json.RawMessage
}

// UnmarshalJSON keeps the trigger as it is: it is the config of a step.
func (t *triggerWish) UnmarshalJSON(raw []byte) error {
	t.raw = append(json.RawMessage(nil), raw...)
	return nil
}

// JSONSchema describes a trigger.
func (triggerWish) JSONSchema() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{"key": map[string]any{"type": "string"}, "event_name": map[string]any{"type": "string"}}}
}

func (c change) apply(wrong *api.Fields, a *Automation) {
	if c.Name.Set && c.Name.Value != "" {
		a.Name = api.CheckLine(wrong, "name", c.Name.Value, maxName)
	}
	if a.Name == "" {
		wrong.Add("name", "A name is required.")
	}
	if c.Description.Set {
		a.Description = api.CheckText(wrong, "description", c.Description.Value, maxDescription)
	}
	if c.Metadata.Set {
		a.Metadata = c.Metadata.Value
		if raw, err := json.Marshal(a.Metadata); err != nil || len(raw) > maxMetadata {
			wrong.Add("metadata", fmt.Sprintf("Must have at most %d bytes.", maxMetadata))
		}
	}
	api.CheckText(wrong, "note", c.Note, maxNote)
	switch c.Status {
	case "", string(Enabled), string(Disabled):
	default:
		wrong.Add("status", "Must be enabled or disabled.")
	}
	c.applyDraft(wrong, a)
}

func (c change) applyDraft(wrong *api.Fields, a *Automation) {
	if !c.Steps.Set && !c.Connections.Set && !c.Triggers.Set {
		return
	}
	if c.Connections.Set && !c.Steps.Set {
		wrong.Add("steps", "Steps and connections are changed together.")
		return
	}
	if c.Steps.Set && !c.Connections.Set && len(a.Draft.Connections) > 0 {
		wrong.Add("connections", "Steps and connections are changed together.")
		return
	}
	draft := a.Draft
	if c.Steps.Set {
		draft = flow.Definition{Steps: c.Steps.Value, Connections: c.Connections.Value}
	}
	if c.Triggers.Set {
		draft = withTriggers(wrong, draft, c.Triggers.Value, !c.Steps.Set)
	}
	for i := range draft.Connections {
		if draft.Connections[i].Type == "" {
			draft.Connections[i].Type = flow.Default
		}
	}
	tellProblems(wrong, flow.CheckDraft(draft))
	a.Draft, a.DraftChanged = draft, true
}

// withTriggers makes steps of triggers that stand beside them. Without steps of their own they replace those that were there; new
// ones lead to the first step, unless a connection says otherwise.
func withTriggers(wrong *api.Fields, d flow.Definition, triggers []triggerWish, replace bool) flow.Definition {
	var steps []flow.Step
	for i, t := range triggers {
		var named struct {
			Key       string `json:"key"`
			Type      string `json:"type"`
			EventName string `json:"event_name"`
		}
		if err := json.Unmarshal(t.raw, &named); err != nil {
			wrong.Add(fmt.Sprintf("triggers[%d]", i), "Must be an object with an event_name.")
			continue
		}
		if named.Key == "" {
			named.Key = fmt.Sprintf("trigger_%d", i+1)
		}
		steps = append(steps, flow.Step{Key: named.Key, Type: flow.Trigger, Config: t.raw})
	}
	for _, step := range d.Steps {
		if replace && step.Type == flow.Trigger {
			continue
		}
		steps = append(steps, step)
	}
	connections := d.Connections
	for _, trigger := range steps {
		if trigger.Type != flow.Trigger || leaves(connections, trigger.Key) {
			continue
		}
		if entry := firstStep(steps); entry != "" {
			connections = append(connections, flow.Connection{From: trigger.Key, To: entry, Type: flow.Default})
		}
	}
	return flow.Definition{Steps: steps, Connections: connections}
}

func leaves(connections []flow.Connection, key string) bool {
	for _, c := range connections {
		if c.From == key {
			return true
		}
	}
	return false
}

func firstStep(steps []flow.Step) string {
	for _, step := range steps {
		if step.Type != flow.Trigger {
			return step.Key
		}
	}
	return ""
}

func tellProblems(wrong *api.Fields, problems []flow.Problem) {
	for _, p := range problems {
		wrong.Add(p.Path, p.Message)
	}
}

// wish returns the status that is asked for; empty if none is.
func (c change) wish() Status {
	switch {
	case c.Status != "":
		return Status(c.Status)
	case c.Enabled == nil:
		return ""
	case *c.Enabled:
		return Enabled
	}
	return Disabled
}

func (s *Service) create(ctx context.Context, caller api.Caller, body change) (a Automation, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a = Automation{ID: a.ID, Workspace: caller.Workspace, Status: Disabled, Draft: flow.Definition{}, Metadata: map[string]any{}, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if a.ID == "" {
			a.ID = ID(s.world.NewID())
		}
		var wrong api.Fields
		body.apply(&wrong, &a)
		a.DraftChanged = true
		if err := wrong.Err(); err != nil {
			return err
		}
		if err := insertAutomation(tx, a); err != nil {
			return err
		}
		if body.wish() == Enabled {
			if err := s.publish(tx, &a, publication{note: body.Note, by: caller}); err != nil {
				return err
			}
		}
		return s.settle(tx, caller, &a, body.wish(), Disabled)
	})
	return a, err
}

func (s *Service) update(ctx context.Context, caller api.Caller, id string, body change) (a Automation, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if a, err = lockAutomation(tx, caller.Workspace, id); err != nil {
			return err
		}
		if a.Status == Archived {
			return api.ErrInvalidState.With("current", a.Status).With("allowed", []Status{Enabled, Disabled})
		}
		before := a.Status
		var wrong api.Fields
		body.apply(&wrong, &a)
		if err := wrong.Err(); err != nil {
			return err
		}
		if body.wish() == Enabled && (a.DraftChanged || a.Published == 0) {
			if err := s.publish(tx, &a, publication{note: body.Note, by: caller}); err != nil {
				return err
			}
		}
		return s.settle(tx, caller, &a, body.wish(), before)
	})
	return a, err
}

// settle writes an automation that the transaction has locked, with the status that is wished for and everything that follows from it.
func (s *Service) settle(tx *db.Tx, caller api.Caller, a *Automation, wish, before Status) error {
	if wish != "" {
		a.Status = wish
	}
	if a.Status == Enabled && before != Enabled {
		p, err := s.parts.Plans.Get(plan.Name(caller.Plan))
		if err != nil {
			return err
		}
		counted, err := total.Up(tx, a.Workspace, p.Limits.Automations)
		if err != nil {
			return err
		}
		if !counted {
			used, err := total.Of(tx, a.Workspace)
			if err != nil {
				return err
			}
			return ErrQuota.With("plan", p.Name).With("limit", *p.Limits.Automations).With("used", used)
		}
	}
	if a.Status != Enabled && before == Enabled {
		if err := total.Down(tx, a.Workspace); err != nil {
			return err
		}
	}
	a.UpdatedAt = tx.Now()
	if err := updateAutomation(tx, *a); err != nil {
		return err
	}
	return s.listen(tx, *a)
}

func author(caller api.Caller) string {
	if caller.UserID != "" {
		return caller.UserID
	}
	return caller.KeyID
}
