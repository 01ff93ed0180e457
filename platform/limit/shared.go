package limit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/world"
)

// Shared is a limiter whose buckets all nodes on one database share. A node lets a little through on credit and tells the database
// soon after; who comes often has requests taken from the bucket in bundles. If the database does not answer, or serves one process
// only, each node counts for itself: a limit fails no request.
//
// In any stretch of time all nodes together let through what one bucket allows, and at most creditShare of a bucket, or one request,
// for each node besides. Nodes whose clocks differ allow as much more as passes in the difference.
type Shared struct {
	world world.World
	db    *db.DB
	local *Limiter
	// patience is answerWithin, but in tests on machines that are busy with others.
	patience time.Duration

	mu sync.Mutex
	// All below is guarded by mu.
	accounts  map[string]*account
	most      int
	restUntil time.Duration // after a failure of the database
	sweptAt   time.Duration
}

const (
	// answerWithin is how long a request waits for the database to be counted; what it asks for would wait as well.
	answerWithin = 2 * time.Second
	// restFor is how long nodes count for themselves after that.
	restFor = 5 * time.Second
	// idleFor is when what a caller has not used of a bundle is given back.
	idleFor = time.Second
	// settleBatch bounds the accounts that one transaction settles.
	settleBatch = 64
	// sweepEvery is how often buckets that are full again are forgotten.
	sweepEvery = time.Minute
)

// SettleEvery is how often Settle should be called.
const SettleEvery = 250 * time.Millisecond

// NewShared returns a limiter on a database that remembers at most maxKeys buckets in memory. A nil database is a node alone.
func NewShared(w world.World, d *db.DB, maxKeys int) *Shared {
	if d != nil && !d.Shared() {
		d = nil
	}
	return &Shared{world: w, db: d, local: New(w.Clock, maxKeys), patience: answerWithin, accounts: map[string]*account{}, most: maxKeys}
}

// Take takes one from the bucket of key, if there is one left.
func (s *Shared) Take(ctx context.Context, key string, rate Rate) Decision {
	alone := s.local.Take(key, rate) // what one node has let through all have
	if !alone.Allowed || s.db == nil {
		return alone
	}
	b, _ := newBucket(rate)
	name := nameOf(key)
	a := s.account(name, s.now())
	if a == nil {
		return alone
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := s.now()      // others may have waited for the database meanwhile, and the bucket has filled since
	if s.resting(now) { // since this request waited for the account: it need not wait for the database in its turn
		return alone
	}
	a.begin(b, now)
	if a.debt > 0 && now-a.owedAt > idleFor { // nobody has told it; together with what is owed from now on it would count as of now
		if err := s.settle(ctx, []string{name}, map[string]*account{name: a}, a.prepaid); err != nil {
			return alone
		}
	}
	if a.pay(now) {
		return a.decision(alone, now)
	}
	if a.room(now) > 0 {
		err := s.settle(ctx, []string{name}, map[string]*account{name: a}, a.wants(now))
		if err != nil {
			return alone
		}
		if a.pay(now) {
			return a.decision(alone, now)
		}
	}
	s.local.GiveBack(key, rate)
	return a.refusal(now)
}

// nameOf is how a bucket is known in the database: keys say who somebody is.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

func (s *Shared) now() time.Duration { return time.Duration(s.world.Clock.Now().UnixNano()) }

// account returns what is known of a bucket, or nil if it is to be counted here alone.
func (s *Shared) account(name string, now time.Duration) *account {
	if s.resting(now) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[name]
	if a == nil {
		if len(s.accounts) >= s.most {
			return nil
		}
		a = &account{}
		s.accounts[name] = a
	}
	return a
}

// resting tells whether this node counts for itself. A clock that was set back ends it.
func (s *Shared) resting(now time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now < s.restUntil && s.restUntil-now <= restFor
}

// settle tells the database what is owed, and takes that many more for each. The caller holds the accounts.
func (s *Shared) settle(ctx context.Context, names []string, accounts map[string]*account, more int) error {
	within, done := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
	defer done()
	now := s.now()
	type answer struct {
		prepaid int
		full    time.Duration
	}
	answers := map[string]answer{}
	err := s.db.Write(within, func(tx *db.Tx) error {
		for _, name := range names {
			a := accounts[name]
			full, err := a.takeFrom(tx, name, more, now)
			if err != nil {
				return err
			}
			granted, fits := a.bucket.granted(more, full, now)
			if granted < more {
				if err := setFull(tx, name, fits); err != nil {
					return err
				}
			}
			answers[name] = answer{granted, fits}
		}
		return nil
	})
	if err != nil {
		for _, name := range names {
			accounts[name].debt = 0 // it may have been told for all that: nobody pays twice
		}
		s.rest(now, err)
		return err
	}
	for name, got := range answers {
		accounts[name].told(got.prepaid, got.full, now)
	}
	return nil
}

// rest has this node count for itself for a while.
func (s *Shared) rest(now time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restUntil = now + restFor
	if !errors.Is(err, context.Canceled) {
		s.world.Log.Warn("requests are counted by this node alone for a moment", "error", err)
	}
}

// Settle tells the database what was let through on credit, gives back what is not needed, and forgets what is over.
func (s *Shared) Settle(ctx context.Context) (bool, error) {
	if s.db == nil {
		return false, nil
	}
	now := s.now()
	for batch := range slices.Chunk(s.untold(now), settleBatch) {
		if err := s.settleSome(ctx, batch, now); err != nil {
			return false, nil // it was said
		}
	}
	return false, s.sweep(ctx, now)
}

// untold returns the names of the accounts that have something to tell, and forgets those that nobody uses. All nodes take rows in one order.
func (s *Shared) untold(now time.Duration) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name, a := range s.accounts {
		if !a.mu.TryLock() {
			continue // it is being settled
		}
		switch {
		case a.untold(now):
			names = append(names, name)
		case a.clean() && a.idle(now) && a.full <= now:
			delete(s.accounts, name)
		}
		a.mu.Unlock()
	}
	slices.Sort(names)
	return names
}

// settleSome settles those accounts that still have something to tell. Only these are locked meanwhile: requests wait for them.
func (s *Shared) settleSome(ctx context.Context, names []string, now time.Duration) error {
	open := s.open(names, now)
	defer func() {
		for _, a := range open {
			a.mu.Unlock()
		}
	}()
	if len(open) == 0 {
		return nil
	}
	return s.settle(ctx, slices.Sorted(maps.Keys(open)), open, 0)
}

// open returns those of the accounts that have something to tell, locked.
func (s *Shared) open(names []string, now time.Duration) map[string]*account {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]*account{}
	for _, name := range names {
		a := s.accounts[name]
		if a == nil || !a.mu.TryLock() {
			continue
		}
		if !a.untold(now) {
			a.mu.Unlock()
			continue
		}
		open[name] = a
	}
	return open
}

// sweep forgets buckets in the database that are full again: a new one is full too.
func (s *Shared) sweep(ctx context.Context, now time.Duration) error {
	s.mu.Lock()
	due := now-s.sweptAt > sweepEvery || now < s.sweptAt
	if due {
		s.sweptAt = now
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return deleteFull(tx, now) })
}
