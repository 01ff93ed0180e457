package plan

import (
	"errors"

	"postrider/platform/db"
	"postrider/platform/space"
)

// allowance is how many emails there may be in a period.
type allowance struct {
	period string
	most   int64
}

// mostOf returns the number that a limit stands for in a statement. Without a limit that is far beyond any count, and leaves room to add.
func mostOf(limit *int64) int64 {
	if limit == nil {
		return 1 << 62
	}
	return *limit
}

// use adds to the counters of a month and a day and returns their values, without the one that would pass its limit. The condition is in
// the statement, so parallel sends cannot slip past it together.
func use(tx *db.Tx, ws space.ID, amount int64, month, day allowance) (map[string]int64, error) {
	if amount > min(month.most, day.most) {
		return nil, nil
	}
	type count struct {
		period string
		emails int64
	}
	counts, err := db.All(tx, func(s db.Scanner) (c count, err error) {
		err = s.Scan(&c.period, &c.emails)
		return c, err
	}, `
		INSERT INTO plan_usage (workspace_id, period, emails)
		VALUES ($1, $2, $3), ($1, $4, $3)
		ON CONFLICT (workspace_id, period) DO UPDATE
		SET emails = plan_usage.emails + excluded.emails
		WHERE plan_usage.emails + excluded.emails <= CASE excluded.period WHEN $2 THEN CAST($5 AS BIGINT) ELSE CAST($6 AS BIGINT) END
		RETURNING period, emails`, ws, month.period, amount, day.period, month.most, day.most)
	values := map[string]int64{}
	for _, c := range counts {
		values[c.period] = c.emails
	}
	return values, err
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
