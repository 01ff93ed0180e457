package event

import (
	"context"
	"math"
	"slices"
	"sync"

	"postrider/platform/db"
)

// Window is the last events that the followers of one process have read. As a rule all of them are at about the same place, so
// what one of them has read the others need not read again.
type Window struct {
	mu     sync.Mutex
	from   position // after which the events follow, without a gap
	events []Event
	// redactions is how often facts had been taken out of events, at least, before these were read.
	redactions int64
	// passed is what followers have looked at without finding anything to handle, by name. Their places in the database are before it.
	passed map[string]passage
}

// passage is a stretch of events in which there is nothing for a follower.
type passage struct {
	from, to position
	events   int
}

// maxShown is how many events are shown: those of a good while, for followers that are in no hurry.
const maxShown = 4 * maxBatch

// NewWindow returns an empty one.
func NewWindow() *Window { return &Window{passed: map[string]passage{}} }

// refresh forgets what the window shows if facts have been taken out of events since. A follower has just read its place.
func (w *Window) refresh(at place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.redactions > w.redactions {
		w.from, w.events, w.redactions = position{}, nil, at.redactions
	}
}

// after returns the events that come after a place and below the horizon, in their order and up to a batch of them. more tells that there
// may be others after these: behind what the window shows, or such as may not be seen yet.
func (w *Window) after(ctx context.Context, d *db.DB, at position, horizon int64) (events []Event, more bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock() // those who come meanwhile find what this one reads
	if known := w.known(at); len(known) > 0 {
		return known, true, nil
	}
	err = d.Glance(ctx, func(tx *db.Tx) error {
		if events, err = selectAfter(tx, at, horizon, maxBatch); err != nil {
			return err
		}
		more = len(events) == maxBatch
		if len(events) == 0 && horizon < math.MaxInt64 {
			more, err = hasAfter(tx, at)
		}
		return err
	})
	if len(events) > 0 && err == nil {
		w.show(at, events)
	}
	return events, more, err
}

// show adds events that follow a place, or begins anew with them. The caller holds mu.
func (w *Window) show(at position, events []Event) {
	if len(w.events) == 0 || w.events[len(w.events)-1].position != at {
		w.from, w.events = at, slices.Clip(events)
		return
	}
	if old := len(w.events) + len(events) - maxShown; old > 0 {
		old = min(old+maxBatch, len(w.events)) // a batch more, so that it is not done every time
		w.from, w.events = w.events[old-1].position, slices.Clone(w.events[old:])
	}
	w.events = append(w.events, events...)
}

// known returns what the window shows after a place. The caller holds mu.
func (w *Window) known(at position) []Event {
	if at.before(w.from) {
		return nil
	}
	next, _ := slices.BinarySearchFunc(w.events, at, func(e Event, at position) int {
		if at.before(e.position) {
			return 1
		}
		return -1
	})
	end := min(next+maxBatch, len(w.events))
	return w.events[next:end:end]
}

// passage returns what a follower that stands at a place has looked at already.
func (w *Window) passage(name string, at position) passage {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.passed[name]; ok && known.from == at {
		return known
	}
	return passage{from: at, to: at}
}

// pass notes what a follower has looked at in vain.
func (w *Window) pass(name string, over passage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed[name] = over
}
