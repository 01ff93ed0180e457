// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// AutomationCause is part of AutomationRunRecord.
type AutomationCause struct {
	// Null if no event began it.
	EventID   string `json:"event_id,omitzero"`
	EventName string `json:"event_name,omitzero"`
	Type      string `json:"type,omitzero"`
}

// AutomationChange is the body of POST /v1/automations.
type AutomationChange struct {
	Connections []FlowConnection `json:"connections,omitzero"`
	Description *string          `json:"description,omitempty"`
	// Another way to say status.
	Enabled  *bool          `json:"enabled,omitempty"`
	Metadata map[string]any `json:"metadata,omitzero"`
	// 1 to 120 characters.
	Name *string `json:"name,omitempty"`
	// A remark on the version, if one is published.
	Note string `json:"note,omitzero"`
	// enabled validates and publishes the draft at once.
	Status string `json:"status,omitzero"`
	// At most 150; steps and connections are changed together.
	Steps []FlowStep `json:"steps,omitzero"`
	// Instead of steps of type trigger.
	Triggers []AutomationChangeTriggers `json:"triggers,omitzero"`
}

// AutomationChangeTriggers is part of AutomationChange.
type AutomationChangeTriggers struct {
	EventName string `json:"event_name,omitzero"`
	Key       string `json:"key,omitzero"`
}

// AutomationCredentialChange is the body of PATCH /v1/automation-credentials/{id}.
type AutomationCredentialChange struct {
	// The only hosts that are shown the secret; a port may be given.
	AllowedHosts []string `json:"allowed_hosts,omitzero"`
	// Steps may give a path below it.
	BaseURL *string `json:"base_url,omitempty"`
	// For header; for query the name of the parameter.
	HeaderName *string                       `json:"header_name,omitempty"`
	Name       *string                       `json:"name,omitempty"`
	Settings   *AutomationCredentialSettings `json:"settings,omitempty"`
	// For basic.
	Username *string `json:"username,omitempty"`
}

// AutomationCredentialRecord is the answer to GET /v1/automation-credentials.
type AutomationCredentialRecord struct {
	AllowedHosts []string                     `json:"allowed_hosts,omitzero"`
	BaseURL      string                       `json:"base_url,omitzero"`
	CreatedAt    time.Time                    `json:"created_at,omitzero"`
	HeaderName   string                       `json:"header_name,omitzero"`
	ID           string                       `json:"id,omitzero"`
	InUseBy      []string                     `json:"in_use_by,omitzero"`
	LastTest     *AutomationTestResult        `json:"last_test,omitempty"`
	LastUsedAt   time.Time                    `json:"last_used_at,omitzero"`
	Name         string                       `json:"name,omitzero"`
	Object       string                       `json:"object,omitzero"`
	RotatedAt    time.Time                    `json:"rotated_at,omitzero"`
	SecretPrefix string                       `json:"secret_prefix,omitzero"`
	Settings     AutomationCredentialSettings `json:"settings,omitzero"`
	Type         string                       `json:"type,omitzero"`
	UpdatedAt    time.Time                    `json:"updated_at,omitzero"`
	Username     string                       `json:"username,omitzero"`
}

// AutomationCredentialSettings is part of AutomationCredentialRecord.
type AutomationCredentialSettings struct {
	DefaultHeaders map[string]string `json:"default_headers,omitzero"`
	TimeoutMs      int64             `json:"timeout_ms,omitzero"`
	// Certificates are always verified; only true is taken.
	VerifyTLS *bool `json:"verify_tls,omitempty"`
}

// AutomationEventChange is the body of PATCH /v1/events/{id}.
type AutomationEventChange struct {
	Description   *string        `json:"description,omitempty"`
	SamplePayload map[string]any `json:"sample_payload,omitzero"`
	// string, number, boolean or date by key; null means anything.
	Schema map[string]string `json:"schema,omitzero"`
}

// AutomationEventRecord is the answer to GET /v1/events.
type AutomationEventRecord struct {
	AutomationIDs []string          `json:"automation_ids,omitzero"`
	CreatedAt     time.Time         `json:"created_at,omitzero"`
	Description   string            `json:"description,omitzero"`
	ID            string            `json:"id,omitzero"`
	LastSentAt    time.Time         `json:"last_sent_at,omitzero"`
	Name          string            `json:"name,omitzero"`
	Object        string            `json:"object,omitzero"`
	SamplePayload map[string]any    `json:"sample_payload,omitzero"`
	Schema        map[string]string `json:"schema,omitzero"`
	SendCount     int64             `json:"send_count,omitzero"`
	UpdatedAt     time.Time         `json:"updated_at,omitzero"`
}

