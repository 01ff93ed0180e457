package db

import (
	"context"
	"errors"
	"sync"
)

// maxJoined bounds what goes into one transaction of a desk.
const maxJoined = 64

// Desk writes things that come at the same moment in one transaction, which costs much the same for one as for fifty. The first
// that comes to a free desk serves itself and whoever waits with it; while one transaction is being made durable, the next fills
// up. It is safe for concurrent use.
type Desk[T any] struct {
	db    *DB
	store func(tx *Tx, all []T) error

	mu      sync.Mutex
	waiting []*pending[T] // guarded by mu
	busy    bool          // guarded by mu
}

// pending is a thing that waits to be stored.
type pending[T any] struct {
	thing    T
	err      error
	panicked any
	done     chan struct{}
}

// NewDesk returns a desk that stores with the given function, which must be pure but for the transaction.
func NewDesk[T any](d *DB, store func(tx *Tx, all []T) error) *Desk[T] {
	return &Desk[T]{db: d, store: store}
}

// Write returns nil once the thing would survive a crash. That its caller has gone does not stop it: others wait for the same
// transaction.
func (d *Desk[T]) Write(ctx context.Context, thing T) error {
	p := &pending[T]{thing: thing, done: make(chan struct{})}
	if d.enter(p) {
		ctx := context.WithoutCancel(ctx)
		d.storeJoined(ctx, d.next())
		go d.serveOthers(ctx) // those who came meanwhile; the first caller gets its answer
	}
	<-p.done
	if p.panicked != nil {
		panic(p.panicked)
	}
	return p.err
}

func (d *Desk[T]) enter(p *pending[T]) (serve bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, p)
	serve = !d.busy
	d.busy = true
	return serve
}

// next returns who is served together. Nobody means that the desk is free again.
func (d *Desk[T]) next() []*pending[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.waiting), maxJoined)
	joined := d.waiting[:n:n]
	if d.waiting = d.waiting[n:]; n == 0 {
		d.waiting, d.busy = nil, false
	}
	return joined
}

func (d *Desk[T]) serveOthers(ctx context.Context) {
	for joined := d.next(); len(joined) > 0; joined = d.next() {
		d.storeJoined(ctx, joined)
	}
}

func (d *Desk[T]) storeJoined(ctx context.Context, joined []*pending[T]) {
	things := make([]T, len(joined))
	for i, p := range joined {
		things[i] = p.thing
	}
	panicked, err := d.storeSafely(ctx, things)
	if (panicked != nil || err != nil && !errors.Is(err, ErrUnavailable)) && len(joined) > 1 {
		for _, p := range joined { // one of them cannot be stored; the others can
			d.storeJoined(ctx, []*pending[T]{p})
		}
		return
	}
	for _, p := range joined {
		p.err, p.panicked = err, panicked
		close(p.done)
	}
}

// storeSafely keeps a panic over one thing from closing the desk for all; whoever brought it panics instead.
func (d *Desk[T]) storeSafely(ctx context.Context, things []T) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, d.db.Write(ctx, func(tx *Tx) error { return d.store(tx, things) })
}
