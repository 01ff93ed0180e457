package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
	"postrider/product/email"
	"postrider/product/plan"
)

// trialBody is what a test run is about.
type trialBody struct {
	ContactID  string         `json:"contact_id" doc:"A contact to run with; it is not changed."`
	Email      string         `json:"email" doc:"A contact to run with, or an address that is none." example:"ann@example.net"`
	Contact    map[string]any `json:"contact" doc:"What variables say of a contact that is not stored. Conditions about it are not met."`
	Payload    facts          `json:"payload" doc:"What steps see as event." example:"{\"plan\":\"pro\",\"seats\":3}"`
	Version    versionWish    `json:"version"`
	SkipDelays *bool          `json:"skip_delays" doc:"False ends the test at the first wait." example:"true"`
	DeliverTo  string         `json:"deliver_to" doc:"Where mail of the test goes; without it none is sent." example:"me@acme.test"`
}

// versionWish is the number of a version, or the word draft.
type versionWish struct{ number int64 }

// UnmarshalJSON reads either.
func (v *versionWish) UnmarshalJSON(raw []byte) error {
	if text := string(raw); text == `"draft"` || text == "null" || text == `""` {
		return nil
	}
	if err := json.Unmarshal(raw, &v.number); err != nil || v.number < 1 {
		return errors.New(`must be the number of a version, or "draft"`)
	}
	return nil
}

// JSONSchema describes both.
func (versionWish) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "integer", "minimum": 1}, map[string]any{"const": "draft"}}}
}

// trial is a test run: it goes through the steps at once, touches nothing, and tells what would happen.
type trial struct {
	service *Service
	run     Run
	graph   *flow.Graph
	steps   []taken
	contact map[string]any
	letters map[int]*letter // mails to be sent, by the index of their step
	waits   bool
	plan    plan.Name
}

func (s *Service) test(ctx context.Context, caller api.Caller, id string, body trialBody) (record RunRecord, err error) {
	said := sending{ContactID: body.ContactID, Email: body.Email, Payload: body.Payload}
	if err := said.check(s.world.Clock.Now()); err != nil {
		return record, err
	}
	var deliverTo address.Address
	if body.DeliverTo != "" {
		if deliverTo, err = address.Parse(body.DeliverTo); err != nil {
			return record, api.Invalid("deliver_to", fmt.Sprintf("Not an email address: %s.", err))
		}
	}
	t := &trial{service: s, letters: map[int]*letter{}, waits: body.SkipDelays != nil && !*body.SkipDelays, plan: plan.Name(caller.Plan)}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if err := s.parts.Accounts.RequireVerified(tx, caller); err != nil {
			return err
		}
		if err := t.prepare(tx, caller, id, body, said); err != nil {
			return err
		}
		return t.walk(tx)
	})
	if err != nil {
		return record, err
	}
	if body.DeliverTo != "" {
		t.deliver(ctx, caller, deliverTo)
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := insertRuns(tx, []*Run{&t.run}); err != nil {
			return err
		}
		return insertTaken(tx, t.steps)
	})
	return newRunRecord(t.run, t.steps, nil), err
}

// prepare finds what the test is about.
func (t *trial) prepare(tx *db.Tx, caller api.Caller, id string, body trialBody, said sending) error {
	a, err := findAutomation(tx, caller.Workspace, id)
	if err != nil {
		return err
	}
	definition := a.Draft
	if body.Version.number > 0 {
		v, err := findVersion(tx, a.ID, body.Version.number)
		if err != nil {
			return err
		}
		definition = v.Definition
	}
	if t.graph, err = t.service.validate(tx, a.Workspace, definition); err != nil {
		return err
	}
	t.run = Run{ID: RunID(t.service.world.NewID()), Workspace: a.Workspace, Automation: a.ID, Version: body.Version.number, Status: Running, Test: true, Simulated: caller.Test,
		Email: said.Email, Cause: cause{Type: "test", EventName: entrance(t.graph).Config.EventName}, Payload: said.Payload, Step: entrance(t.graph).Key, StartedAt: tx.Now()}
	t.contact = orEmpty(body.Contact)
	if name := first(said.ContactID, said.Email); name != "" {
		c, err := t.service.parts.Audience.Find(tx, a.Workspace, name)
		switch {
		case err == nil:
			t.run.Contact, t.run.Email = c.ID, c.Address
			if t.contact, err = t.service.contactValues(tx, a.Workspace, c.ID); err != nil {
				return err
			}
		case !errors.Is(err, audience.ErrContactNotFound):
			return err
		case said.ContactID != "":
			return api.Invalid("contact_id", "There is no such contact.")
		default:
			t.contact["email"] = said.Email
		}
	}
	if address, ok := t.contact["email"].(string); ok {
		t.run.Email = address
	}
	return nil
}

