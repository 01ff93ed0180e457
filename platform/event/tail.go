package event

import (
	"fmt"
	"math"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Tail reads the events of one workspace as they come. It remembers its place by itself and keeps nothing in the database.
type Tail struct {
	workspace space.ID
	at        position
	// past is what had happened when a tail began that tells only what happens from then on.
	past map[position]bool
}

// NewTail returns a tail that begins after the given place, or with what happens from now on if it is empty or unreadable. That is what
// cannot be seen yet: it may stand before events that can, so the tail begins at the horizon, which was asked for before.
func NewTail(tx *db.Tx, ws space.ID, place string, horizon int64) (*Tail, error) {
	t := &Tail{workspace: ws, at: beginning}
	last, found, err := lastBefore(tx, horizon)
	if err != nil {
		return nil, err
	}
	if found {
		t.at = last
	}
	var left position
	if n, err := fmt.Sscanf(place, "%d-%d", &left.txID, &left.seq); err == nil && n == 2 {
		if left.before(t.at) { // else it was given out before the record was moved or rebased, and nothing would ever come after it
			t.at = left
		}
		return t, nil
	}
	seen, err := selectOf(tx, ws, t.at, position{math.MaxInt64, math.MaxInt64}, maxBatch)
	t.past = make(map[position]bool, len(seen))
	for _, e := range seen {
		t.past[e.position] = true
	}
	return t, err
}

// Place names where the event stands, for a tail that begins after it.
func (e Event) Place() string { return fmt.Sprintf("%d-%d", e.position.txID, e.position.seq) }

// Next returns the next events of the workspace below the horizon, which was asked for before. more tells that it should be asked again
// soon: there are others, or some that cannot be seen yet.
func (t *Tail) Next(tx *db.Tx, horizon int64) (events []Event, more bool, err error) {
	if more, err = hasAfter(tx, t.at); err != nil || !more {
		return nil, false, err
	}
	end, found, err := lastBefore(tx, horizon)
	if err != nil || !found || !t.at.before(end) {
		return nil, true, err
	}
	if events, err = selectOf(tx, t.workspace, t.at, end, maxBatch); err != nil {
		return nil, false, err
	}
	if len(events) == maxBatch {
		t.at = events[maxBatch-1].position
		return t.news(events), true, nil
	}
	t.at = end
	more, err = hasAfter(tx, end)
	return t.news(events), more, err
}

// news are the events that had not happened when the tail began.
func (t *Tail) news(events []Event) []Event {
	return slices.DeleteFunc(events, func(e Event) bool { return t.past[e.position] })
}

func (p position) before(other position) bool {
	return p.txID < other.txID || p.txID == other.txID && p.seq < other.seq
}
