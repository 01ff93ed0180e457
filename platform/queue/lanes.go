package queue

import "postrider/platform/db"

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

// laneAfter looks the next one up, however many items the last one has.
func laneAfter(tx *db.Tx, last Lane) ([]Lane, error) {
	return db.All(tx, db.Value[Lane], `
		SELECT lane FROM queue_item
		WHERE lane > $1 AND lease_owner IS NULL
		ORDER BY lane
		LIMIT 1`, last)
}

func selectOldest(tx *db.Tx, lane Lane, rank Rank, limit int) ([]string, error) {
	return db.All(tx, db.Value[string], `
		SELECT id FROM queue_item
		WHERE lane = $1 AND rank = $2 AND lease_owner IS NULL AND due_at <= $3
		ORDER BY due_at
		LIMIT $4`, lane, int64(rank), tx.Now(), limit)
}

func updateLane(tx *db.Tx, lane Lane, ids []string) error {
	_, err := tx.Exec(`
		UPDATE queue_item SET lane = $1
		WHERE id {in $2} AND lease_owner IS NULL`, lane, ids)
	return err
}
