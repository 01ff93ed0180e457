// Package event is the append-only record of what happened. An event is written in the transaction of the change it tells of, so
// it exists if and only if the change does.
//
// Followers read the record in order, each with a durable position that moves in the transaction of its effects: inside the
// database every event is followed exactly once.
//
//	Owns     event, event_follower
package event

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Topic is what to subscribe to for news of events.
const Topic = "event"

// Event tells of one change.
type Event struct {
	ID        string
	Workspace space.ID
	// Type is the public name, such as "email.delivered".
	Type string
	// Subject is the id of what changed; Domain and Tenant say whose it is. Recipient is set for events about one address.
	Subject, Domain, Tenant, Recipient string
	OccurredAt                         time.Time
	// Data holds the facts of this type of event as JSON.
	Data json.RawMessage

	position position
}

// position orders events. On PostgreSQL numbers are handed out before commits, so a reader goes by transaction first and
// stays behind every transaction that is still open; on the embedded engine all transaction ids are 0.
type position struct{ txID, seq int64 }

// Append records events and, once the transaction has committed, wakes the followers.
func Append(tx *db.Tx, events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	tx.Wake(Topic)
	return insert(tx, events)
}

// OfSubject returns a page of the events about one subject, oldest first. An empty recipient means all.
func OfSubject(tx *db.Tx, ws space.ID, subject, recipient string, limit, offset int) ([]Event, error) {
	return selectSubject(tx, ws, subject, recipient, limit, offset)
}

// Follower is told of every event, in order and in batches. Handle must do all its work in tx.
type Follower struct {
	Name string
	// Types are the types of events it is told of; none means all. Those who want few need not be woken, nor write, for the rest.
	Types  []string
	Handle func(tx *db.Tx, events []Event) error
}

// Waiting tells whether there are events the follower has not handled, those included that it may not see yet because an older
// transaction is still open. Nobody announces the end of such a transaction, so a follower that waits has to look again soon.
func (f Follower) Waiting(ctx context.Context, d *db.DB) (waiting bool, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		at, err := readPosition(tx, f.Name)
		if err != nil {
			return err
		}
		waiting, err = f.waitsAfter(tx, at)
		return err
	})
	return waiting, err
}

// waitsAfter tells whether something wanted comes after a place, or so much else that the place should be moved past it.
func (f Follower) waitsAfter(tx *db.Tx, at position) (bool, error) {
	if len(f.Types) == 0 {
		return hasAfter(tx, at)
	}
	next, err := selectPlaces(tx, at, math.MaxInt64, maxBatch)
	if err != nil || len(next) == 0 || len(next) == maxBatch {
		return len(next) == maxBatch, err
	}
	wanted, err := selectWanted(tx, at, next[len(next)-1], f.Types, 1)
	return len(wanted) > 0, err
}

// maxBatch bounds how many events one transaction of a follower handles.
const maxBatch = 500

// Step lets the follower handle its next batch. It tells whether there was one. Nodes may step the same follower at once; one at
// a time does the work.
func (f Follower) Step(ctx context.Context, d *db.DB) (bool, error) {
	if waiting, err := f.Waiting(ctx, d); err != nil || !waiting {
		return false, err
	}
	moved := false
	err := d.Write(ctx, func(tx *db.Tx) error {
		moved = false
		at, free, err := lockPosition(tx, f.Name)
		if err != nil || !free {
			return err
		}
		horizon, err := tx.Horizon()
		if err != nil {
			return err
		}
		events, end, err := f.next(tx, at, horizon)
		if err != nil || end == at {
			return err
		}
		if len(events) > 0 {
			if err := f.Handle(tx, events); err != nil {
				return fmt.Errorf("follower %s after event %d: %w", f.Name, at.seq, err)
			}
		}
		moved = true
		return movePosition(tx, f.Name, end)
	})
	return moved, err
}

// next returns the events to handle now, and the place up to which everything is handled then.
func (f Follower) next(tx *db.Tx, at position, horizon int64) (events []Event, end position, err error) {
	if len(f.Types) == 0 {
		events, err = selectAfter(tx, at, horizon, maxBatch)
		if err != nil || len(events) == 0 {
			return nil, at, err
		}
		return events, events[len(events)-1].position, nil
	}
	places, err := selectPlaces(tx, at, horizon, maxBatch)
	if err != nil || len(places) == 0 {
		return nil, at, err
	}
	end = places[len(places)-1]
	if events, err = selectWanted(tx, at, end, f.Types, maxBatch); err != nil {
		return nil, at, err
	}
	if len(events) == 0 && len(places) < maxBatch {
		return nil, at, nil // a move of its own is not worth a write
	}
	return events, end, nil
}