// AutomationFailure is part of AutomationRunRecord.
type AutomationFailure struct {
	Code    string `json:"code,omitzero"`
	Message string `json:"message,omitzero"`
	Step    string `json:"step,omitzero"`
}

// AutomationMetaField is part of AutomationMetaRecord.
type AutomationMetaField struct {
	Name string `json:"name,omitzero"`
	Type string `json:"type,omitzero"`
}

// AutomationMetaRecord is the answer to GET /v1/automations/_meta.
type AutomationMetaRecord struct {
	Fields       []AutomationMetaField `json:"fields,omitzero"`
	Limits       map[string]int64      `json:"limits,omitzero"`
	Object       string                `json:"object,omitzero"`
	Operators    []string              `json:"operators,omitzero"`
	StepTypes    []FlowDescribed       `json:"step_types,omitzero"`
	TriggerTypes []FlowDescribed       `json:"trigger_types,omitzero"`
}

// AutomationNewCredential is the body of POST /v1/automation-credentials.
type AutomationNewCredential struct {
	// The only hosts that are shown the secret; a port may be given.
	AllowedHosts []string `json:"allowed_hosts,omitzero"`
	// Steps may give a path below it.
	BaseURL *string `json:"base_url,omitempty"`
	// For header; for query the name of the parameter.
	HeaderName *string `json:"header_name,omitempty"`
	Name       *string `json:"name,omitempty"`
	// Never shown again.
	Secret   string                        `json:"secret,omitzero"`
	Settings *AutomationCredentialSettings `json:"settings,omitempty"`
	// bearer, basic, header or query.
	Type string `json:"type,omitzero"`
	// For basic.
	Username *string `json:"username,omitempty"`
}

// AutomationNewEvent is the body of POST /v1/events.
type AutomationNewEvent struct {
	Description *string `json:"description,omitempty"`
	// 1 to 100 letters, digits, dots, colons, hyphens and underscores.
	Name          string         `json:"name,omitzero"`
	SamplePayload map[string]any `json:"sample_payload,omitzero"`
	// string, number, boolean or date by key; null means anything.
	Schema map[string]string `json:"schema,omitzero"`
}

// AutomationRecentRun is part of AutomationRecord.
type AutomationRecentRun struct {
	ID        string    `json:"id,omitzero"`
	StartedAt time.Time `json:"started_at,omitzero"`
	Status    string    `json:"status,omitzero"`
}

// AutomationRecord is the answer to POST /v1/automations.
type AutomationRecord struct {
	ArchivedAt            time.Time              `json:"archived_at,omitzero"`
	Connections           []FlowConnection       `json:"connections,omitzero"`
	CreatedAt             time.Time              `json:"created_at,omitzero"`
	Description           string                 `json:"description,omitzero"`
	DraftVersion          *int64                 `json:"draft_version,omitempty"`
	Enabled               bool                   `json:"enabled,omitzero"`
	HasUnpublishedChanges bool                   `json:"has_unpublished_changes,omitzero"`
	ID                    string                 `json:"id,omitzero"`
	Metadata              map[string]any         `json:"metadata,omitzero"`
	Name                  string                 `json:"name,omitzero"`
	Object                string                 `json:"object,omitzero"`
	PublishedVersion      *int64                 `json:"published_version,omitempty"`
	RecentRuns            []AutomationRecentRun  `json:"recent_runs,omitzero"`
	Stats                 AutomationStatistics   `json:"stats,omitzero"`
	Status                string                 `json:"status,omitzero"`
	Steps                 []FlowStep             `json:"steps,omitzero"`
	Triggers              []AutomationTriggerRow `json:"triggers,omitzero"`
	UpdatedAt             time.Time              `json:"updated_at,omitzero"`
}

