package automation

import (
	"encoding/json"
	"fmt"
	"time"

	"postrider/platform/api"
	"postrider/platform/space"
	"postrider/product/audience"
)

// RunStatus tells how far a run is.
type RunStatus string

// Statuses of runs.
const (
	Running   RunStatus = "running"
	Completed RunStatus = "completed"
	Failed    RunStatus = "failed"
	Cancelled RunStatus = "cancelled"
)

// StepStatus tells how far a step of a run is.
type StepStatus string

// Statuses of steps.
const (
	StepPending   StepStatus = "pending"
	StepRunning   StepStatus = "running"
	StepWaiting   StepStatus = "waiting"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
)

// Run is one way through a version of an automation.
type Run struct {
	ID         RunID
	Workspace  space.ID
	Automation ID
	Version    int64
	Status     RunStatus
	// Test runs touch nothing. Simulated runs are those of test keys, whose mail never leaves the machine.
	Test, Simulated bool
	Contact         audience.ContactID
	Email           string
	Cause           cause
	Payload         map[string]any
	// Depth is how many runs led to this one by the events they sent.
	Depth int64
	// Step is where the run stands, Pass how often it has come there, Tries how often the step was tried, Taken how many steps are behind.
	Step                string
	Pass, Tries, Taken  int64
	ResumeAt, StartedAt time.Time
	CompletedAt         time.Time
	Failure             *failure
	// Stops is how often all runs of the automation had been stopped when this one began.
	Stops int64
}

// cause is why a run began.
type cause struct {
	Type      string  `json:"type" example:"event"`
	EventName string  `json:"event_name" example:"user.signed_up"`
	EventID   api.Ref `json:"event_id" doc:"Null if no event began it." example:"0193a1f8-0000-7000-8000-000000000811"`
}

// failure is why a run failed, and where.
type failure struct {
	Step    string `json:"step" example:"crm"`
	Code    string `json:"code" example:"http_failed"`
	Message string `json:"message" example:"HTTP 500 after 3 tries"`
}

// Codes of failures.
const (
	loopDetected  = "loop_detected"
	tooManyPasses = "too_many_passes"
	tooManyStarts = "too_many_starts"
	stepFailed    = "step_failed"
	httpFailed    = "http_failed"
	internalError = "internal_error"
)

// taken is a step of a run that was begun.
type taken struct {
	Run                    RunID
	Number                 int64
	Key, Type              string
	Status                 StepStatus
	Output                 json.RawMessage
	Failure                string
	StartedAt, CompletedAt time.Time
}

// effectKey names what a step does outside. It is the same whenever and wherever the step is done again.
func (r *Run) effectKey() string { return fmt.Sprintf("%s.%s.%d", r.ID, r.Step, r.Pass) }
