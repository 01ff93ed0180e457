package automation

import (
	"encoding/json"

	"postrider/platform/api"
	"postrider/product/automation/internal/flow"
)

// Row is an automation in a list, without its steps.
type Row struct {
	Object      string         `json:"object" example:"automation"`
	ID          ID             `json:"id" example:"0193a1f7-0000-7000-8000-000000000701"`
	Name        string         `json:"name" example:"Welcome series"`
	Description api.Ref        `json:"description"`
	Status      Status         `json:"status" example:"enabled"`
	Enabled     bool           `json:"enabled" example:"true"`
	Published   *int64         `json:"published_version" example:"2"`
	DraftNumber *int64         `json:"draft_version" example:"3"`
	Changed     bool           `json:"has_unpublished_changes" example:"true"`
	Triggers    []triggerRow   `json:"triggers"`
	Metadata    map[string]any `json:"metadata"`
	Stats       statistics     `json:"stats"`
	CreatedAt   api.Time       `json:"created_at"`
	UpdatedAt   api.Time       `json:"updated_at"`
	ArchivedAt  api.Time       `json:"archived_at"`
}

// Record is an automation with its steps and its newest runs.
type Record struct {
	Row
	Steps       []flow.Step       `json:"steps"`
	Connections []flow.Connection `json:"connections"`
	RecentRuns  []recentRun       `json:"recent_runs"`
}

type triggerRow struct {
	Key       string `json:"key" example:"start"`
	Type      string `json:"type" example:"event"`
	EventName string `json:"event_name" example:"user.signed_up"`
}

type statistics struct {
	Total     int64 `json:"runs_total" example:"120"`
	Running   int64 `json:"running" example:"4"`
	Completed int64 `json:"completed" example:"110"`
	Failed    int64 `json:"failed" example:"2"`
	Cancelled int64 `json:"cancelled" example:"4"`
}

type recentRun struct {
	ID        RunID     `json:"id" example:"0193a1f7-0000-7000-8000-000000000711"`
	Status    RunStatus `json:"status" example:"running"`
	StartedAt api.Time  `json:"started_at"`
}

func newRow(a Automation, shown flow.Definition, counts map[tallyKey]int64) Row {
	r := Row{Object: "automation", ID: a.ID, Name: a.Name, Description: api.Ref(a.Description), Status: a.Status, Enabled: a.Status == Enabled, Changed: a.DraftChanged,
		Triggers: []triggerRow{}, Metadata: orEmpty(a.Metadata), CreatedAt: api.Time(a.CreatedAt), UpdatedAt: api.Time(a.UpdatedAt), ArchivedAt: api.Time(a.ArchivedAt)}
	if a.Published > 0 {
		r.Published = &a.Published
	}
	if a.DraftChanged {
		next := a.Latest + 1
		r.DraftNumber = &next
	}
	for _, step := range shown.Steps {
		var config struct {
			EventName string `json:"event_name"`
		}
		if step.Type != flow.Trigger || json.Unmarshal(step.Config, &config) != nil {
			continue
		}
		kind := "event"
		if len(config.EventName) > len(flow.SystemPrefix) && config.EventName[:len(flow.SystemPrefix)] == flow.SystemPrefix {
			kind = "system"
		}
		r.Triggers = append(r.Triggers, triggerRow{step.Key, kind, config.EventName})
	}
	for key, n := range counts {
		if key.automation != a.ID {
			continue
		}
		r.Stats.Total += n
		switch key.status {
		case Running:
			r.Stats.Running += n
		case Completed:
			r.Stats.Completed += n
		case Failed:
			r.Stats.Failed += n
		case Cancelled:
			r.Stats.Cancelled += n
		}
	}
	return r
}

// VersionRecord is a version with its steps.
type VersionRecord struct {
	Object      string            `json:"object" example:"automation_version"`
	ID          string            `json:"id" example:"0193a1f7-0000-7000-8000-000000000732"`
	Automation  ID                `json:"automation_id" example:"0193a1f7-0000-7000-8000-000000000701"`
	Version     int64             `json:"version" example:"2"`
	Published   bool              `json:"published" example:"true"`
	Active      bool              `json:"active" example:"true"`
	Note        api.Ref           `json:"note" example:"CRM step"`
	RolledBack  *int64            `json:"rolled_back_from"`
	Steps       []flow.Step       `json:"steps"`
	Connections []flow.Connection `json:"connections"`
	RunCount    int64             `json:"run_count" example:"96"`
	CreatedBy   api.Ref           `json:"created_by"`
	CreatedAt   api.Time          `json:"created_at"`
	PublishedAt api.Time          `json:"published_at"`
}

// place is where a page after the version begins.
func (r VersionRecord) place() api.Cursor { return api.Cursor{ID: r.ID} }

