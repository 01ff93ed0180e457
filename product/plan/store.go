package plan

import (
	"errors"

	"postrider/platform/db"
	"postrider/platform/space"
)

// use adds to a counter and returns its value, unless that would pass the limit. The condition is in the statement, so
// parallel sends cannot slip past it together.
func use(tx *db.Tx, ws space.ID, period string, amount int64, limit *int64) (int64, error) {
	most := int64(1) << 62
	if limit != nil {
		most = *limit
	}
	if amount <= most {
		count, err := db.One(tx, db.Value[int64], `
			INSERT INTO plan_usage (workspace_id, period, emails)
			VALUES ($1, $2, $3)
			ON CONFLICT (workspace_id, period) DO UPDATE
			SET emails = plan_usage.emails + excluded.emails
			WHERE plan_usage.emails + excluded.emails <= $4
			RETURNING emails`, ws, period, amount, most)
		if !errors.Is(err, db.ErrNotFound) {
			return count, err
		}
	}
	count, err := used(tx, ws, period)
	if err != nil {
		return 0, err
	}
	return 0, exhausted{limit: most, used: count}
}

func giveBack(tx *db.Tx, ws space.ID, period string, amount int64) error {
	_, err := tx.Exec(`
		UPDATE plan_usage SET emails = emails - $1
		WHERE workspace_id = $2 AND period = $3 AND emails >= $1`, amount, ws, period)
	return err
}

func used(tx *db.Tx, ws space.ID, period string) (int64, error) {
	count, err := db.One(tx, db.Value[int64], `
		SELECT emails FROM plan_usage
		WHERE workspace_id = $1 AND period = $2`, ws, period)
	if errors.Is(err, db.ErrNotFound) {
		return 0, nil
	}
	return count, err
}
