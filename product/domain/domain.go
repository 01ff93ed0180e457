// Package domain keeps sending domains: their signing keys, the DNS records their owners must publish, and whether they have.
//
//	Owns     domain, domain_key, domain_total
//	Queues   domain_check (one item a domain)
//	Emits    domain.created, .updated, .deleted, .verified, .failed
package domain

import (
	"context"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/limit"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/plan"
	"postrider/world"
)

// ID names a domain.
type ID string

// Domain is a name that a workspace may send from once its DNS says so.
type Domain struct {
	ID             ID
	Workspace      space.ID
	TenantID       string
	Name           string
	Region         string
	Verified       bool
	Status         Status
	SendingEnabled bool
	OpenTracking   bool
	ClickTracking  bool
	TrackingLabel  string
	// FormerLabels are those that tracking links had before, the newest first.
	FormerLabels []string
	ReturnLabel  string
	// ReturnVerified tells that the return path on the domain itself leads to us.
	ReturnVerified bool
	TLS            string
	DMARCPolicy    string
	// Provider is the way mail from the domain goes out: inherit, direct, relay, or node: and the id of a node.
	Provider string
	// Receiving tells that mail for the domain is taken; ReceivingRequested that its owner wants that once it is possible.
	Receiving          bool
	ReceivingRequested bool
	// Signing are the selectors of the keys that sign, the RSA one first.
	Signing []string
	Checks  Checks
	// Keys are loaded only where they are needed.
	Keys []Key

	CreatedAt, UpdatedAt, LastCheckedAt, NextCheckAt, VerifiedAt, FailingSince time.Time
	FailedRounds                                                               int
}

// Sendable tells whether mail from the domain may go out.
func (d Domain) Sendable() bool { return d.Verified && d.SendingEnabled }

// ReturnHost is the host of the return path on the domain.
func (d Domain) ReturnHost() string { return d.ReturnLabel + "." + d.Name }

// Status is how far verification has come.
type Status string

// Statuses of domains.
const (
	NotStarted        Status = "not_started"
	Pending           Status = "pending"
	Verified          Status = "verified"
	PartiallyVerified Status = "partially_verified"
	Failed            Status = "failed"
	PartiallyFailed   Status = "partially_failed"
)

var statuses = []Status{NotStarted, Pending, Verified, PartiallyVerified, Failed, PartiallyFailed}

// Hosts are the names of the service that domains point to.
type Hosts struct {
	// Service is the domain the platform itself runs under.
	Service string
}

// SPF is what customers' SPF records include.
func (h Hosts) SPF() string { return "spf." + h.Service }

// Bounces is the return path of domains that have none of their own.
func (h Hosts) Bounces() string { return "bounces." + h.Service }

// Tracking is where tracking links lead.
func (h Hosts) Tracking() string { return "track." + h.Service }

// MX are the receivers, the preferred one first.
func (h Hosts) MX() []string { return []string{"mx1." + h.Service, "mx2." + h.Service} }

// Errors of domains.
var (
	// ErrNotYours means that the sender's domain is not one of the workspace.
	ErrNotYours = api.NewError(403, "invalid_from_address", "invalid_from_address", "The sender's domain is not registered in this workspace.")
	// ErrAuthBroken means that SPF or DKIM does not pass.
	ErrAuthBroken = api.NewError(403, "domain_auth_broken", "validation_error", "SPF or DKIM of the sender's domain does not pass. Publish its records and verify it.")
	// ErrQuota means that the plan has no slot left.
	ErrQuota = api.NewError(402, "domain_quota_exceeded", "domain_quota_exceeded", "The plan has no domain slots left.")
	// ErrTaken means that another workspace holds the domain; it is not told which.
	ErrTaken = api.NewError(409, "domain_taken", "validation_error", "This domain is verified in another workspace.")

	errSendingDisabled = api.ErrDomainNotAllowed.Saying("Sending from this domain is switched off.")
)

// Service keeps domains.
type Service struct {
	world   world.World
	db      *db.DB
	keyring *seal.Keyring
	plans   *plan.Service
	hosts   Hosts

	receiver Receiver
	nodes    Nodes

	sending   *sendingCache
	receiving receivingCache
	signers   *signerCache
	verifying *limit.Limiter
	holder    *queue.Holder // of the leases on checks
}

// Nodes knows the sending nodes. Nil means that there are none.
type Nodes interface {
	// Exists tells whether there is a node of this id.
	Exists(tx *db.Tx, ws space.ID, id string) (bool, error)
	// Regions are those that nodes are in.
	Regions(tx *db.Tx) ([]string, error)
}

// Receiver tells whether this installation can take mail now, as a list of checks that must all pass. It stands above this
// package; nil means that there is none.
type Receiver func(ctx context.Context) []HealthCheck

// HealthCheck is one thing that must be well before a domain may receive.
type HealthCheck struct {
	Name    string `json:"name" example:"receiver"`
	Status  string `json:"status" example:"pass"`
	Message string `json:"message"`
}

// New returns the service.
func New(w world.World, d *db.DB, keyring *seal.Keyring, plans *plan.Service, hosts Hosts, nodes Nodes, receiver Receiver) *Service {
	return &Service{world: w, db: d, keyring: keyring, plans: plans, hosts: hosts, nodes: nodes, receiver: receiver, sending: newSendingCache(), signers: newSignerCache(),
		verifying: limit.New(w.Clock, maxCached), holder: queue.NewHolder(w, d, "domain/"+w.NewID())}
}

// Hosts returns the names of the service.
func (s *Service) Hosts() Hosts { return s.hosts }
