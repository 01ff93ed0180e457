package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"postrider/platform/db"
	"postrider/world"
)

// Holder is one service of one process as somebody who leases work.
type Holder struct {
	// Name is under which it leases. A process that is restarted has the same.
	Name string

	world world.World
	db    *db.DB

	mu      sync.Mutex
	resumed bool // guarded by mu; what was held under the name before this process began has been freed
}

// NewHolder returns a holder.
func NewHolder(w world.World, d *db.DB, name string) *Holder {
	return &Holder{Name: name, world: w, db: d}
}

// Lease returns a new lease, with a token that no other has.
func (h *Holder) Lease(lasting time.Duration) Lease {
	return Lease{Owner: h.Name, For: lasting, Token: int64(h.world.Uint64() >> 1)}
}

// NextIn returns what tells a worker when the first item of a lane is due.
func (h *Holder) NextIn(lane Lane) func(ctx context.Context) (due time.Time, ok bool, err error) {
	return func(ctx context.Context) (due time.Time, ok bool, err error) {
		err = h.db.Read(ctx, func(tx *db.Tx) (err error) {
			due, ok, err = NextDue(tx, lane)
			return err
		})
		return due, ok, err
	}
}

// IsDue tells whether a claim would find something. To look costs no write.
func (h *Holder) IsDue(ctx context.Context, lane Lane) (bool, error) {
	due, ok, err := h.NextIn(lane)(ctx)
	return err == nil && ok && !due.After(h.world.Clock.Now()), err
}

// Claim leases what is due in a lane, in a transaction of its own.
func (h *Holder) Claim(ctx context.Context, lane Lane, lasting time.Duration, limit int) (items []Item, err error) {
	if due, err := h.IsDue(ctx, lane); err != nil || !due {
		return nil, err
	}
	lease := h.Lease(lasting)
	err = h.db.Write(ctx, func(tx *db.Tx) (err error) {
		items, err = Claim(tx, lane, lease, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", lane, err)
	}
	return items, nil
}

// Resume frees, once, what was held under the name before this process began, however that ended. It comes before the first claim: if all that
// is left is leased, nothing is due that would have it done later.
func (h *Holder) Resume(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.resumed {
		return nil
	}
	err := h.GiveBack(ctx)
	h.resumed = err == nil
	return err
}

// GiveBack frees all that is held under the name.
func (h *Holder) GiveBack(ctx context.Context) error {
	return h.db.Write(ctx, func(tx *db.Tx) error {
		_, err := ReleaseOwner(tx, h.Name)
		return err
	})
}
