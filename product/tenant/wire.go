package tenant

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"postrider/platform/api"
	"postrider/platform/event"
	"postrider/product/domain"
	"postrider/product/plan"
)

// Record is a managed customer on the wire.
type Record struct {
	Object      string          `json:"object" example:"managed_tenant"`
	ID          ID              `json:"id" example:"0193a1f3-0000-7000-8000-000000000201"`
	ExternalID  string          `json:"external_id" example:"shop_4711"`
	Name        string          `json:"name" example:"Shop 4711"`
	Status      Status          `json:"status" example:"active"`
	Provider    Provider        `json:"provider" example:"inherit"`
	DomainCount int64           `json:"domain_count" example:"1"`
	Metadata    json.RawMessage `json:"metadata" example:"{\"country\":\"DE\"}"`
	PausedAt    api.Time        `json:"paused_at"`
	PauseReason api.Ref         `json:"pause_reason"`
	Usage       usageRecord     `json:"usage"`
	CreatedAt   api.Time        `json:"created_at"`
	UpdatedAt   api.Time        `json:"updated_at"`
}

type usageRecord struct {
	EmailsThisMonth int64    `json:"emails_this_month" example:"1520"`
	LastSentAt      api.Time `json:"last_sent_at"`
}

// place is where a page after the customer begins.
func (r Record) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

func newRecord(t Tenant, now time.Time) Record {
	return Record{Object: "managed_tenant", ID: t.ID, ExternalID: t.ExternalID, Name: t.Name, Status: t.Status, Provider: t.Provider,
		DomainCount: t.Domains, Metadata: t.Metadata, PausedAt: api.Time(t.PausedAt), PauseReason: api.Ref(t.PauseReason),
		Usage:     usageRecord{t.usage.inMonthOf(now), api.Time(t.usage.lastSentAt)},
		CreatedAt: api.Time(t.CreatedAt), UpdatedAt: api.Time(t.UpdatedAt)}
}

// created is the answer to a request for a customer, who may have been there already.
type created struct {
	Record
	Idempotent bool `json:"idempotent" example:"false"`
}

// Status tells a new customer from one that was there.
func (c created) Status() int {
	if c.Idempotent {
		return http.StatusOK
	}
	return http.StatusCreated
}

// detail is a customer with its domains, oldest first.
type detail struct {
	Record
	Domains []domain.Record `json:"domains"`
}

// page is a page of customers, with what the plan allows.
type page struct {
	api.Page[Record]
	Limits limits `json:"limits"`
}

// limits is how much of its plan a workspace uses for customers. Null means without limit.
type limits struct {
	Plan          plan.Name `json:"plan" example:"pro"`
	Enabled       bool      `json:"managed_tenants_enabled" example:"true"`
	MaxTenants    *int64    `json:"max_managed_tenants" example:"100"`
	UsedTenants   int64     `json:"used_managed_tenants" example:"37"`
	Remaining     *int64    `json:"remaining_managed_tenants" example:"63"`
	MaxDomains    *int64    `json:"max_domains_per_tenant" example:"5"`
	TenantDomains int64     `json:"used_tenant_domains" example:"41"`
}

func newLimits(p plan.Plan, tenants, domains int64) limits {
	l := limits{Plan: p.Name, Enabled: true, MaxTenants: p.Limits.ManagedTenants, UsedTenants: tenants,
		MaxDomains: p.Limits.DomainsPerTenant, TenantDomains: domains}
	if l.MaxTenants != nil {
		left := max(0, *l.MaxTenants-tenants) // a smaller plan takes nobody away
		l.Remaining = &left
	}
	return l
}

func (s *Service) newEvent(t Tenant, kind string) event.Event {
	raw, err := json.Marshal(newRecord(t, t.UpdatedAt))
	if err != nil {
		panic(fmt.Sprintf("tenant: event %s: %v", kind, err))
	}
	return event.Event{ID: s.world.NewID(), Workspace: t.Workspace, Type: kind, Subject: string(t.ID), Tenant: string(t.ID),
		OccurredAt: t.UpdatedAt, Data: raw}
}
