// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// LogsCounts is the answer to GET /v1/logs/_counts.
type LogsCounts struct {
	GroupBy string            `json:"group_by,omitzero"`
	Groups  []LogsGroupRecord `json:"groups,omitzero"`
	Object  string            `json:"object,omitzero"`
	Since   time.Time         `json:"since,omitzero"`
	Total   int64             `json:"total,omitzero"`
	Until   time.Time         `json:"until,omitzero"`
}

// LogsGroupRecord is part of LogsCounts.
type LogsGroupRecord struct {
	Count int64  `json:"count,omitzero"`
	Key   string `json:"key,omitzero"`
}

// LogsRecord is the answer to GET /v1/logs/{id}.
type LogsRecord struct {
	APIKeyID        string          `json:"api_key_id,omitzero"`
	CreatedAt       time.Time       `json:"created_at,omitzero"`
	DomainID        string          `json:"domain_id,omitzero"`
	DurationMs      int64           `json:"duration_ms,omitzero"`
	EmailID         string          `json:"email_id,omitzero"`
	Endpoint        string          `json:"endpoint,omitzero"`
	Events          []LogsTapeEvent `json:"events,omitzero"`
	ID              string          `json:"id,omitzero"`
	IgnoredFields   []string        `json:"ignored_fields,omitzero"`
	IP              string          `json:"ip,omitzero"`
	Kind            string          `json:"kind,omitzero"`
	Level           string          `json:"level,omitzero"`
	ManagedTenantID string          `json:"managed_tenant_id,omitzero"`
	Message         string          `json:"message,omitzero"`
	Method          string          `json:"method,omitzero"`
	Object          string          `json:"object,omitzero"`
	RequestBody     any             `json:"request_body,omitempty"`
	RequestID       string          `json:"request_id,omitzero"`
	ResponseBody    any             `json:"response_body,omitempty"`
	ResponseStatus  int64           `json:"response_status,omitzero"`
	Status          string          `json:"status,omitzero"`
	UserAgent       string          `json:"user_agent,omitzero"`
	UserID          string          `json:"user_id,omitzero"`
}

// LogsRow is the answer to GET /v1/logs.
type LogsRow struct {
	APIKeyID        string    `json:"api_key_id,omitzero"`
	CreatedAt       time.Time `json:"created_at,omitzero"`
	DomainID        string    `json:"domain_id,omitzero"`
	DurationMs      int64     `json:"duration_ms,omitzero"`
	EmailID         string    `json:"email_id,omitzero"`
	Endpoint        string    `json:"endpoint,omitzero"`
	ID              string    `json:"id,omitzero"`
	IgnoredFields   []string  `json:"ignored_fields,omitzero"`
	IP              string    `json:"ip,omitzero"`
	Kind            string    `json:"kind,omitzero"`
	Level           string    `json:"level,omitzero"`
	ManagedTenantID string    `json:"managed_tenant_id,omitzero"`
	Message         string    `json:"message,omitzero"`
	Method          string    `json:"method,omitzero"`
	Object          string    `json:"object,omitzero"`
	RequestID       string    `json:"request_id,omitzero"`
	ResponseStatus  int64     `json:"response_status,omitzero"`
	Status          string    `json:"status,omitzero"`
	UserAgent       string    `json:"user_agent,omitzero"`
	UserID          string    `json:"user_id,omitzero"`
}

// LogsTapeEvent is part of LogsRecord.
type LogsTapeEvent struct {
	Data       map[string]any `json:"data,omitzero"`
	Message    string         `json:"message,omitzero"`
	OccurredAt time.Time      `json:"occurred_at,omitzero"`
	Recipient  string         `json:"recipient,omitzero"`
	Type       string         `json:"type,omitzero"`
}
