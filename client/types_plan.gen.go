// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

// PlanLimits is part of AccountPlanLimits.
type PlanLimits struct {
	Automations           *int64 `json:"automations,omitempty"`
	Contacts              *int64 `json:"contacts,omitempty"`
	DomainsPerTenant      *int64 `json:"domains_per_tenant,omitempty"`
	EmailsPerDay          *int64 `json:"emails_per_day,omitempty"`
	EmailsPerMonth        *int64 `json:"emails_per_month,omitempty"`
	LogRetentionDays      *int64 `json:"log_retention_days,omitempty"`
	ManagedTenants        *int64 `json:"managed_tenants,omitempty"`
	Members               *int64 `json:"members,omitempty"`
	ReceivedRetentionDays *int64 `json:"received_retention_days,omitempty"`
	ScheduledDaysAhead    int64  `json:"scheduled_days_ahead,omitzero"`
	Templates             *int64 `json:"templates,omitempty"`
	VerifiedDomains       *int64 `json:"verified_domains,omitempty"`
	Webhooks              *int64 `json:"webhooks,omitempty"`
}

// PlanRate is part of AccountPlanLimits.
type PlanRate struct {
	Burst  int64 `json:"burst,omitzero"`
	PerSec int64 `json:"per_sec,omitzero"`
}
