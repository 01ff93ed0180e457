// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// DomainCapabilities is part of DomainRecord.
type DomainCapabilities struct {
	Receiving string `json:"receiving,omitzero"`
	Sending   string `json:"sending,omitzero"`
}

// DomainCreated is the answer to POST /v1/domains.
type DomainCreated struct {
	Capabilities       DomainCapabilities `json:"capabilities,omitzero"`
	Checks             map[string]any     `json:"checks,omitzero"`
	ClickTracking      bool               `json:"click_tracking,omitzero"`
	CreatedAt          time.Time          `json:"created_at,omitzero"`
	CustomReturnPath   string             `json:"custom_return_path,omitzero"`
	DKIMKeyBits        int64              `json:"dkim_key_bits,omitzero"`
	DKIMSelector       string             `json:"dkim_selector,omitzero"`
	DNSProvider        string             `json:"dns_provider,omitzero"`
	Domain             string             `json:"domain,omitzero"`
	ID                 string             `json:"id,omitzero"`
	LastCheckedAt      time.Time          `json:"last_checked_at,omitzero"`
	ManagedTenantID    string             `json:"managed_tenant_id,omitzero"`
	Name               string             `json:"name,omitzero"`
	NextCheckAt        time.Time          `json:"next_check_at,omitzero"`
	Object             string             `json:"object,omitzero"`
	OpenTracking       bool               `json:"open_tracking,omitzero"`
	Provider           string             `json:"provider,omitzero"`
	ReceivingRequested bool               `json:"receiving_requested,omitzero"`
	Records            []DomainDNSRecord  `json:"records,omitzero"`
	Region             string             `json:"region,omitzero"`
	SendingNodeID      string             `json:"sending_node_id,omitzero"`
	Status             string             `json:"status,omitzero"`
	TLS                string             `json:"tls,omitzero"`
	TrackingSubdomain  string             `json:"tracking_subdomain,omitzero"`
	UpdatedAt          time.Time          `json:"updated_at,omitzero"`
	Verified           bool               `json:"verified,omitzero"`
	VerifiedAt         time.Time          `json:"verified_at,omitzero"`
}

// DomainDNSRecord is part of DomainRecord.
type DomainDNSRecord struct {
	Found    []string `json:"found,omitzero"`
	Host     string   `json:"host,omitzero"`
	Message  string   `json:"message,omitzero"`
	Name     string   `json:"name,omitzero"`
	Priority *int64   `json:"priority,omitempty"`
	Purpose  string   `json:"purpose,omitzero"`
	Record   string   `json:"record,omitzero"`
	Required bool     `json:"required,omitzero"`
	Status   string   `json:"status,omitzero"`
	TTL      string   `json:"ttl,omitzero"`
	Type     string   `json:"type,omitzero"`
	Value    string   `json:"value,omitzero"`
}

// DomainRecord is the answer to GET /v1/domains.
type DomainRecord struct {
	Capabilities       DomainCapabilities `json:"capabilities,omitzero"`
	Checks             map[string]any     `json:"checks,omitzero"`
	ClickTracking      bool               `json:"click_tracking,omitzero"`
	CreatedAt          time.Time          `json:"created_at,omitzero"`
	CustomReturnPath   string             `json:"custom_return_path,omitzero"`
	DKIMKeyBits        int64              `json:"dkim_key_bits,omitzero"`
	DKIMSelector       string             `json:"dkim_selector,omitzero"`
	DNSProvider        string             `json:"dns_provider,omitzero"`
	Domain             string             `json:"domain,omitzero"`
	ID                 string             `json:"id,omitzero"`
	LastCheckedAt      time.Time          `json:"last_checked_at,omitzero"`
	ManagedTenantID    string             `json:"managed_tenant_id,omitzero"`
	Name               string             `json:"name,omitzero"`
	NextCheckAt        time.Time          `json:"next_check_at,omitzero"`
	Object             string             `json:"object,omitzero"`
	OpenTracking       bool               `json:"open_tracking,omitzero"`
	Provider           string             `json:"provider,omitzero"`
	ReceivingRequested bool               `json:"receiving_requested,omitzero"`
	Records            []DomainDNSRecord  `json:"records,omitzero"`
	Region             string             `json:"region,omitzero"`
	SendingNodeID      string             `json:"sending_node_id,omitzero"`
	Status             string             `json:"status,omitzero"`
	TLS                string             `json:"tls,omitzero"`
	TrackingSubdomain  string             `json:"tracking_subdomain,omitzero"`
	UpdatedAt          time.Time          `json:"updated_at,omitzero"`
	Verified           bool               `json:"verified,omitzero"`
	VerifiedAt         time.Time          `json:"verified_at,omitzero"`
}

// DomainRegistration is the body of POST /v1/domains.
type DomainRegistration struct {
	Capabilities  DomainRegistrationCapabilities `json:"capabilities,omitzero"`
	ClickTracking bool                           `json:"click_tracking,omitzero"`
	// Label of the return path.
	CustomReturnPath string `json:"custom_return_path,omitzero"`
	// Selector of the signing key; random if absent.
	DKIMSelector string `json:"dkim_selector,omitzero"`
	// none, quarantine or reject.
	DMARCPolicy  string `json:"dmarc_policy,omitzero"`
	Domain       string `json:"domain,omitzero"`
	Name         string `json:"name,omitzero"`
	OpenTracking bool   `json:"open_tracking,omitzero"`
	// inherit, direct, relay or node:<id of a sending node>.
	Provider string `json:"provider,omitzero"`
	// A region of sending nodes.
	Region string `json:"region,omitzero"`
	// The node that alone delivers for the domain.
	SendingNodeID string `json:"sending_node_id,omitzero"`
	// opportunistic or enforced.
	TLS string `json:"tls,omitzero"`
	// Label of tracking links.
	TrackingSubdomain string `json:"tracking_subdomain,omitzero"`
}

// DomainRegistrationCapabilities is part of DomainRegistration.
type DomainRegistrationCapabilities struct {
	Receiving string `json:"receiving,omitzero"`
	Sending   string `json:"sending,omitzero"`
}

// DomainUpdate is the body of PATCH /v1/domains/{id}.
type DomainUpdate struct {
	Capabilities     DomainUpdateCapabilities `json:"capabilities,omitzero"`
	ClickTracking    *bool                    `json:"click_tracking,omitempty"`
	CustomReturnPath *string                  `json:"custom_return_path,omitempty"`
	DMARCPolicy      *string                  `json:"dmarc_policy,omitempty"`
	OpenTracking     *bool                    `json:"open_tracking,omitempty"`
	// inherit, direct, relay or node:<id of a sending node>.
	Provider          *string `json:"provider,omitempty"`
	SendingNodeID     *string `json:"sending_node_id,omitempty"`
	TLS               *string `json:"tls,omitempty"`
	TrackingSubdomain *string `json:"tracking_subdomain,omitempty"`
}

// DomainUpdateCapabilities is part of DomainUpdate.
type DomainUpdateCapabilities struct {
	Receiving string `json:"receiving,omitzero"`
	Sending   string `json:"sending,omitzero"`
}
