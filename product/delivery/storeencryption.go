package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"postrider/mail/tlsrpt"
	"postrider/platform/db"
)

func selectStanding(tx *db.Tx, domain string) (standing, error) {
	var s standing
	text, err := db.One(tx, db.Value[string], `
		SELECT standing FROM delivery_encryption
		WHERE domain = $1`, domain)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return s, nil
	case err != nil:
		return s, err
	}
	return s, json.Unmarshal([]byte(text), &s)
}

// upsertStandings stores them in the order of their domains, so that two nodes do not wait for each other in a circle.
func upsertStandings(tx *db.Tx, changed map[string]standing) error {
	values := make([]any, 0, 3*len(changed))
	for _, domain := range slices.Sorted(maps.Keys(changed)) {
		text, err := json.Marshal(changed[domain])
		if err != nil {
			return fmt.Errorf("encode what is known of %s: %w", domain, err)
		}
		values = append(values, domain, string(text), tx.Now())
	}
	_, err := tx.InsertRows(`INSERT INTO delivery_encryption (domain, standing, updated_at)`, 3, values,
		`ON CONFLICT (domain) DO UPDATE SET standing = excluded.standing, updated_at = excluded.updated_at`)
	return err
}

func deleteStandings(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM delivery_encryption
		WHERE domain IN (SELECT domain FROM delivery_encryption WHERE updated_at < $1 ORDER BY updated_at LIMIT $2)`, before, limit)
}

func readDay(row db.Scanner) (day tlsrpt.Day, err error) {
	var text string
	if err := row.Scan(&text); err != nil {
		return day, err
	}
	return day, json.Unmarshal([]byte(text), &day)
}

func selectDay(tx *db.Tx, key tlsrpt.Key, node string) (day tlsrpt.Day, found bool, err error) {
	day, err = db.One(tx, readDay, `
		SELECT tally FROM delivery_encryption_day
		WHERE domain = $1 AND date = $2 AND node = $3 {for_update}`, key.Domain, key.Date, node)
	if errors.Is(err, db.ErrNotFound) {
		return day, false, nil
	}
	return day, err == nil, err
}

// selectDays returns what each node has counted of a day.
func selectDays(tx *db.Tx, key tlsrpt.Key) ([]tlsrpt.Day, error) {
	return db.All(tx, readDay, `
		SELECT tally FROM delivery_encryption_day
		WHERE domain = $1 AND date = $2
		ORDER BY node`, key.Domain, key.Date)
}

func upsertDay(tx *db.Tx, day tlsrpt.Day, node string) error {
	text, err := json.Marshal(day)
	if err != nil {
		return fmt.Errorf("encode a day of %s: %w", day.Key.Domain, err)
	}
	_, err = tx.Exec(`
		INSERT INTO delivery_encryption_day (domain, date, node, tally)
		VALUES ($1, $2, $3, $4)
		ON CONFLICT (domain, date, node) DO UPDATE SET tally = excluded.tally`, day.Key.Domain, day.Key.Date, node, string(text))
	return err
}

func deleteDays(tx *db.Tx, key tlsrpt.Key) error {
	_, err := tx.Exec(`
		DELETE FROM delivery_encryption_day
		WHERE domain = $1 AND date = $2`, key.Domain, key.Date)
	return err
}
