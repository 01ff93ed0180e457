package automation

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/automation/internal/flow"
)

// runBody is what a run that a request begins is about.
type runBody struct {
	ContactID string `json:"contact_id" doc:"Whom the run is about."`
	Email     string `json:"email" doc:"Whom the run is about; made a contact if there is none." example:"ann@example.net"`
	Payload   facts  `json:"payload" doc:"What steps see as event." example:"{\"plan\":\"pro\",\"seats\":3}"`
	Key       string `json:"idempotency_key" doc:"Makes a repeated request the same one."`
}

// run begins a run at once, whatever the rules of re-entry say: somebody asks for it.
func (s *Service) run(ctx context.Context, caller api.Caller, id string, body runBody, request api.Idempotency) (record RunRecord, err error) {
	said := sending{ContactID: body.ContactID, Email: body.Email, Payload: body.Payload}
	if err := said.check(s.world.Clock.Now()); err != nil {
		return record, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := findAutomation(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		var replayed bool
		record, replayed, err = api.Once(tx, request, func() (RunRecord, error) { return s.runNow(tx, caller, a, said) })
		record.Idempotent = replayed
		return err
	})
	return record, err
}

func (s *Service) runNow(tx *db.Tx, caller api.Caller, a Automation, said sending) (RunRecord, error) {
	if a.Status != Enabled {
		return RunRecord{}, api.ErrInvalidState.Saying("The automation is not enabled.").With("current", a.Status).With("allowed", []Status{Enabled})
	}
	graph, err := s.graph(tx, a.ID, a.Published)
	if err != nil {
		return RunRecord{}, err
	}
	contact, email, err := s.person(tx, caller, said.ContactID, said.Email)
	if err != nil {
		return RunRecord{}, err
	}
	if contact == "" && graph.NeedsContact {
		return RunRecord{}, api.Invalid("contact_id", "The automation is about a contact. Give a contact_id or an email.")
	}
	r := &Run{ID: RunID(s.world.NewID()), Workspace: a.Workspace, Automation: a.ID, Version: a.Published, Status: Running, Simulated: caller.Test, Contact: contact, Email: email,
		Cause: cause{Type: "api", EventName: flow.OnlyAPI}, Payload: said.Payload, Step: entrance(graph).Key, StartedAt: tx.Now(), Stops: a.Stops}
	if _, err := admit(tx, r, flow.Always); err != nil {
		return RunRecord{}, err
	}
	if err := s.write(tx, []*Run{r}); err != nil {
		return RunRecord{}, err
	}
	return newRunRecord(*r, nil, nil), nil
}

// entrance is the trigger that requests begin with: one that is only for them, or else the first.
func entrance(graph *flow.Graph) *flow.Node {
	triggers := graph.Triggers()
	for _, t := range triggers {
		if t.Config.EventName == flow.OnlyAPI {
			return t
		}
	}
	return triggers[0]
}

// cancelBatch bounds how many runs one transaction cancels.
const cancelBatch = 500

// cancelRuns cancels all runs of an automation that go on, some at a time, and returns how many there were.
func (s *Service) cancelRuns(ctx context.Context, automation ID) (cancelled int64, err error) {
	for more := true; more; {
		var n int
		err := s.db.Write(ctx, func(tx *db.Tx) error {
			ids, err := selectActive(tx, automation, cancelBatch)
			if n = len(ids); err != nil || n == 0 {
				return err
			}
			return s.cancel(tx, ids)
		})
		if err != nil {
			return cancelled, err
		}
		cancelled, more = cancelled+int64(n), n == cancelBatch
	}
	return cancelled, nil
}

func (s *Service) cancel(tx *db.Tx, ids []string) error {
	runs, err := lockRuns(tx, ids)
	if err != nil {
		return err
	}
	t := s.newTurn(tx)
	if err := t.cancel(runs, ids); err != nil {
		return err
	}
	return t.save()
}

// stopRun cancels one run.
func (s *Service) stopRun(ctx context.Context, caller api.Caller, id, runID string) (record RunRecord, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		a, err := findAutomation(tx, caller.Workspace, id)
		if err != nil {
			return err
		}
		r, err := findRun(tx, caller.Workspace, a.ID, runID)
		if err != nil {
			return err
		}
		if r.Status != Running {
			return api.ErrInvalidState.Saying("The run is over.").With("current", r.Status).With("allowed", []RunStatus{Running})
		}
		if err := s.cancel(tx, []string{string(r.ID)}); err != nil {
			return err
		}
		record, err = s.readRun(tx, caller, a.ID, runID)
		return err
	})
	return record, err
}

// quit disables or archives an automation and cancels its runs. Those that are just beginning, or that are left over because this is cut off,
// are cancelled when they are about to go on: they began with fewer stops.
func (s *Service) quit(ctx context.Context, caller api.Caller, id string, status Status) (a Automation, stopped int64, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if a, err = lockAutomation(tx, caller.Workspace, id); err != nil {
			return err
		}
		if a.Status == Archived {
			return nil
		}
		before := a.Status
		a.Stops++
		if status == Archived {
			a.ArchivedAt = tx.Now()
		}
		return s.settle(tx, caller, &a, status, before)
	})
	if err != nil {
		return a, 0, err
	}
	stopped, err = s.cancelRuns(ctx, a.ID)
	return a, stopped, err
}

func dayAgo(now time.Time) time.Time { return now.Add(-24 * time.Hour) }
