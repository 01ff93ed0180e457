package queue

import "postrider/platform/db"

// laneAfter looks the next one up, however many items the last one has.
func laneAfter(tx *db.Tx, last Lane) ([]Lane, error) {
	return db.All(tx, db.Value[Lane], `
		SELECT lane FROM queue_item
		WHERE lane > $1 AND lease_owner IS NULL
		ORDER BY lane
		LIMIT 1`, last)
}

// selectExpiredLanes reads what is leased, which is little beside what waits.
func selectExpiredLanes(tx *db.Tx) ([]Lane, error) {
	return db.All(tx, db.Value[Lane], `
		SELECT DISTINCT lane FROM queue_item
		WHERE lease_owner IS NOT NULL AND lease_until < $1`, tx.Now())
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
