// Package tenant keeps managed customers: the shops, projects or organisations that a platform sends for. They have domains of
// their own, can be paused one by one, and never sign in.
//
// A send names no customer. Its sender's domain does, so what email and delivery ask here starts from a domain's TenantID.
//
//	Owns     tenant, tenant_total, tenant_usage
//	Reads    domain, to count
//	Emits    managed_tenant.created, managed_tenant.updated, managed_tenant.paused, managed_tenant.resumed, managed_tenant.deleted
package tenant

import (
	"encoding/json"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/domain"
	"postrider/product/plan"
	"postrider/world"
)

// ID names a managed customer.
type ID string

// Tenant is a managed customer.
type Tenant struct {
	ID        ID
	Workspace space.ID
	// ExternalID is what the platform calls it. It never changes.
	ExternalID string
	Name       string
	Status     Status
	Provider   Provider
	// Metadata is an object that belongs to the platform.
	Metadata    json.RawMessage
	PauseReason string
	Domains     int64

	PausedAt, CreatedAt, UpdatedAt time.Time

	usage usage
}

// Status tells whether a customer may act.
type Status string

// Statuses of a customer.
const (
	Active Status = "active"
	Paused Status = "paused"
)

// Provider says which way the mail of a customer goes out.
type Provider string

// Providers besides node:<id>, which names a sending node.
const (
	Inherit Provider = "inherit"
	Direct  Provider = "direct"
	Relay   Provider = "relay"
)

const nodePrefix = "node:"

// Node returns the id of the sending node that the provider names, if it names one.
func (p Provider) Node() (id string, ok bool) { return strings.CutPrefix(string(p), nodePrefix) }

// Errors of managed customers.
var (
	// ErrNotFound means that the workspace has no such customer.
	ErrNotFound = api.NewError(404, "managed_tenant_not_found", "not_found", "The managed customer was not found.")
	// ErrPlan means that the plan has no managed customers at all.
	ErrPlan = api.NewError(402, "managed_tenants_plan_required", "managed_tenants_plan_required", "The plan does not include managed customers.")
	// ErrLimit means that the plan has no room for another customer.
	ErrLimit = api.NewError(402, "managed_tenant_limit_reached", "managed_tenant_limit_reached", "The plan has no room for another managed customer.")
	// ErrDomainLimit means that the customer has as many domains as the plan allows each.
	ErrDomainLimit = api.NewError(402, "managed_tenant_domain_limit_reached", "managed_tenant_domain_limit_reached",
		"The managed customer has as many domains as the plan allows.")
	// ErrPaused means that the customer is paused: it may neither send nor add or verify domains.
	ErrPaused = api.NewError(409, "managed_tenant_paused", "managed_tenant_paused", "The managed customer is paused. Resume it first.")
	// ErrHasDomains means that the customer cannot be deleted yet.
	ErrHasDomains = api.NewError(409, "managed_tenant_has_domains", "managed_tenant_has_domains",
		"The managed customer still has domains. Remove them first.")
)

// NodeExists tells whether a sending node belongs to the workspace.
type NodeExists func(tx *db.Tx, ws space.ID, id string) (bool, error)

// Service keeps managed customers.
type Service struct {
	world   world.World
	db      *db.DB
	plans   *plan.Service
	domains *domain.Service
	nodes   NodeExists

	sending *sendingCache
}

// New returns the service of one process. Without nodes, no customer can be bound to one.
func New(w world.World, d *db.DB, plans *plan.Service, domains *domain.Service, nodes NodeExists) *Service {
	if nodes == nil {
		nodes = func(*db.Tx, space.ID, string) (bool, error) { return false, nil }
	}
	return &Service{world: w, db: d, plans: plans, domains: domains, nodes: nodes, sending: newSendingCache()}
}

// active returns the error of a paused customer.
func (t Tenant) active() error {
	if t.Status == Paused {
		return ErrPaused.With("managed_tenant_id", t.ID)
	}
	return nil
}