func newVersionRecord(v Version, active int64, counts map[tallyKey]int64) VersionRecord {
	r := VersionRecord{Object: "automation_version", ID: v.ID, Automation: v.Automation, Version: v.Number, Published: true, Active: v.Number == active, Note: api.Ref(v.Note),
		Steps: orNone(v.Definition.Steps), Connections: orNone(v.Definition.Connections), CreatedBy: api.Ref(v.CreatedBy), CreatedAt: api.Time(v.CreatedAt), PublishedAt: api.Time(v.CreatedAt)}
	if v.RolledBackFrom > 0 {
		r.RolledBack = &v.RolledBackFrom
	}
	for key, n := range counts {
		if key.version == v.Number {
			r.RunCount += n
		}
	}
	return r
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// RunRow is a run in a list, without its steps.
type RunRow struct {
	Object      string         `json:"object" example:"automation_run"`
	ID          RunID          `json:"id" example:"0193a1f7-0000-7000-8000-000000000711"`
	Automation  ID             `json:"automation_id" example:"0193a1f7-0000-7000-8000-000000000701"`
	Version     int64          `json:"version" example:"2"`
	State       RunStatus      `json:"status" example:"running"`
	Test        bool           `json:"test" example:"false"`
	Contact     api.Ref        `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Email       api.Ref        `json:"email" example:"ann@example.net"`
	Trigger     cause          `json:"trigger"`
	Payload     map[string]any `json:"payload" example:"{\"plan\":\"pro\",\"seats\":3}"`
	CurrentStep api.Ref        `json:"current_step" example:"wait"`
	ResumeAt    api.Time       `json:"resume_at"`
	Error       *failure       `json:"error"`
	StartedAt   api.Time       `json:"started_at"`
	CompletedAt api.Time       `json:"completed_at"`
	CreatedAt   api.Time       `json:"created_at"`
}

// RunRecord is a run with its steps.
type RunRecord struct {
	RunRow
	Steps []stepRecord `json:"steps"`

	Idempotent bool `json:"idempotent,omitempty"`
}

type stepRecord struct {
	Key         string          `json:"key" example:"hello"`
	Type        string          `json:"type" example:"send_email"`
	Status      StepStatus      `json:"status" example:"completed"`
	Output      json.RawMessage `json:"output" example:"{\"email_id\":\"0193a1f7-0000-7000-8000-000000000721\"}"`
	Error       api.Ref         `json:"error"`
	StartedAt   api.Time        `json:"started_at"`
	CompletedAt api.Time        `json:"completed_at"`
	CreatedAt   api.Time        `json:"created_at"`
}

func newRunRow(r Run) RunRow {
	return RunRow{Object: "automation_run", ID: r.ID, Automation: r.Automation, Version: r.Version, State: r.Status, Test: r.Test, Contact: api.Ref(r.Contact),
		Email: api.Ref(r.Email), Trigger: r.Cause, Payload: orEmpty(r.Payload), CurrentStep: api.Ref(r.Step), ResumeAt: api.Time(r.ResumeAt), Error: r.Failure,
		StartedAt: api.Time(r.StartedAt), CompletedAt: api.Time(r.CompletedAt), CreatedAt: api.Time(r.StartedAt)}
}

// newRunRecord shows a run. The step it stands at is shown even if nothing is written of it yet.
func newRunRecord(r Run, steps []taken, graph *flow.Graph) RunRecord {
	record := RunRecord{RunRow: newRunRow(r), Steps: []stepRecord{}}
	stands := false
	for _, t := range steps {
		record.Steps = append(record.Steps, stepRecord{Key: t.Key, Type: t.Type, Status: t.Status, Output: orNull(t.Output), Error: api.Ref(t.Failure),
			StartedAt: api.Time(t.StartedAt), CompletedAt: api.Time(t.CompletedAt), CreatedAt: api.Time(t.StartedAt)})
		stands = t.Status == StepWaiting
	}
	if r.Status != Running || stands || graph == nil {
		return record
	}
	if node := graph.Step(r.Step); node != nil {
		status := StepPending
		if r.Pass > 0 {
			status = StepRunning
		}
		record.Steps = append(record.Steps, stepRecord{Key: node.Key, Type: string(node.Type), Status: status, Output: orNull(nil)})
	}
	return record
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// Status is 200 for an answer that was given before.
func (r RunRecord) Status() int {
	if r.Idempotent {
		return 200
	}
	return 0
}

// runEvent is what events say of a run.
type runEvent struct {
	ID         RunID     `json:"id"`
	Automation ID        `json:"automation_id"`
	Version    int64     `json:"version"`
	Status     RunStatus `json:"status"`
	Contact    api.Ref   `json:"contact_id"`
	Error      *failure  `json:"error"`
}

func newRunEvent(r *Run) runEvent {
	return runEvent{r.ID, r.Automation, r.Version, r.Status, api.Ref(r.Contact), r.Failure}
}
