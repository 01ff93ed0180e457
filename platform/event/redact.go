package event

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Redact takes the facts out of events that happened to a subject before a moment: those about one recipient and those about no
// recipient in particular. That something happened stays; who it happened to does not. It returns the ids of the events.
func Redact(tx *db.Tx, ws space.ID, subject, recipient string, before time.Time) ([]string, error) {
	return updateRedacted(tx, ws, subject, recipient, before)
}
