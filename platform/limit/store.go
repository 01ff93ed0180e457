package limit

import (
	"time"

	"postrider/platform/db"
)

// takeFrom makes a bucket full again so much later, counted from now if it is full already, and returns when it is.
func takeFrom(tx *db.Tx, key string, now, later time.Duration) (time.Duration, error) {
	full, err := db.One(tx, db.Value[int64], `
		INSERT INTO rate_bucket (key, full_at)
		VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE
		SET full_at = CASE WHEN rate_bucket.full_at > $3 THEN rate_bucket.full_at ELSE $3 END + $4
		RETURNING full_at`, key, int64(now+later), int64(now), int64(later))
	return time.Duration(full), err
}

func setFull(tx *db.Tx, key string, full time.Duration) error {
	_, err := tx.Exec(`
		UPDATE rate_bucket SET full_at = $1
		WHERE key = $2`, int64(full), key)
	return err
}

func deleteFull(tx *db.Tx, now time.Duration) error {
	_, err := tx.Exec(`
		DELETE FROM rate_bucket
		WHERE full_at < $1`, int64(now))
	return err
}
