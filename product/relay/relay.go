// Package relay keeps the mail server that a workspace hands its mail to instead of delivering it directly: for customers who have one,
// and for machines whose way to other mail servers is closed.
//
//	Owns     relay
package relay

import (
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/world"
)

// Relay is a mail server that takes mail from those who sign in.
type Relay struct {
	Workspace space.ID
	Host      string
	Port      int
	Security  Security
	Username  string
	// Password is in clear text in memory only.
	Password             string
	CreatedAt, UpdatedAt time.Time
}

// Security says how the connection to a relay is encrypted. It always is: a password travels over it.
type Security string

const (
	// StartTLS begins in clear text and is encrypted before anything is said.
	StartTLS Security = "starttls"
	// ImplicitTLS is encrypted from the first byte.
	ImplicitTLS Security = "tls"
)

// Errors of relays.
var (
	// ErrNone means that the workspace has no relay.
	ErrNone = api.NotFound("relay")
	// ErrRefused means that the relay could not be used as it was described.
	ErrRefused = api.NewError(502, "relay_error", "application_error", "The relay could not be used.")
)

// Config says how relays are spoken to.
type Config struct {
	// Hello is the name given to them.
	Hello string
	// Network says which addresses relays may have.
	Network httpout.Policy
	// TrustAnyone does not check certificates. Tests only.
	TrustAnyone bool
}

// Service keeps relays.
type Service struct {
	world    world.World
	db       *db.DB
	keys     *seal.Keyring
	accounts *account.Service
	config   Config
}

// New returns the service.
func New(w world.World, d *db.DB, keys *seal.Keyring, accounts *account.Service, config Config) *Service {
	return &Service{world: w, db: d, keys: keys, accounts: accounts, config: config}
}

// sealContext binds a sealed password to its workspace.
func sealContext(ws space.ID) string { return "relay/" + string(ws) }
