package queue

import (
	"time"

	"postrider/platform/db"
)

// Load is how much work a lane has.
type Load struct {
	Lane Lane
	// Ready items are due and free, Later ones are free and not due yet, Leased ones are being worked on.
	Ready, Later, Leased int64
	// Oldest is when the item that has waited longest among the ready ones fell due; zero if there is none.
	Oldest time.Time
}

// AtLeast tells whether so many items of a rank are due and free. It counts no further, however long the queue is.
func AtLeast(tx *db.Tx, lane Lane, rank Rank, many int) (bool, error) {
	found, err := countUpTo(tx, lane, rank, many)
	return found == int64(many), err
}

// Survey returns how much work every lane has that has any. It counts all items, so it is for monitors, not for workers.
func Survey(tx *db.Tx) ([]Load, error) { return selectLoads(tx) }
