// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// AccountPlanLimits is the answer to GET /v1/limits.
type AccountPlanLimits struct {
	Limits      PlanLimits          `json:"limits,omitzero"`
	Object      string              `json:"object,omitzero"`
	PeriodEnd   time.Time           `json:"period_end,omitzero"`
	PeriodStart time.Time           `json:"period_start,omitzero"`
	Plan        string              `json:"plan,omitzero"`
	RateLimits  map[string]PlanRate `json:"rate_limits,omitzero"`
	Usage       AccountUsage        `json:"usage,omitzero"`
}

// AccountUsage is part of AccountPlanLimits.
type AccountUsage struct {
	Automations     int64 `json:"automations,omitzero"`
	Contacts        int64 `json:"contacts,omitzero"`
	EmailsThisMonth int64 `json:"emails_this_month,omitzero"`
	EmailsToday     int64 `json:"emails_today,omitzero"`
	ManagedTenants  int64 `json:"managed_tenants,omitzero"`
	Members         int64 `json:"members,omitzero"`
	Templates       int64 `json:"templates,omitzero"`
	TenantDomains   int64 `json:"tenant_domains,omitzero"`
	VerifiedDomains int64 `json:"verified_domains,omitzero"`
	Webhooks        int64 `json:"webhooks,omitzero"`
}
