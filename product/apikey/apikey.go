// Package apikey knows the keys that programs present: how they look, what they may do, and whether they are still good.
//
// The secret of a key exists in one answer and nowhere else; what is stored is its hash. A key is checked on every request, so
// the answer is remembered for up to a second, and forgotten at once when the key changes in this process.
//
//	Owns     apikey_key
package apikey

import (
	"crypto/sha256"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/world"
)

// ID names one key, whatever its secret is at the moment.
type ID string

// Mode says whether the mail of a key leaves the machine.
type Mode string

// Modes of a key.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// Status is the state of a key as it is shown.
type Status string

// Statuses of a key.
const (
	Active  Status = "active"
	Expired Status = "expired"
	Revoked Status = "revoked"
)

// Statuses are all states of a key.
var Statuses = []Status{Active, Expired, Revoked}

// Key is an API key without its secret.
type Key struct {
	ID        ID
	Workspace space.ID
	Name      string
	Mode      Mode
	Scopes    []api.Scope
	Preset    Preset
	DomainIDs []string
	// Networks are addresses and networks in their shortest form, as they are shown.
	Networks   []string
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RotatedAt  time.Time
	RevokedAt  time.Time
	LastUsedAt time.Time
	LastUsedIP string

	publicID      string
	hash          digest
	previousHash  digest
	previousUntil time.Time
}

// digest is the SHA-256 of a whole key. A key has 190 bits of chance, so it needs neither salt nor a slow hash.
type digest [sha256.Size]byte

// Prefix is the part of a key by which people recognise it.
func (k Key) Prefix() string { return word + "_" + string(k.Mode) + "_" + k.publicID }

// Status tells whether the key is good at a moment.
func (k Key) Status(now time.Time) Status {
	switch {
	case !k.RevokedAt.IsZero():
		return Revoked
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return Expired
	}
	return Active
}

// DomainsExist tells whether all ids are domains of the workspace. Domains stand above keys, so they are asked through this.
type DomainsExist func(tx *db.Tx, ws space.ID, ids []string) (bool, error)

// Service makes and checks keys.
type Service struct {
	world    world.World
	db       *db.DB
	accounts *account.Service
	domains  DomainsExist
	cache    *cache
	uses     *uses
}

// New returns the service of one process. Without domains, no key can be restricted to any.
func New(w world.World, d *db.DB, accounts *account.Service, domains DomainsExist) *Service {
	if domains == nil {
		domains = func(*db.Tx, space.ID, []string) (bool, error) { return false, nil }
	}
	return &Service{world: w, db: d, accounts: accounts, domains: domains, cache: newCache(), uses: newUses()}
}

// Actions of keys in the audit log.
const (
	KeyCreated account.Action = "api_key.created"
	KeyRotated account.Action = "api_key.rotated"
	KeyRevoked account.Action = "api_key.revoked"
)
