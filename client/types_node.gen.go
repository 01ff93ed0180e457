// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// NodeCapabilities is part of NodeRecord.
type NodeCapabilities struct {
	Receiving bool `json:"receiving,omitzero"`
	Sending   bool `json:"sending,omitzero"`
	TLS       bool `json:"tls,omitzero"`
}

// NodeCheck is part of NodeRecord.
type NodeCheck struct {
	Check   string `json:"check,omitzero"`
	Message string `json:"message,omitzero"`
	Status  string `json:"status,omitzero"`
}

// NodeRecord is the answer to GET /v1/sending-nodes.
type NodeRecord struct {
	Blocklists   []string         `json:"blocklists,omitzero"`
	BounceHost   string           `json:"bounce_host,omitzero"`
	Capabilities NodeCapabilities `json:"capabilities,omitzero"`
	CheckedAt    time.Time        `json:"checked_at,omitzero"`
	Checks       []NodeCheck      `json:"checks,omitzero"`
	Default      bool             `json:"default,omitzero"`
	Hostname     string           `json:"hostname,omitzero"`
	ID           string           `json:"id,omitzero"`
	IPAddresses  []string         `json:"ip_addresses,omitzero"`
	MXHost       string           `json:"mx_host,omitzero"`
	Name         string           `json:"name,omitzero"`
	Object       string           `json:"object,omitzero"`
	Provider     string           `json:"provider,omitzero"`
	Queue        *NodeWaiting     `json:"queue,omitempty"`
	Region       string           `json:"region,omitzero"`
	ReverseDNS   NodeReverse      `json:"reverse_dns,omitzero"`
	SPFInclude   string           `json:"spf_include,omitzero"`
	Status       string           `json:"status,omitzero"`
	TrackingHost string           `json:"tracking_host,omitzero"`
	Warmup       NodeWarmup       `json:"warmup,omitzero"`
}

// NodeReverse is part of NodeRecord.
type NodeReverse struct {
	Ptr    string `json:"ptr,omitzero"`
	Status string `json:"status,omitzero"`
}

// NodeWaiting is part of NodeRecord.
type NodeWaiting struct {
	Deferred int64 `json:"deferred,omitzero"`
	Ready    int64 `json:"ready,omitzero"`
}

// NodeWarmup is part of NodeRecord.
type NodeWarmup struct {
	Active   bool   `json:"active,omitzero"`
	DailyCap *int64 `json:"daily_cap,omitempty"`
	Day      *int64 `json:"day,omitempty"`
}
