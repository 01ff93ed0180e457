// Package delivery hands mail out: it takes recipients that are due, finds their servers, signs, speaks, and reports what happened.
//
// Work goes in three beats. A step settles what has been finished and claims what is due, in one transaction; between steps
// the conversations go on, outside any transaction. If the process dies, the leases of what it had claimed run out and
// another step claims it again.
//
//	Queues   mail (claims and settles; product/email adds)
package delivery

import (
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/relay"
	"postrider/world"
)

// Config says how mail leaves this node.
type Config struct {
	// Node names this process among those that share the database; its leases are its own again after a restart.
	Node string
	// Hello is the name given to other servers.
	Hello string
	// Port is where mail servers listen: 25, except in tests.
	Port int
	// AllowPrivate permits servers with private and loopback addresses, for tests.
	AllowPrivate bool
	// MaxInFlight bounds the recipients being mailed at once, and with them memory and sockets.
	MaxInFlight int
	// Inline holds each conversation inside the step that claimed it. The simulator needs that to be repeatable.
	Inline bool
}

const (
	defaultInFlight = 500
	// claimBatch bounds what one transaction claims.
	claimBatch = 200
	// leaseFor is short, so that mail of a node that vanished moves soon; leases are renewed well before they end.
	leaseFor   = 30 * time.Second
	renewEvery = 10 * time.Second
	// idleLook is how often the queue is looked at even if nobody announces work.
	idleLook = 5 * time.Second
)

// Service delivers.
type Service struct {
	world   world.World
	db      *db.DB
	emails  *email.Service
	domains *domain.Service
	relays  *relay.Service
	keys    *seal.Keyring
	config  Config
	routes  *routes
	pool    *pool

	wake chan struct{} // buffered; receives when an outcome waits

	mu       sync.Mutex
	finished []email.Outcome // guarded by mu
	inFlight int             // guarded by mu
	running  sync.WaitGroup
}

// New returns the service.
func New(w world.World, d *db.DB, emails *email.Service, domains *domain.Service, relays *relay.Service, keys *seal.Keyring, config Config) *Service {
	if config.MaxInFlight == 0 {
		config.MaxInFlight = defaultInFlight
	}
	return &Service{
		world: w, db: d, emails: emails, domains: domains, relays: relays, keys: keys, config: config, wake: make(chan struct{}, 1),
		routes: newRoutes(w, config), pool: newPool(w, config),
	}
}

// Workers returns what has to run on a node that delivers.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "delivery", Step: s.Step, Topics: []string{email.Lane.Topic(), email.LaneOf(s.config.Node).Topic()}, Wake: s.wake, Every: idleLook, Next: s.nextDue},
		{Name: "delivery leases", Step: s.RenewLeases, Every: renewEvery},
		{Name: "delivery connections", Step: s.sweepConnections, Every: idleFor},
	}
}
