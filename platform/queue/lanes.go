package queue

import (
	"slices"

	"postrider/platform/db"
)

// Lanes returns the lanes in which items wait.
func Lanes(tx *db.Tx) ([]Lane, error) {
	var all []Lane
	for last := Lane(""); ; {
		next, err := laneAfter(tx, last)
		if err != nil || len(next) == 0 {
			return all, err
		}
		last = next[0]
		all = append(all, last)
	}
}

// ExpiredLanes returns the lanes in which leases have run out, always in the same order: who frees them on several nodes at once must not wait for
// another that waits for him.
func ExpiredLanes(tx *db.Tx) ([]Lane, error) {
	lanes, err := selectExpiredLanes(tx)
	slices.Sort(lanes)
	return lanes, err
}

// Oldest returns the ids of free items of a lane that have been due for the longest time.
func Oldest(tx *db.Tx, lane Lane, limit int) ([]string, error) {
	var all []string
	for _, rank := range ranks {
		ids, err := selectOldest(tx, lane, rank, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	return all, nil
}

// MoveTo puts items that nobody has claimed into another lane.
func MoveTo(tx *db.Tx, lane Lane, ids []string) error {
	tx.Wake(lane.Topic())
	return updateLane(tx, lane, ids)
}
