// Package event is the append-only record of what happened. An event is written in the transaction of the change it tells of, so
// it exists if and only if the change does.
//
// Followers read the record in order, each with a durable position that moves in the transaction of its effects: inside the
// database every event is followed exactly once.
//
//	Owns     event, event_follower, event_redaction
package event

import (
	"encoding/json"
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

// Number is the place of an event in the record. An event that is appended after another was seen has the higher one.
func (e Event) Number() int64 { return e.position.seq }

// Newest returns the number of the newest event, 0 if there is none.
func Newest(tx *db.Tx) (int64, error) { return selectNewest(tx) }

// OfSubject returns a page of the events about one subject, oldest first. An empty recipient means all; another is written as in the events.
func OfSubject(tx *db.Tx, ws space.ID, subject, recipient string, limit, offset int) ([]Event, error) {
	var recipients []string
	if recipient != "" {
		recipients = []string{recipient}
	}
	return PartOfSubject(tx, ws, subject, recipients, db.Keyset{}, limit, offset)
}

// PartOfSubject is OfSubject for a part of the events; its keys are those of KeysOf. No recipients means all.
func PartOfSubject(tx *db.Tx, ws space.ID, subject string, recipients []string, part db.Keyset, limit, offset int) ([]Event, error) {
	return selectSubject(tx, ws, subject, recipients, part, limit, offset)
}

// Owner is whose a subject is.
type Owner struct {
	Workspace space.ID
	Subject   string
	Domain    string
	Tenant    string
}

// OwnersOf returns whose the subjects are, those of which an event is known.
func OwnersOf(tx *db.Tx, subjects []string) ([]Owner, error) { return selectOwners(tx, subjects) }

// Told tells whether an event of a type is known about one recipient of a subject.
func Told(tx *db.Tx, ws space.ID, subject, recipient, kind string) (bool, error) {
	return hasOfType(tx, ws, subject, recipient, kind)
}

// KeysOf returns what decides the place of an event among those of its subject, or db.ErrNotFound.
func KeysOf(tx *db.Tx, ws space.ID, subject, id string) ([]any, error) {
	seq, err := selectSeq(tx, ws, subject, id)
	return []any{seq}, err
}
