// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// WebhookAttemptRecord is part of WebhookDeliveryDetail.
type WebhookAttemptRecord struct {
	DurationMs      int64             `json:"duration_ms,omitzero"`
	Error           string            `json:"error,omitzero"`
	Message         string            `json:"message,omitzero"`
	Number          int64             `json:"number,omitzero"`
	RemoteAddress   string            `json:"remote_address,omitzero"`
	RequestHeaders  map[string]string `json:"request_headers,omitzero"`
	ResponseBody    string            `json:"response_body,omitzero"`
	ResponseHeaders map[string]string `json:"response_headers,omitzero"`
	StartedAt       time.Time         `json:"started_at,omitzero"`
	StatusCode      *int64            `json:"status_code,omitempty"`
	URL             string            `json:"url,omitzero"`
}

// WebhookChange is the body of PATCH /v1/webhooks/{id}.
type WebhookChange struct {
	// Replaces all; a value of *** stays as it is.
	CustomHeaders map[string]string `json:"custom_headers,omitzero"`
	Description   *string           `json:"description,omitempty"`
	DomainIDs     []string          `json:"domain_ids,omitzero"`
	// The same as status.
	Enabled *bool `json:"enabled,omitempty"`
	// Another name of url.
	Endpoint         string   `json:"endpoint,omitzero"`
	Events           []string `json:"events,omitzero"`
	IncludeBody      *bool    `json:"include_body,omitempty"`
	ManagedTenantIDs []string `json:"managed_tenant_ids,omitzero"`
	// enabled or disabled. Enabling forgets earlier failures.
	Status string `json:"status,omitzero"`
	URL    string `json:"url,omitzero"`
}

// WebhookDeliveryDetail is the answer to POST /v1/webhook-deliveries/{deliveryId}/replay.
type WebhookDeliveryDetail struct {
	AttemptCount  int64                  `json:"attempt_count,omitzero"`
	Attempts      []WebhookAttemptRecord `json:"attempts,omitzero"`
	CreatedAt     time.Time              `json:"created_at,omitzero"`
	DeliveredAt   time.Time              `json:"delivered_at,omitzero"`
	DurationMs    *int64                 `json:"duration_ms,omitempty"`
	Error         string                 `json:"error,omitzero"`
	EventID       string                 `json:"event_id,omitzero"`
	EventType     string                 `json:"event_type,omitzero"`
	ID            string                 `json:"id,omitzero"`
	LastAttemptAt time.Time              `json:"last_attempt_at,omitzero"`
	MaxAttempts   int64                  `json:"max_attempts,omitzero"`
	NextAttemptAt time.Time              `json:"next_attempt_at,omitzero"`
	Object        string                 `json:"object,omitzero"`
	Payload       any                    `json:"payload,omitempty"`
	ReplayOf      string                 `json:"replay_of,omitzero"`
	Status        string                 `json:"status,omitzero"`
	StatusCode    *int64                 `json:"status_code,omitempty"`
	Test          bool                   `json:"test,omitzero"`
	URL           string                 `json:"url,omitzero"`
	WebhookID     string                 `json:"webhook_id,omitzero"`
}

// WebhookDeliveryRecord is the answer to GET /v1/webhook-deliveries.
type WebhookDeliveryRecord struct {
	AttemptCount  int64     `json:"attempt_count,omitzero"`
	CreatedAt     time.Time `json:"created_at,omitzero"`
	DeliveredAt   time.Time `json:"delivered_at,omitzero"`
	DurationMs    *int64    `json:"duration_ms,omitempty"`
	Error         string    `json:"error,omitzero"`
	EventID       string    `json:"event_id,omitzero"`
	EventType     string    `json:"event_type,omitzero"`
	ID            string    `json:"id,omitzero"`
	LastAttemptAt time.Time `json:"last_attempt_at,omitzero"`
	MaxAttempts   int64     `json:"max_attempts,omitzero"`
	NextAttemptAt time.Time `json:"next_attempt_at,omitzero"`
	Object        string    `json:"object,omitzero"`
	ReplayOf      string    `json:"replay_of,omitzero"`
	Status        string    `json:"status,omitzero"`
	StatusCode    *int64    `json:"status_code,omitempty"`
	Test          bool      `json:"test,omitzero"`
	URL           string    `json:"url,omitzero"`
	WebhookID     string    `json:"webhook_id,omitzero"`
}

// WebhookDeliveryRef is part of EmailEventRecord.
type WebhookDeliveryRef struct {
	AttemptCount int64  `json:"attempt_count,omitzero"`
	ID           string `json:"id,omitzero"`
	Status       string `json:"status,omitzero"`
	WebhookID    string `json:"webhook_id,omitzero"`
}

// WebhookEnvelope is part of WebhookEventRecord.
type WebhookEnvelope struct {
	CreatedAt               time.Time `json:"created_at,omitzero"`
	Data                    any       `json:"data,omitempty"`
	DomainID                string    `json:"domain_id,omitzero"`
	ID                      string    `json:"id,omitzero"`
	ManagedTenantExternalID string    `json:"managed_tenant_external_id,omitzero"`
	ManagedTenantID         string    `json:"managed_tenant_id,omitzero"`
	Test                    bool      `json:"test,omitzero"`
	Timestamp               time.Time `json:"timestamp,omitzero"`
	Type                    string    `json:"type,omitzero"`
	WorkspaceID             string    `json:"workspace_id,omitzero"`
}

