// Package shape decides which mail goes to which server now, and which must wait.
//
// It stands between the store, where all mail that is due lies, and the sockets. Mail that may leave soon is added to it; it
// keeps a bounded queue for each path (a source of ours and a site of theirs), lets tenants and kinds of mail take turns, holds
// to what each site bears, and learns from every reply. It never speaks to anybody and never reads a clock: time is handed in,
// and equal calls have equal answers.
//
// What it holds back costs a message no attempt: Add refuses and Returned gives back, with the time at which to come again.
//
// A Shaper belongs to one goroutine at a time.
package shape

import "time"

// Class is the kind of mail, the most urgent first.
type Class uint8

// The kinds of mail.
const (
	Transactional Class = iota
	Automation
	Broadcast
	classes = 3
)

// String returns the name of the class.
func (c Class) String() string {
	return [...]string{"transactional", "automation", "broadcast"}[min(c, Broadcast)]
}

// Path is the way of mail: from a source address, pool or relay of ours to a site.
type Path struct {
	Source string `json:"source"`
	Site   Site   `json:"site"`
}

// Item is one recipient of one email.
type Item struct {
	// Recipient is the id by which the caller knows the item again.
	Recipient string
	// Email and Domain tell what may go in one transaction: recipients of one email in one domain. Google for one refuses two
	// domains in a transaction.
	Email, Domain string
	// Tenant is whose turn the item uses.
	Tenant string
	// Route is what a connection must have been opened for besides the site, such as a checked certificate. Items with different
	// routes never share a connection.
	Route string
	Class Class
}

// Config says how much a Shaper holds. Zero fields take the defaults.
type Config struct {
	// Providers is the shipped table if it is not set.
	Providers Table
	// MaxItems bounds the waiting items, and with them memory.
	MaxItems int
	// MaxPathItems bounds the waiting items of one path.
	MaxPathItems int
	// MaxConnections bounds the sockets of all paths together.
	MaxConnections int
	// MaxIdlePaths bounds how many paths without mail are remembered.
	MaxIdlePaths int
	// Source bounds every source, and Tenant every tenant, over all their paths. Zero fields are no limit, but for the connections
	// of a tenant: see tenantShare.
	Source, Tenant SharedLimits
}

const (
	defaultItems       = 20_000
	defaultPathItems   = 2_000
	defaultConnections = 500
	defaultIdlePaths   = 10_000

	// tenantShare is how much of all sockets one tenant may use, in tenths. The rest is for the others, so that a tenant whose
	// mail hangs everywhere does not hang everybody's.
	tenantShare = 9

	// patience is how long items wait in memory for a path that stands still. What has to wait for longer waits in the store.
	patience = 30 * time.Second
	// pollEvery is how often the many that wait for a shared rate look again.
	pollEvery = time.Second
	// fullWait is when to come again to a path that is full.
	fullWait = 5 * time.Second
	// forgetAfter is how long a path without mail is remembered.
	forgetAfter = time.Hour
)

// Shaper is the engine. It belongs to one goroutine at a time.
type Shaper struct {
	config   Config
	table    Table
	paths    map[Path]*path
	flows    map[flowKey]*flow
	accounts map[accountKey]*account
	groups   map[groupKey]int32
	slab     slab
	waiting  int
	now      instant // of the last call

	active pathList // paths that may be able to send
	idle   pathList // paths without mail, the longest so first
	timers timers

	// rank and of tell which share of the limits of all nodes together is this one's.
	rank, of    int
	total       *shared
	shared      map[SharedName]*shared
	fading      []*shared
	custom      map[SharedName]SharedLimits
	circuits    map[string]*circuit
	holds       map[holdKey]*hold
	dropped     instant // when holds of the past were
	counts      map[countKey]*count
	connections map[ConnectionID]*connection
	unused      connectionList // connections that wait for mail, the longest so first
	lastID      ConnectionID

	closing   []ConnectionID
	freed     []*shared // limits that got room
	returned  []Returned
	freeFlows []*flow
}

// New returns a Shaper that knows nothing yet.
func New(config Config) *Shaper {
	orElse := func(value *int, usual int) {
		if *value <= 0 {
			*value = usual
		}
	}
	if config.Providers.standard == nil {
		config.Providers = Shipped()
	}
	orElse(&config.MaxItems, defaultItems)
	orElse(&config.MaxPathItems, min(defaultPathItems, config.MaxItems))
	orElse(&config.MaxConnections, defaultConnections)
	orElse(&config.MaxIdlePaths, defaultIdlePaths)
	orElse(&config.Tenant.Connections, max(config.MaxConnections*tenantShare/10, 1))
	s := &Shaper{
		config: config, table: config.Providers, paths: map[Path]*path{}, flows: map[flowKey]*flow{}, accounts: map[accountKey]*account{},
		groups: map[groupKey]int32{}, shared: map[SharedName]*shared{}, custom: map[SharedName]SharedLimits{}, circuits: map[string]*circuit{},
		holds: map[holdKey]*hold{}, counts: map[countKey]*count{}, connections: map[ConnectionID]*connection{}, of: 1,
	}
	s.total = newShared(SharedName{}, SharedLimits{Connections: config.MaxConnections})
	return s
}

// Waiting returns how many items wait.
func (s *Shaper) Waiting() int { return s.waiting }

// Room returns how many more items may be added before the whole is full.
func (s *Shaper) Room() int { return s.config.MaxItems - s.waiting }

// Connections returns how many connections are open or being opened.
func (s *Shaper) Connections() int { return s.total.connections }

// tick notes the time of a call.
func (s *Shaper) tick(now time.Time) instant {
	at := instantOf(now)
	if at < s.now.add(-pollEvery) {
		s.setBack(at)
	}
	s.now = at
	return at
}

// setBack looks at everything anew after the clock was set back: what waits for a moment would wait for too long.
func (s *Shaper) setBack(at instant) {
	for _, p := range s.paths {
		p.parkedUntil = at
		for _, f := range p.parked {
			f.until = at
		}
	}
	set := s.timers.heap
	s.timers.heap = nil
	for _, t := range set {
		t.place = 0
	}
	for _, t := range set {
		switch {
		case t.path != nil:
			s.activate(t.path)
		case t.connection != nil:
			t.connection.since = min(t.connection.since, at)
			s.timers.set(t, at.add(time.Duration(t.connection.path.row.IdleTimeout)))
		default:
			s.timers.set(t, at+1)
		}
	}
}

// instant is a moment in nanoseconds since 1970: a third of the size of a time.Time, and there are many.
type instant int64

func instantOf(t time.Time) instant             { return instant(t.UnixNano()) }
func (i instant) time() time.Time               { return time.Unix(0, int64(i)).UTC() }
func (i instant) add(d time.Duration) instant   { return i + instant(d) }
func (i instant) sub(j instant) time.Duration   { return time.Duration(i - j) }
func (i instant) within(from, end instant) bool { return from <= i && i < end }

// span is a stretch of time. A clock that was set back leaves it early rather than prolong it.
type span struct{ from, until instant }

func (s span) covers(at instant) bool { return at.within(s.from, s.until) }
