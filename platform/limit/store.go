package limit

import (
	"time"

	"postrider/platform/db"
)

// takeFrom takes what is owed, as of when it was let through, and that many more, less what is left of those before.
func (a *account) takeFrom(tx *db.Tx, name string, more int, now time.Duration) (full time.Duration, err error) {
	if a.debt > 0 {
		full, err = a.bucket.takeFrom(tx, name, min(a.owedAt, now), a.debt)
		if err != nil || more == a.prepaid {
			return full, err
		}
	}
	return a.bucket.takeFrom(tx, name, now, more-a.prepaid)
}

// takeFrom makes a bucket full again so many intervals later, counted from now if it is full already, and returns when it is.
func (b bucket) takeFrom(tx *db.Tx, key string, now time.Duration, count int) (time.Duration, error) {
	later := time.Duration(count) * b.interval
	full, err := db.One(tx, db.Value[int64], `
		INSERT INTO rate_bucket (key, full_at)
		VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE
		SET full_at = $4 + CASE WHEN rate_bucket.full_at > $3 AND rate_bucket.full_at <= $5 THEN rate_bucket.full_at ELSE $3 END
		RETURNING full_at`, key, int64(now+later), int64(now), int64(later), int64(b.latest(now)))
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