// AutomationRow is the answer to GET /v1/automations.
type AutomationRow struct {
	ArchivedAt            time.Time              `json:"archived_at,omitzero"`
	CreatedAt             time.Time              `json:"created_at,omitzero"`
	Description           string                 `json:"description,omitzero"`
	DraftVersion          *int64                 `json:"draft_version,omitempty"`
	Enabled               bool                   `json:"enabled,omitzero"`
	HasUnpublishedChanges bool                   `json:"has_unpublished_changes,omitzero"`
	ID                    string                 `json:"id,omitzero"`
	Metadata              map[string]any         `json:"metadata,omitzero"`
	Name                  string                 `json:"name,omitzero"`
	Object                string                 `json:"object,omitzero"`
	PublishedVersion      *int64                 `json:"published_version,omitempty"`
	Stats                 AutomationStatistics   `json:"stats,omitzero"`
	Status                string                 `json:"status,omitzero"`
	Triggers              []AutomationTriggerRow `json:"triggers,omitzero"`
	UpdatedAt             time.Time              `json:"updated_at,omitzero"`
}

// AutomationRunBody is the body of POST /v1/automations/{id}/run.
type AutomationRunBody struct {
	// Whom the run is about.
	ContactID string `json:"contact_id,omitzero"`
	// Whom the run is about; made a contact if there is none.
	Email string `json:"email,omitzero"`
	// Makes a repeated request the same one.
	IdempotencyKey string `json:"idempotency_key,omitzero"`
	// What steps see as event.
	Payload map[string]any `json:"payload,omitzero"`
}

// AutomationRunRecord is the answer to POST /v1/automations/{id}/run.
type AutomationRunRecord struct {
	AutomationID string                 `json:"automation_id,omitzero"`
	CompletedAt  time.Time              `json:"completed_at,omitzero"`
	ContactID    string                 `json:"contact_id,omitzero"`
	CreatedAt    time.Time              `json:"created_at,omitzero"`
	CurrentStep  string                 `json:"current_step,omitzero"`
	Email        string                 `json:"email,omitzero"`
	Error        *AutomationFailure     `json:"error,omitempty"`
	ID           string                 `json:"id,omitzero"`
	Idempotent   bool                   `json:"idempotent,omitzero"`
	Object       string                 `json:"object,omitzero"`
	Payload      map[string]any         `json:"payload,omitzero"`
	ResumeAt     time.Time              `json:"resume_at,omitzero"`
	StartedAt    time.Time              `json:"started_at,omitzero"`
	Status       string                 `json:"status,omitzero"`
	Steps        []AutomationStepRecord `json:"steps,omitzero"`
	Test         bool                   `json:"test,omitzero"`
	Trigger      AutomationCause        `json:"trigger,omitzero"`
	Version      int64                  `json:"version,omitzero"`
}

// AutomationRunRow is the answer to GET /v1/automations/{id}/runs.
type AutomationRunRow struct {
	AutomationID string             `json:"automation_id,omitzero"`
	CompletedAt  time.Time          `json:"completed_at,omitzero"`
	ContactID    string             `json:"contact_id,omitzero"`
	CreatedAt    time.Time          `json:"created_at,omitzero"`
	CurrentStep  string             `json:"current_step,omitzero"`
	Email        string             `json:"email,omitzero"`
	Error        *AutomationFailure `json:"error,omitempty"`
	ID           string             `json:"id,omitzero"`
	Object       string             `json:"object,omitzero"`
	Payload      map[string]any     `json:"payload,omitzero"`
	ResumeAt     time.Time          `json:"resume_at,omitzero"`
	StartedAt    time.Time          `json:"started_at,omitzero"`
	Status       string             `json:"status,omitzero"`
	Test         bool               `json:"test,omitzero"`
	Trigger      AutomationCause    `json:"trigger,omitzero"`
	Version      int64              `json:"version,omitzero"`
}

// AutomationRunSummary is part of AutomationSummaryRecord.
type AutomationRunSummary struct {
	Completed24h int64 `json:"completed_24h,omitzero"`
	Failed24h    int64 `json:"failed_24h,omitzero"`
	Running      int64 `json:"running,omitzero"`
}

// AutomationSending is the body of POST /v1/automations/events.
type AutomationSending struct {
	// Whom the event is about.
	ContactID string `json:"contact_id,omitzero"`
	// Whom the event is about; made a contact if there is none.
	Email string `json:"email,omitzero"`
	// Name of the event.
	Event string `json:"event,omitzero"`
	// Makes a repeated request the same one.
	IdempotencyKey string `json:"idempotency_key,omitzero"`
	// When it happened; now if absent.
	OccurredAt time.Time      `json:"occurred_at,omitzero"`
	Payload    map[string]any `json:"payload,omitzero"`
}

