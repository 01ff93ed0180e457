// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// TenantChange is the body of PATCH /v1/managed-tenants/{id}.
type TenantChange struct {
	// Cannot be changed; only its present value is taken.
	ExternalID string `json:"external_id,omitzero"`
	// Replaces all metadata; null clears it.
	Metadata map[string]any `json:"metadata,omitzero"`
	Name     string         `json:"name,omitzero"`
	// Why; kept while the customer is paused.
	PauseReason *string `json:"pause_reason,omitempty"`
	// The same as status.
	Paused *bool `json:"paused,omitempty"`
	// inherit, direct, relay or node:<id of a sending node>.
	Provider string `json:"provider,omitzero"`
	// active or paused.
	Status string `json:"status,omitzero"`
}

// TenantCreated is the answer to POST /v1/managed-tenants.
type TenantCreated struct {
	CreatedAt   time.Time         `json:"created_at,omitzero"`
	DomainCount int64             `json:"domain_count,omitzero"`
	ExternalID  string            `json:"external_id,omitzero"`
	ID          string            `json:"id,omitzero"`
	Idempotent  bool              `json:"idempotent,omitzero"`
	Metadata    any               `json:"metadata,omitempty"`
	Name        string            `json:"name,omitzero"`
	Object      string            `json:"object,omitzero"`
	PauseReason string            `json:"pause_reason,omitzero"`
	PausedAt    time.Time         `json:"paused_at,omitzero"`
	Provider    string            `json:"provider,omitzero"`
	Status      string            `json:"status,omitzero"`
	UpdatedAt   time.Time         `json:"updated_at,omitzero"`
	Usage       TenantUsageRecord `json:"usage,omitzero"`
}

// TenantDetail is the answer to GET /v1/managed-tenants/by-external-id/{externalId}.
type TenantDetail struct {
	CreatedAt   time.Time         `json:"created_at,omitzero"`
	DomainCount int64             `json:"domain_count,omitzero"`
	Domains     []DomainRecord    `json:"domains,omitzero"`
	ExternalID  string            `json:"external_id,omitzero"`
	ID          string            `json:"id,omitzero"`
	Metadata    any               `json:"metadata,omitempty"`
	Name        string            `json:"name,omitzero"`
	Object      string            `json:"object,omitzero"`
	PauseReason string            `json:"pause_reason,omitzero"`
	PausedAt    time.Time         `json:"paused_at,omitzero"`
	Provider    string            `json:"provider,omitzero"`
	Status      string            `json:"status,omitzero"`
	UpdatedAt   time.Time         `json:"updated_at,omitzero"`
	Usage       TenantUsageRecord `json:"usage,omitzero"`
}

// TenantLimits is part of TenantPage.
type TenantLimits struct {
	ManagedTenantsEnabled   bool   `json:"managed_tenants_enabled,omitzero"`
	MaxDomainsPerTenant     *int64 `json:"max_domains_per_tenant,omitempty"`
	MaxManagedTenants       *int64 `json:"max_managed_tenants,omitempty"`
	Plan                    string `json:"plan,omitzero"`
	RemainingManagedTenants *int64 `json:"remaining_managed_tenants,omitempty"`
	UsedManagedTenants      int64  `json:"used_managed_tenants,omitzero"`
	UsedTenantDomains       int64  `json:"used_tenant_domains,omitzero"`
}

// TenantNewTenant is the body of POST /v1/managed-tenants.
type TenantNewTenant struct {
	// Your own id of the customer; it never changes.
	ExternalID string `json:"external_id,omitzero"`
	// At most 50 keys and 8 KB.
	Metadata map[string]any `json:"metadata,omitzero"`
	Name     string         `json:"name,omitzero"`
	// inherit, direct, relay or node:<id of a sending node>.
	Provider string `json:"provider,omitzero"`
}

// TenantPage is the answer to GET /v1/managed-tenants.
type TenantPage struct {
	Data       []TenantRecord `json:"data,omitzero"`
	HasMore    bool           `json:"has_more,omitzero"`
	Limit      int64          `json:"limit,omitzero"`
	Limits     TenantLimits   `json:"limits,omitzero"`
	NextCursor string         `json:"next_cursor,omitzero"`
	Object     string         `json:"object,omitzero"`
	Offset     int64          `json:"offset,omitzero"`
	Total      *int64         `json:"total,omitempty"`
}

// TenantRecord is part of TenantPage.
type TenantRecord struct {
	CreatedAt   time.Time         `json:"created_at,omitzero"`
	DomainCount int64             `json:"domain_count,omitzero"`
	ExternalID  string            `json:"external_id,omitzero"`
	ID          string            `json:"id,omitzero"`
	Metadata    any               `json:"metadata,omitempty"`
	Name        string            `json:"name,omitzero"`
	Object      string            `json:"object,omitzero"`
	PauseReason string            `json:"pause_reason,omitzero"`
	PausedAt    time.Time         `json:"paused_at,omitzero"`
	Provider    string            `json:"provider,omitzero"`
	Status      string            `json:"status,omitzero"`
	UpdatedAt   time.Time         `json:"updated_at,omitzero"`
	Usage       TenantUsageRecord `json:"usage,omitzero"`
}

// TenantUsageRecord is part of TenantRecord.
type TenantUsageRecord struct {
	EmailsThisMonth int64     `json:"emails_this_month,omitzero"`
	LastSentAt      time.Time `json:"last_sent_at,omitzero"`
}
