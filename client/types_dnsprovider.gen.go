// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// DnsproviderApplyBody is the body of POST /v1/domains/{id}/cloudflare/apply.
type DnsproviderApplyBody struct {
	// The account to use; the newest one if absent.
	ConnectionID string `json:"connection_id,omitzero"`
	// Replaces records of the same name and type that others made; never other TXT records.
	Overwrite bool `json:"overwrite,omitzero"`
	// Mail, and inbound if receiving is requested, unless this says otherwise.
	Records *DnsproviderSelection `json:"records,omitempty"`
}

// DnsproviderApplyRecord is the answer to POST /v1/domains/{id}/cloudflare/apply.
type DnsproviderApplyRecord struct {
	// Records that were written; those that were right already are not counted.
	Applied   int64     `json:"applied,omitzero"`
	AppliedAt time.Time `json:"applied_at,omitzero"`
	DomainID  string    `json:"domain_id,omitzero"`
	// Conflicts and errors.
	Failed   int64                     `json:"failed,omitzero"`
	Object   string                    `json:"object,omitzero"`
	Provider string                    `json:"provider,omitzero"`
	Records  DnsproviderSelection      `json:"records,omitzero"`
	Results  []DnsproviderResultRecord `json:"results,omitzero"`
	Zone     string                    `json:"zone,omitzero"`
	ZoneID   string                    `json:"zone_id,omitzero"`
}

// DnsproviderLinkRecord is the answer to POST /v1/domains/{id}/domain-connect/cloudflare-url.
type DnsproviderLinkRecord struct {
	ExpiresAt time.Time            `json:"expires_at,omitzero"`
	Object    string               `json:"object,omitzero"`
	Provider  string               `json:"provider,omitzero"`
	Records   DnsproviderSelection `json:"records,omitzero"`
	ServiceID string               `json:"service_id,omitzero"`
	State     string               `json:"state,omitzero"`
	URL       string               `json:"url,omitzero"`
}

// DnsproviderResultRecord is part of DnsproviderApplyRecord.
type DnsproviderResultRecord struct {
	// created, updated, merged, unchanged, conflict or error.
	Action string `json:"action,omitzero"`
	Error  string `json:"error,omitzero"`
	Name   string `json:"name,omitzero"`
	Type   string `json:"type,omitzero"`
}

// DnsproviderSelection is part of DnsproviderApplyBody.
type DnsproviderSelection struct {
	// What receiving needs.
	Inbound bool `json:"inbound,omitzero"`
	// What sending needs.
	Mail bool `json:"mail,omitzero"`
}
