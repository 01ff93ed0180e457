package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/account"
	"postrider/product/plan"
	"postrider/product/stats"
)

// Step judges some of those whose time has come. It tells whether there may be more.
func (s *Service) Step(ctx context.Context) (bool, error) {
	due := false
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		due, err = hasDue(tx)
		return err
	})
	if err != nil || !due {
		return false, err
	}
	judged := 0
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		list, err := lockDue(tx, batch)
		if err != nil {
			return err
		}
		judged = len(list)
		for _, g := range list {
			if err := s.judge(tx, g); err != nil {
				return fmt.Errorf("judge %s: %w", g.subject, err)
			}
		}
		return nil
	})
	return judged == batch, err
}

// sender is the person or organisation behind a subject.
type sender struct {
	name      string
	createdAt time.Time
	// stopped tells that it cannot send, whoever has stopped it.
	stopped bool
	// exempt is for those who answer for themselves: they are warned and no more.
	exempt bool
}

func (s *Service) senderOf(tx *db.Tx, g state) (who sender, found bool, err error) {
	if g.tenant() != "" {
		t, found, err := s.parts.Tenants.Find(tx, g.workspace, g.tenant())
		return sender{name: t.Name, createdAt: t.CreatedAt, stopped: t.Paused()}, found, err
	}
	w, found, err := s.parts.Accounts.FindWorkspace(tx, g.workspace)
	// A workspace without limits is the operator's own, or one the operator vouches for.
	return sender{name: w.Name, createdAt: w.CreatedAt, stopped: w.Status == account.Suspended, exempt: w.Plan == plan.Unlimited}, found, err
}

// judge looks at one subject, holds it back or lets it go, and says when to look again.
func (s *Service) judge(tx *db.Tx, g state) error {
	who, found, err := s.senderOf(tx, g)
	if err != nil {
		return err
	}
	if !found {
		return deleteState(tx, g.subject)
	}
	now := tx.Now()
	if g.step == Paused && !who.stopped {
		// A person has let it go on, and knows what was. From the next quarter on it is judged anew.
		g.step, g.judgedFrom, g.steppedAt = Clear, stats.NextBucket(now), now
	}
	if !who.stopped {
		if g, err = s.move(tx, g, who); err != nil {
			return err
		}
	}
	switch quiet := now.Sub(g.heardAt); {
	case quiet < freshFor:
		g.dueAt = now.Add(lookEvery)
	case quiet > week && g.step == Clear:
		return deleteState(tx, g.subject)
	default:
		g.dueAt = now.Add(restEvery)
	}
	return updateState(tx, g)
}

// move takes the subject to the step that its mail asks for: up at once, down after a while.
func (s *Service) move(tx *db.Tx, g state, who sender) (state, error) {
	now := tx.Now()
	counts := map[time.Duration]stats.Counts{}
	for _, window := range []time.Duration{day, week} {
		since := now.Add(-window)
		if since.Before(g.judgedFrom) {
			since = g.judgedFrom
		}
		var err error
		if counts[window], err = s.parts.Stats.RealMail(tx, g.workspace, g.tenant(), since); err != nil {
			return g, err
		}
	}
	v := judge(counts[day], counts[week], now.Sub(who.createdAt) < newFor)
	if who.exempt && v.step.harderThan(Warned) {
		v.step = Warned
	}
	if v.step == g.step || g.step.harderThan(v.step) && now.Sub(g.steppedAt) < calmFor {
		return g, nil
	}
	before := g.step
	g.step, g.steppedAt, g.hourly = v.step, now, 0
	if g.step == Throttled {
		g.hourly = hourlyOf(counts[day])
	}
	if g.step == Paused {
		if err := s.stop(tx, g, v.because()); err != nil {
			return g, err
		}
	}
	return g, s.tell(tx, g, before, v, who)
}

// stop pauses a managed customer, or suspends a workspace. Only a person lets them go on.
func (s *Service) stop(tx *db.Tx, g state, reason string) error {
	if g.tenant() != "" {
		return s.parts.Tenants.Pause(tx, g.workspace, g.tenant(), reason)
	}
	return s.parts.Accounts.SuspendIn(tx, g.workspace, reason)
}

// news is what an event of a guardrail says.
type news struct {
	Object    string  `json:"object"`
	Subject   string  `json:"subject"`
	Tenant    api.Ref `json:"managed_tenant_id"`
	Step      Step    `json:"step"`
	Previous  Step    `json:"previous_step"`
	Metric    api.Ref `json:"metric"`
	Window    api.Ref `json:"window"`
	Rate      float64 `json:"rate"`
	Threshold float64 `json:"threshold"`
	Count     int64   `json:"count"`
	Sample    int64   `json:"sample"`
	Hourly    *int64  `json:"hourly_limit"`
	Message   string  `json:"message"`
}

// advice is what to do, by step.
var advice = map[Step]string{
	Warned:    "Remove addresses that bounce and mail only who asked for it, before sending is slowed down.",
	Throttled: "New mail is spread over time until the rate falls. Remove addresses that bounce and mail only who asked for it.",
	Paused:    "Sending has stopped. Find the cause before sending is resumed.",
}

// tell writes the event, the line of the audit log and that of the operator's.
func (s *Service) tell(tx *db.Tx, g state, before Step, v verdict, who sender) error {
	kind, target := "workspace", account.Target{Type: "workspace", ID: g.subject, Name: who.name}
	if g.tenant() != "" {
		kind, target.Type = "managed_tenant", "managed_tenant"
	}
	action, message := "guardrail."+string(g.step), v.because()+" "+advice[g.step]
	if before.harderThan(g.step) {
		action, message = "guardrail.lifted", "The rate of bounces and complaints has fallen."
	}
	data := news{Object: "guardrail", Subject: kind, Tenant: api.Ref(g.tenant()), Step: g.step, Previous: before, Metric: api.Ref(v.metric), Window: windowName(v),
		Rate: v.rate, Threshold: v.threshold, Count: v.bad, Sample: v.sample, Message: message}
	if g.step == Throttled {
		data.Hourly = &g.hourly
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode %s: %w", action, err)
	}
	if err := event.Append(tx, event.Event{ID: s.world.NewID(), Workspace: g.workspace, Type: action, Subject: g.subject, Tenant: g.tenant(), OccurredAt: tx.Now(), Data: raw}); err != nil {
		return err
	}
	s.world.Log.Warn("guardrail", "workspace", g.workspace, "tenant", g.tenant(), "step", g.step, "before", before, "metric", v.metric, "rate", v.rate, "sample", v.sample)
	return s.parts.Accounts.Audit(tx, account.Entry{Workspace: g.workspace, Action: account.Action(action), Target: target})
}

func windowName(v verdict) api.Ref {
	return api.Ref(map[time.Duration]string{day: "24h", week: "7d"}[v.window])
}
