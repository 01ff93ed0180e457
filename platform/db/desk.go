package db

import (
	"context"
	"errors"
	"sync"
)

// maxJoined bounds what goes into one transaction of a desk.
const maxJoined = 64

// Desk writes things that come at the same moment in one transaction, which costs much the same for one as for fifty. The first
// that comes to a free desk serves itself and whoever comes before its transaction begins; while that is being made durable, the
// next fills up. It is safe for concurrent use.
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
		d.serve(ctx)
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

// take returns those who have waited longest, no more than are asked for.
func (d *Desk[T]) take(most int) []*pending[T] {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(d.waiting), most)
	taken := d.waiting[:n:n]
	d.waiting = d.waiting[n:]
	return taken
}

// leave tells whether nobody waits, and the desk is free again.
func (d *Desk[T]) leave() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) > 0 {
		return false
	}
	d.waiting, d.busy = nil, false
	return true
}

func (d *Desk[T]) serveOthers(ctx context.Context) {
	for !d.leave() {
		d.serve(ctx)
	}
}

// serve stores those who wait when the transaction begins, which may be long after it was asked for. If it is run again, more may
// have come.
func (d *Desk[T]) serve(ctx context.Context) {
	var joined []*pending[T]
	panicked, err := d.storeSafely(ctx, func() []*pending[T] {
		joined = append(joined, d.take(maxJoined-len(joined))...)
		return joined
	})
	if len(joined) == 0 {
		joined = d.take(maxJoined) // the transaction never began
	}
	if (panicked != nil || err != nil && !errors.Is(err, ErrUnavailable)) && len(joined) > 1 {
		for _, p := range joined { // one of them cannot be stored; the others can
			alone := []*pending[T]{p}
			p.panicked, p.err = d.storeSafely(ctx, func() []*pending[T] { return alone })
			close(p.done)
		}
		return
	}
	for _, p := range joined {
		p.panicked, p.err = panicked, err
		close(p.done)
	}
}

// storeSafely keeps a panic over one thing from closing the desk for all; whoever brought it panics instead.
func (d *Desk[T]) storeSafely(ctx context.Context, who func() []*pending[T]) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, d.db.Write(ctx, func(tx *Tx) error {
		var things []T
		for _, p := range who() {
			things = append(things, p.thing)
		}
		return d.store(tx, things)
	})
}
