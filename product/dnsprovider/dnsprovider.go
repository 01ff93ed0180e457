// Package dnsprovider publishes the records of a domain where its owner keeps them: through an account at a DNS provider that the
// workspace has connected, or by a signed link on which the owner agrees to the change at the provider itself.
//
// What is in a zone belongs to its owner. Records that we made carry our mark; others are left alone, except that an SPF record
// gains our include, because a domain can have only one.
//
//	Owns     dnsprovider_connection
package dnsprovider

import (
	"crypto/rsa"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/platform/seal"
	"postrider/platform/space"
	"postrider/product/account"
	"postrider/product/domain"
	"postrider/world"
)

// ID names a connection.
type ID string

// Provider is a company whose name servers a domain can use.
type Provider string

// Cloudflare is the one provider that can be connected.
const Cloudflare Provider = "cloudflare"

// Connection is an account at a provider that a workspace lets us use.
type Connection struct {
	ID        ID
	Workspace space.ID
	Provider  Provider
	Name      string
	// TokenEnd is what people recognise the token by.
	TokenEnd  string
	CreatedBy string
	CreatedAt time.Time

	token []byte // sealed
}

// Actions of connections in the audit log.
const (
	Connected    account.Action = "dns_connection.created"
	Disconnected account.Action = "dns_connection.deleted"
)

// Errors of DNS providers.
var (
	// ErrNotConnected means that there is no way to the domain's DNS: no connection, none that knows the zone, or no template.
	ErrNotConnected = api.NewError(409, "dns_provider_not_connected", "validation_error", "No DNS provider is connected. Connect one first.")
	// ErrProvider means that the provider refused or did not answer.
	ErrProvider = api.NewError(502, "dns_provider_error", "application_error", "The DNS provider did not carry out the request. Try again later.")
)

// Config is what an installation decides about DNS providers.
type Config struct {
	// CloudflareURL is where Cloudflare's API answers; empty means the real one.
	CloudflareURL string
	// HTTP makes the calls; nil means a client that reaches the public internet over TLS.
	HTTP *httpout.Client
	// DomainConnect is what the operator has registered there; the zero value turns links off.
	DomainConnect DomainConnect
}

// DomainConnect is how the operator is known to DNS providers that speak Domain Connect (domainconnect.org). The templates are
// the operator's own and hold the names of the service; what differs between domains is passed to them as variables. Templates
// with mail get selector and publickey (of the signing key), dmarcpolicy, returnpath and tracking (labels); the rest of what
// they write is fixed.
type DomainConnect struct {
	// ProviderID is that of the templates.
	ProviderID string
	// MailService, InboundService and BothService are the ids of the templates for sending, for receiving and for both.
	MailService, InboundService, BothService string
	// KeyHost is the host, below the domain that the templates name, whose TXT records hold the public key, such as _dck1.
	KeyHost string
	// PrivateKey signs links.
	PrivateKey *rsa.PrivateKey
	// RedirectURI is where the provider sends people back to; empty leaves them there.
	RedirectURI string
}

const cloudflareURL = "https://api.cloudflare.com/client/v4"

// Service publishes records.
type Service struct {
	world    world.World
	db       *db.DB
	keys     *seal.Keyring
	accounts *account.Service
	domains  *domain.Service
	config   Config
}

// New returns the service.
func New(w world.World, d *db.DB, keys *seal.Keyring, accounts *account.Service, domains *domain.Service, config Config) *Service {
	if config.CloudflareURL == "" {
		config.CloudflareURL = cloudflareURL
	}
	if config.HTTP == nil {
		config.HTTP = httpout.New(httpout.Config{Policy: httpout.Policy{RequireTLS: true}, Resolver: w.Resolver, Dialer: w.Dialer, Clock: w.Clock})
	}
	return &Service{world: w, db: d, keys: keys, accounts: accounts, domains: domains, config: config}
}
