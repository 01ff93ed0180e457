// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// SuppressionAddedRecord is the answer to POST /v1/suppressions.
type SuppressionAddedRecord struct {
	Created         bool      `json:"created,omitzero"`
	CreatedAt       time.Time `json:"created_at,omitzero"`
	CreatedBy       string    `json:"created_by,omitzero"`
	Detail          any       `json:"detail,omitempty"`
	DomainID        string    `json:"domain_id,omitzero"`
	Email           string    `json:"email,omitzero"`
	EmailID         string    `json:"email_id,omitzero"`
	ExpiresAt       time.Time `json:"expires_at,omitzero"`
	Hits            int64     `json:"hits,omitzero"`
	ID              string    `json:"id,omitzero"`
	LastHitAt       time.Time `json:"last_hit_at,omitzero"`
	ManagedTenantID string    `json:"managed_tenant_id,omitzero"`
	Note            string    `json:"note,omitzero"`
	Object          string    `json:"object,omitzero"`
	Origin          string    `json:"origin,omitzero"`
	Reason          string    `json:"reason,omitzero"`
	SourceID        string    `json:"source_id,omitzero"`
}

// SuppressionNewEntries is the body of POST /v1/suppressions/batch/add.
type SuppressionNewEntries struct {
	// 1 to 1000 addresses.
	Emails []string `json:"emails,omitzero"`
	// When the addresses may be mailed again; null means never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// A remark for people, at most 500 characters.
	Note string `json:"note,omitzero"`
	// bounce, complaint, unsubscribe, manual or invalid; manual if none is given.
	Reason string `json:"reason,omitzero"`
}

// SuppressionNewEntry is the body of POST /v1/suppressions.
type SuppressionNewEntry struct {
	// The address, in any spelling.
	Email string `json:"email,omitzero"`
	// When the address may be mailed again; null means never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// A remark for people, at most 500 characters.
	Note string `json:"note,omitzero"`
	// bounce, complaint, unsubscribe, manual or invalid; manual if none is given.
	Reason string `json:"reason,omitzero"`
}

// SuppressionRecord is the answer to GET /v1/suppressions.
type SuppressionRecord struct {
	CreatedAt       time.Time `json:"created_at,omitzero"`
	CreatedBy       string    `json:"created_by,omitzero"`
	Detail          any       `json:"detail,omitempty"`
	DomainID        string    `json:"domain_id,omitzero"`
	Email           string    `json:"email,omitzero"`
	EmailID         string    `json:"email_id,omitzero"`
	ExpiresAt       time.Time `json:"expires_at,omitzero"`
	Hits            int64     `json:"hits,omitzero"`
	ID              string    `json:"id,omitzero"`
	LastHitAt       time.Time `json:"last_hit_at,omitzero"`
	ManagedTenantID string    `json:"managed_tenant_id,omitzero"`
	Note            string    `json:"note,omitzero"`
	Object          string    `json:"object,omitzero"`
	Origin          string    `json:"origin,omitzero"`
	Reason          string    `json:"reason,omitzero"`
	SourceID        string    `json:"source_id,omitzero"`
}

// SuppressionRemovedRecord is part of BatchOfSuppressionRemovedRecord.
type SuppressionRemovedRecord struct {
	Deleted bool   `json:"deleted,omitzero"`
	Email   string `json:"email,omitzero"`
	ID      string `json:"id,omitzero"`
	Object  string `json:"object,omitzero"`
}

// SuppressionResult is the answer to GET /v1/unsubscribe/{token}.
type SuppressionResult struct {
	Email  string `json:"email,omitzero"`
	Object string `json:"object,omitzero"`
	Scope  string `json:"scope,omitzero"`
	// unsubscribed, or confirm for a link that was only looked at.
	Status string `json:"status,omitzero"`
}
