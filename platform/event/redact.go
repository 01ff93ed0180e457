package event

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Redact takes the facts out of events that happened to a subject before a moment: those about one recipient and those about no
// recipient in particular. That something happened stays; who it happened to does not. It returns the ids of the events.
//
// What followers have made of the facts is for the caller to remove, afterwards: until then they may have written more of it.
func Redact(tx *db.Tx, ws space.ID, subject, recipient string, before time.Time) ([]string, error) {
	return RedactAll(tx, ws, []string{subject}, recipient, before)
}

// RedactAll is Redact for several subjects.
func RedactAll(tx *db.Tx, ws space.ID, subjects []string, recipient string, before time.Time) ([]string, error) {
	if err := HoldFollowers(tx); err != nil {
		return nil, err
	}
	return updateRedacted(tx, ws, subjects, recipient, before)
}

// HoldFollowers lets followers that are writing come to their end, and none write before the transaction has: from then on none writes what
// it read before. Redact does so itself. Who locks before that what followers lock too calls it first, or they would wait for each other.
func HoldFollowers(tx *db.Tx) error {
	redactions, err := countRedactions(tx, 1)
	if err != nil {
		return err
	}
	return holdFollowers(tx, redactions)
}
