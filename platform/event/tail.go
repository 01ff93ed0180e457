package event

import (
	"fmt"
	"math"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Tail reads the events of one workspace as they come. It remembers its place by itself and keeps nothing in the database.
type Tail struct {
	workspace space.ID
	at        position
}

// NewTail returns a tail that begins after the given place, or with what happens from now on if it is empty or unreadable.
func NewTail(tx *db.Tx, ws space.ID, place string) (*Tail, error) {
	t := &Tail{workspace: ws}
	if n, err := fmt.Sscanf(place, "%d-%d", &t.at.txID, &t.at.seq); err == nil && n == 2 {
		return t, nil
	}
	last, _, err := lastBefore(tx, math.MaxInt64)
	t.at = last
	return t, err
}

// Place names where the event stands, for a tail that begins after it.
func (e Event) Place() string { return fmt.Sprintf("%d-%d", e.position.txID, e.position.seq) }

// Next returns the next events of the workspace below the horizon, which was asked for before. more tells that it should be asked again soon: there are others, or some that
// cannot be seen yet.
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
		return events, true, nil
	}
	t.at = end
	more, err = hasAfter(tx, end)
	return events, more, err
}

func (p position) before(other position) bool {
	return p.txID < other.txID || p.txID == other.txID && p.seq < other.seq
}