// AutomationSentRecord is the answer to POST /v1/automations/events.
type AutomationSentRecord struct {
	Event              string   `json:"event,omitzero"`
	EventID            string   `json:"event_id,omitzero"`
	Idempotent         bool     `json:"idempotent,omitzero"`
	MatchedAutomations []string `json:"matched_automations,omitzero"`
	Object             string   `json:"object,omitzero"`
	Runs               []string `json:"runs,omitzero"`
	Webhooks           int64    `json:"webhooks,omitzero"`
}

// AutomationStatistics is part of AutomationRow.
type AutomationStatistics struct {
	Cancelled int64 `json:"cancelled,omitzero"`
	Completed int64 `json:"completed,omitzero"`
	Failed    int64 `json:"failed,omitzero"`
	Running   int64 `json:"running,omitzero"`
	RunsTotal int64 `json:"runs_total,omitzero"`
}

// AutomationStepRecord is part of AutomationRunRecord.
type AutomationStepRecord struct {
	CompletedAt time.Time `json:"completed_at,omitzero"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
	Error       string    `json:"error,omitzero"`
	Key         string    `json:"key,omitzero"`
	Output      any       `json:"output,omitempty"`
	StartedAt   time.Time `json:"started_at,omitzero"`
	Status      string    `json:"status,omitzero"`
	Type        string    `json:"type,omitzero"`
}

// AutomationSummaryRecord is the answer to GET /v1/automations/summary.
type AutomationSummaryRecord struct {
	Archived int64                `json:"archived,omitzero"`
	Disabled int64                `json:"disabled,omitzero"`
	Enabled  int64                `json:"enabled,omitzero"`
	Object   string               `json:"object,omitzero"`
	Runs     AutomationRunSummary `json:"runs,omitzero"`
	Total    int64                `json:"total,omitzero"`
}

// AutomationTestResult is part of AutomationCredentialRecord.
type AutomationTestResult struct {
	DurationMs int64     `json:"duration_ms,omitzero"`
	Error      string    `json:"error,omitzero"`
	Ok         bool      `json:"ok,omitzero"`
	StatusCode *int64    `json:"status_code,omitempty"`
	TestedAt   time.Time `json:"tested_at,omitzero"`
}

// AutomationTrialBody is the body of POST /v1/automations/{id}/test.
type AutomationTrialBody struct {
	// What variables say of a contact that is not stored. Conditions about it are not met.
	Contact map[string]any `json:"contact,omitzero"`
	// A contact to run with; it is not changed.
	ContactID string `json:"contact_id,omitzero"`
	// Where mail of the test goes; without it none is sent.
	DeliverTo string `json:"deliver_to,omitzero"`
	// A contact to run with, or an address that is none.
	Email string `json:"email,omitzero"`
	// What steps see as event.
	Payload map[string]any `json:"payload,omitzero"`
	// False ends the test at the first wait.
	SkipDelays *bool `json:"skip_delays,omitempty"`
	Version    any   `json:"version,omitempty"`
}

// AutomationTriggerRow is part of AutomationRow.
type AutomationTriggerRow struct {
	EventName string `json:"event_name,omitzero"`
	Key       string `json:"key,omitzero"`
	Type      string `json:"type,omitzero"`
}

// AutomationVersionRecord is the answer to GET /v1/automations/{id}/versions.
type AutomationVersionRecord struct {
	Active         bool             `json:"active,omitzero"`
	AutomationID   string           `json:"automation_id,omitzero"`
	Connections    []FlowConnection `json:"connections,omitzero"`
	CreatedAt      time.Time        `json:"created_at,omitzero"`
	CreatedBy      string           `json:"created_by,omitzero"`
	ID             string           `json:"id,omitzero"`
	Note           string           `json:"note,omitzero"`
	Object         string           `json:"object,omitzero"`
	Published      bool             `json:"published,omitzero"`
	PublishedAt    time.Time        `json:"published_at,omitzero"`
	RolledBackFrom *int64           `json:"rolled_back_from,omitempty"`
	RunCount       int64            `json:"run_count,omitzero"`
	Steps          []FlowStep       `json:"steps,omitzero"`
	Version        int64            `json:"version,omitzero"`
}