// WebhookEventRecord is the answer to GET /v1/webhook-events.
type WebhookEventRecord struct {
	Category     string          `json:"category,omitzero"`
	Description  string          `json:"description,omitzero"`
	Name         string          `json:"name,omitzero"`
	Object       string          `json:"object,omitzero"`
	PerRecipient bool            `json:"per_recipient,omitzero"`
	Sample       WebhookEnvelope `json:"sample,omitzero"`
	Type         string          `json:"type,omitzero"`
	Version      int64           `json:"version,omitzero"`
}

// WebhookNewEndpoint is the body of POST /v1/webhooks.
type WebhookNewEndpoint struct {
	// At most 10 headers to send along; their values are never shown again.
	CustomHeaders map[string]string `json:"custom_headers,omitzero"`
	Description   string            `json:"description,omitzero"`
	// Only what happens to these domains; empty means all.
	DomainIDs []string `json:"domain_ids,omitzero"`
	// Another name of url.
	Endpoint string `json:"endpoint,omitzero"`
	// 1 to 100 names of the catalogue, families such as email.*, or * for everything.
	Events []string `json:"events,omitzero"`
	// Put the text of received mail into email.received.
	IncludeBody bool `json:"include_body,omitzero"`
	// Only what happens to these managed customers; empty means all.
	ManagedTenantIDs []string `json:"managed_tenant_ids,omitzero"`
	// Where events are posted; https, at most 2048 characters.
	URL string `json:"url,omitzero"`
}

// WebhookRecord is the answer to GET /v1/webhooks.
type WebhookRecord struct {
	ConsecutiveFailures     int64             `json:"consecutive_failures,omitzero"`
	CreatedAt               time.Time         `json:"created_at,omitzero"`
	CustomHeaders           map[string]string `json:"custom_headers,omitzero"`
	Description             string            `json:"description,omitzero"`
	DisabledReason          string            `json:"disabled_reason,omitzero"`
	DomainIDs               []string          `json:"domain_ids,omitzero"`
	Enabled                 bool              `json:"enabled,omitzero"`
	Endpoint                string            `json:"endpoint,omitzero"`
	Events                  []string          `json:"events,omitzero"`
	FirstFailureAt          time.Time         `json:"first_failure_at,omitzero"`
	ID                      string            `json:"id,omitzero"`
	IncludeBody             bool              `json:"include_body,omitzero"`
	LastDeliveryAt          time.Time         `json:"last_delivery_at,omitzero"`
	LastStatusCode          *int64            `json:"last_status_code,omitempty"`
	ManagedTenantIDs        []string          `json:"managed_tenant_ids,omitzero"`
	Object                  string            `json:"object,omitzero"`
	PreviousSecretExpiresAt time.Time         `json:"previous_secret_expires_at,omitzero"`
	SecretPrefix            string            `json:"secret_prefix,omitzero"`
	Status                  string            `json:"status,omitzero"`
	UpdatedAt               time.Time         `json:"updated_at,omitzero"`
	URL                     string            `json:"url,omitzero"`
}

// WebhookRotation is the body of POST /v1/webhooks/{id}/rotate-secret.
type WebhookRotation struct {
	// Drop a previous secret that is still good.
	Force bool `json:"force,omitzero"`
	// How long the old secret signs too; 0 to 604800, a day if absent.
	OverlapSec *int64 `json:"overlap_sec,omitempty"`
}

// WebhookSecretRecord is the answer to POST /v1/webhooks.
type WebhookSecretRecord struct {
	ConsecutiveFailures     int64             `json:"consecutive_failures,omitzero"`
	CreatedAt               time.Time         `json:"created_at,omitzero"`
	CustomHeaders           map[string]string `json:"custom_headers,omitzero"`
	Description             string            `json:"description,omitzero"`
	DisabledReason          string            `json:"disabled_reason,omitzero"`
	DomainIDs               []string          `json:"domain_ids,omitzero"`
	Enabled                 bool              `json:"enabled,omitzero"`
	Endpoint                string            `json:"endpoint,omitzero"`
	Events                  []string          `json:"events,omitzero"`
	FirstFailureAt          time.Time         `json:"first_failure_at,omitzero"`
	ID                      string            `json:"id,omitzero"`
	IncludeBody             bool              `json:"include_body,omitzero"`
	LastDeliveryAt          time.Time         `json:"last_delivery_at,omitzero"`
	LastStatusCode          *int64            `json:"last_status_code,omitempty"`
	ManagedTenantIDs        []string          `json:"managed_tenant_ids,omitzero"`
	Object                  string            `json:"object,omitzero"`
	PreviousSecretExpiresAt time.Time         `json:"previous_secret_expires_at,omitzero"`
	Secret                  string            `json:"secret,omitzero"`
	SecretPrefix            string            `json:"secret_prefix,omitzero"`
	SigningSecret           string            `json:"signing_secret,omitzero"`
	Status                  string            `json:"status,omitzero"`
	UpdatedAt               time.Time         `json:"updated_at,omitzero"`
	URL                     string            `json:"url,omitzero"`
}

// WebhookTrial is the body of POST /v1/webhooks/{id}/test.
type WebhookTrial struct {
	// Type of the event whose sample is sent; webhook.test if absent.
	Event string `json:"event,omitzero"`
}