// walk goes through the steps until the end, or until one stops it.
func (t *trial) walk(tx *db.Tx) error {
	passes := map[string]int{}
	for t.run.Step != "" && t.run.Status == Running {
		node := t.graph.Step(t.run.Step)
		if passes[node.Key]++; passes[node.Key] > flow.MaxPasses {
			t.run.fail(tx.Now(), failure{node.Key, tooManyPasses, fmt.Sprintf("The run came to this step more than %d times.", flow.MaxPasses)})
			break
		}
		if err := t.pretend(tx, node); err != nil {
			return err
		}
	}
	if t.run.Status == Running {
		t.run.Status, t.run.CompletedAt = Completed, tx.Now()
	}
	return nil
}

func (t *trial) note(tx *db.Tx, node *flow.Node, status StepStatus, output any) {
	step := taken{Run: t.run.ID, Number: t.run.Taken, Key: node.Key, Type: string(node.Type), Status: status, Output: shown(output), StartedAt: tx.Now()}
	if status != StepWaiting {
		step.CompletedAt = tx.Now()
	}
	t.run.Taken++
	t.steps = append(t.steps, step)
}

// pretend notes what a step would do, and goes on.
func (t *trial) pretend(tx *db.Tx, node *flow.Node) error {
	scope := flow.Scope{"event": t.run.Payload, "contact": t.contact, "steps": outputs(t.steps)}
	way, branch := flow.Default, ""
	output := map[string]any{"dry_run": true}
	status := StepCompleted
	switch node.Type {
	case flow.Delay, flow.WaitForEvent:
		output["duration"] = node.Config.Duration.String()
		status = StepSkipped
		if node.Type == flow.WaitForEvent {
			way = flow.Received
		}
		if t.waits {
			t.note(tx, node, StepWaiting, output)
			t.run.Step = ""
			return nil
		}
	case flow.Condition:
		met, err := t.service.matches(tx, t.run.Workspace, node.Config.Rules, t.run.Contact, t.run.Payload)
		if err != nil {
			return err
		}
		way, output = flow.NotMet, map[string]any{"met": met}
		if met {
			way = flow.Met
		}
	case flow.Split:
		branch = node.Choose(string(t.run.ID))
		way, output = flow.AlongABranch, map[string]any{"branch": branch}
	case flow.SendEmail:
		t.pretendMail(node, scope, output)
	case flow.HTTPRequest:
		q := node.Config.Request
		c := newCall(q, scope, "")
		output["request"] = map[string]any{"method": c.method, "url": c.url, "query": c.query, "headers": c.header, "body": scope.Resolve(q.Body), "credential_id": q.CredentialID}
	case flow.EmitEvent:
		output["event"], output["payload"] = node.Config.EventName, scope.Resolve(orEmpty(node.Config.Values))
	case flow.ContactUpdate:
		output["change"] = scope.Resolve(orEmpty(node.Config.Values))
	}
	t.note(tx, node, status, output)
	t.run.Step = node.Next(way, branch)
	if node.Type == flow.Exit {
		t.run.Step = ""
	}
	return nil
}

func (t *trial) pretendMail(node *flow.Node, scope flow.Scope, output map[string]any) {
	c := audience.Contact{ID: t.run.Contact, Workspace: t.run.Workspace, Address: first(t.run.Email, "nobody@example.com")}
	c.FirstName, _ = t.contact["first_name"].(string)
	c.LastName, _ = t.contact["last_name"].(string)
	l, err := t.service.newLetter(t.run.Workspace, t.plan, node.Config.Mail, scope, c)
	if err != nil {
		output["problem"] = "The contact has no address that mail can be sent to."
		return
	}
	output["to"], output["template"] = c.Address, node.Config.Mail.Template
	t.letters[len(t.steps)] = l
}

// deliver sends the mails of the test to whoever wants to look at them.
func (t *trial) deliver(ctx context.Context, caller api.Caller, to address.Address) {
	for i := range t.steps {
		l := t.letters[i]
		if l == nil {
			continue
		}
		d, err := t.service.draft(ctx, l)
		var receipt email.Receipt
		if err == nil {
			d.To, d.Subject, d.ListUnsubscribe, d.Topic = []address.Address{to}, "[Test] "+d.Subject, false, ""
			receipt, _, err = t.service.parts.Emails.Accept(ctx, email.SenderOf(caller, email.SourceTest), d, api.Idempotency{})
		}
		if err != nil {
			t.steps[i].Status, t.steps[i].Failure = StepFailed, sentence(err)
			t.run.fail(t.service.world.Clock.Now(), failure{t.steps[i].Key, stepFailed, sentence(err)})
			return
		}
		t.steps[i].Output = shown(map[string]any{"email_id": string(receipt.ID), "delivered_to": to.Addr()})
	}
}
