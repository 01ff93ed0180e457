// Package delivery hands mail out: it takes recipients that are due, finds their servers, signs, speaks, and reports what happened.
//
// Mail passes two stages. What is due lies in the queue; a bounded part of it is leased into memory, where the shaper
// (internal/shape) decides what goes to which server now and what must wait. What waits for too long goes back to the queue and
// has cost no attempt. A step settles what has been finished, counts an attempt for what is about to be sent and claims more, in
// one transaction; between steps the conversations go on, outside any transaction. If the process dies, the leases of what it
// had claimed run out and another step claims it again.
//
//	Owns     delivery_state, delivery_encryption, delivery_encryption_day
//	Queues   mail (claims and settles; product/email adds), tls_report
package delivery

import (
	"context"
	"crypto/x509"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"postrider/mail/dkim"
	"postrider/platform/db"
	"postrider/platform/queue"
	"postrider/platform/seal"
	"postrider/product/delivery/internal/shape"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/node"
	"postrider/product/relay"
	"postrider/world"
)

// Config says how mail leaves this node.
type Config struct {
	// Node names this process among those that share the database; its leases are its own again after a restart.
	Node string
	// Hello is the name given to other servers.
	Hello string
	// Sources are what mail leaves from; servers limit what they take from each. None means the one that the operating system
	// chooses, under the name of Source, or of Hello if that is empty too.
	Sources node.Sources
	Source  string
	// Port is where mail servers listen: 25, except in tests.
	Port int
	// AllowPrivate permits servers with private and loopback addresses, for tests.
	AllowPrivate bool
	// MaxInFlight bounds the conversations at once, and with them sockets.
	MaxInFlight int
	// MaxHeld bounds the recipients in memory, be they waiting or being mailed.
	MaxHeld int
	// Nodes knows who else delivers; without it this node behaves as if it were alone.
	Nodes *node.Service
	// Providers is what is known about other servers.
	Providers Providers
	// Roots are the authorities by which servers that must prove their names are checked; nil means those of the machine.
	Roots *x509.CertPool
	// Reports is who tells domains how well their encryption works, if they want to know; without a sender nobody is told.
	Reports Reports
	// Inline holds each conversation inside the step that begins it, without goroutines. The simulator needs that to be repeatable.
	Inline bool
}

const (
	defaultInFlight = 500
	defaultHeld     = 10_000
	// claimBatch bounds what one transaction claims.
	claimBatch = 500
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
	table   shape.Table
	routes  *routes
	letters *letters
	room    *semaphore.Weighted // for large letters

	encryption *encryption

	wake    chan struct{}   // buffered; receives when a step has something to do
	lookups chan struct{}   // holds a token for every domain that is being looked up
	locals  chan struct{}   // holds a token for every attempt that comes to no server
	pens    chan struct{}   // holds a token for every letter that is being signed
	life    context.Context // of conversations; it ends when a shutdown can wait no longer
	cutOff  context.CancelFunc
	running sync.WaitGroup // goroutines of conversations and look-ups

	stepAt time.Time // before which a step waits for more conversations to end; only steps look at it

	mu sync.Mutex
	// All below is guarded by mu.
	shaper      *shape.Shaper
	held        map[string]*held   // by recipient: all that this node has leased
	routing     map[string][]*held // by domain, whose servers are being looked up
	connections map[shape.ConnectionID]*connection
	jobs        []*job          // wait for their attempt to be counted
	finished    []email.Outcome // wait to be written down
	returning   []returning     // wait to be put back
	talking     int             // attempts under way
	begins      int             // how many more a step begins
	sources     sources
	crew        crew
	desk        claimDesk
	attempts    map[AttemptKind]int64 // that have ended
	saved       string                // the state of the shaper as it was last written

	savedSources string // that of the sources
	renewedAt    time.Time
	releaseFrom  time.Time // when leases of others may be released again
}

// New returns the service.
func New(w world.World, d *db.DB, emails *email.Service, domains *domain.Service, relays *relay.Service, keys *seal.Keyring, config Config) *Service {
	if config.MaxInFlight == 0 {
		config.MaxInFlight = defaultInFlight
	}
	if config.MaxHeld == 0 {
		config.MaxHeld = defaultHeld
	}
	if config.Source == "" {
		config.Source = config.Hello
	}
	s := &Service{
		world: w, db: d, emails: emails, domains: domains, relays: relays, keys: keys, config: config, table: config.Providers.orShipped(),
		letters: newLetters(), room: semaphore.NewWeighted(roomForLarge), wake: make(chan struct{}, 1), lookups: make(chan struct{}, maxLookups), locals: make(chan struct{}, maxLocals),
		pens: make(chan struct{}, dkim.AtOnce()),
		held: map[string]*held{}, routing: map[string][]*held{}, connections: map[shape.ConnectionID]*connection{}, desk: newClaimDesk(), attempts: map[AttemptKind]int64{}, begins: firstBegun,
	}
	s.sources = newSources(config)
	s.crew = crew{self: config.Node}
	s.encryption = newEncryption(w, d, config)
	s.routes = newRoutes(w, config, s.table, s.encryption, domains)
	s.life, s.cutOff = context.WithCancel(context.Background())
	s.shaper = shape.New(shape.Config{Providers: s.table, MaxItems: config.MaxHeld, MaxPathItems: max(config.MaxHeld/pathShare, 1), MaxConnections: config.MaxInFlight})
	return s
}

// pathShare is which part of what is held in memory may wait for one path.
const pathShare = 5

// Workers returns what has to run on a node that delivers.
func (s *Service) Workers() []queue.Worker {
	return []queue.Worker{
		{Name: "delivery", Step: s.Step, Topics: []string{email.Lane.Topic(), email.LaneOf(s.config.Node).Topic()}, Wake: s.wake, Every: idleLook, Next: s.Next},
		{Name: "delivery nodes", Step: s.lookAround, Topics: []string{node.Topic}, Every: node.SayEvery, Next: s.nextMeeting},
		{Name: "delivery handed over", Step: s.fetchHanded, Topics: []string{pileTopic(s.config.Node)}, Every: idleLook},
		{Name: "delivery leases", Step: s.RenewLeases, Every: renewEvery},
		{Name: "delivery state", Step: s.saveState, Every: saveEvery},
		{Name: "delivery sources", Step: s.saveSources, Every: saveEvery},
		{Name: "delivery encryption", Step: s.encryption.save, Every: saveEvery},
		{Name: "delivery encryption of old", Step: s.encryption.forgetOld, Every: time.Hour},
		{Name: "delivery encryption reports", Step: s.report, Topics: []string{reportLane.Topic()}, Every: time.Minute},
	}
}

func (s *Service) now() time.Time { return s.world.Clock.Now().Truncate(time.Microsecond) }

// news wakes the step.
func (s *Service) news() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
