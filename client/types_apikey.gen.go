// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// ApikeyCreateBody is the body of POST /v1/api-keys.
type ApikeyCreateBody struct {
	DomainID []string `json:"domain_id,omitzero"`
	// Restricts the key to these domains.
	DomainIDs []string  `json:"domain_ids,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// At most 50 addresses or networks.
	IPAllowlist []string `json:"ip_allowlist,omitzero"`
	// live, or test for a key whose mail stays in the sandbox.
	Mode string `json:"mode,omitzero"`
	Name string `json:"name,omitzero"`
	// full_access or sending_access.
	Permission string `json:"permission,omitzero"`
	// full_access, sending_access, customer_platform, webhooks or read_only.
	Preset string `json:"preset,omitzero"`
	// Exactly one of scopes, preset and permission.
	Scopes []string `json:"scopes,omitzero"`
}

// ApikeyRecord is the answer to GET /v1/api-keys.
type ApikeyRecord struct {
	CreatedAt   time.Time `json:"created_at,omitzero"`
	CreatedBy   string    `json:"created_by,omitzero"`
	DomainIDs   []string  `json:"domain_ids,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	ID          string    `json:"id,omitzero"`
	IPAllowlist []string  `json:"ip_allowlist,omitzero"`
	KeyPrefix   string    `json:"key_prefix,omitzero"`
	LastUsedAt  time.Time `json:"last_used_at,omitzero"`
	LastUsedIP  string    `json:"last_used_ip,omitzero"`
	Mode        string    `json:"mode,omitzero"`
	Name        string    `json:"name,omitzero"`
	Object      string    `json:"object,omitzero"`
	Preset      string    `json:"preset,omitzero"`
	RevokedAt   time.Time `json:"revoked_at,omitzero"`
	RotatedAt   time.Time `json:"rotated_at,omitzero"`
	Scopes      []string  `json:"scopes,omitzero"`
	Status      string    `json:"status,omitzero"`
}

// ApikeySecretRecord is the answer to POST /v1/api-keys.
type ApikeySecretRecord struct {
	CreatedAt   time.Time `json:"created_at,omitzero"`
	CreatedBy   string    `json:"created_by,omitzero"`
	DomainIDs   []string  `json:"domain_ids,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
	ID          string    `json:"id,omitzero"`
	IPAllowlist []string  `json:"ip_allowlist,omitzero"`
	Key         string    `json:"key,omitzero"`
	KeyPrefix   string    `json:"key_prefix,omitzero"`
	LastUsedAt  time.Time `json:"last_used_at,omitzero"`
	LastUsedIP  string    `json:"last_used_ip,omitzero"`
	Mode        string    `json:"mode,omitzero"`
	Name        string    `json:"name,omitzero"`
	Object      string    `json:"object,omitzero"`
	Preset      string    `json:"preset,omitzero"`
	RevokedAt   time.Time `json:"revoked_at,omitzero"`
	RotatedAt   time.Time `json:"rotated_at,omitzero"`
	Scopes      []string  `json:"scopes,omitzero"`
	Status      string    `json:"status,omitzero"`
	Token       string    `json:"token,omitzero"`
}
