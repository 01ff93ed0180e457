package stats

import (
	"time"

	"postrider/platform/db"
)

// The functions here serve the follower and the sweep, which work across workspaces.

// selectTags returns when the values of a list that are known were last seen.
func selectTags(tx *db.Tx, list tagList, values []string) (map[string]time.Time, error) {
	seen := map[string]time.Time{}
	_, err := db.All(tx, func(row db.Scanner) (value string, err error) {
		var day time.Time
		err = row.Scan(&value, db.Time(&day))
		seen[value] = day
		return value, err
	}, `
		SELECT value, seen_day FROM stats_tag
		WHERE workspace_id = $1 AND name = $2 AND value {in $3}`, list.workspace, list.name, values)
	return seen, err
}

func countTags(tx *db.Tx, list tagList) (int, error) {
	return db.One(tx, db.Value[int], `
		SELECT COUNT(*) FROM stats_tag
		WHERE workspace_id = $1 AND name = $2`, list.workspace, list.name)
}

func insertTags(tx *db.Tx, list tagList, values []string, today time.Time) error {
	rows := make([]any, 0, 4*len(values))
	for _, value := range values {
		rows = append(rows, list.workspace, list.name, value, today)
	}
	_, err := tx.InsertRows(`
		INSERT INTO stats_tag (workspace_id, name, value, seen_day)`, 4, rows, ``)
	return err
}

func updateSeen(tx *db.Tx, list tagList, values []string, today time.Time) error {
	_, err := tx.Exec(`
		UPDATE stats_tag SET seen_day = $1
		WHERE workspace_id = $2 AND name = $3 AND value {in $4}`, today, list.workspace, list.name, values)
	return err
}

func deleteTags(tx *db.Tx, before time.Time, limit int) (int64, error) {
	return tx.Exec(`
		DELETE FROM stats_tag
		WHERE (workspace_id, name, value) IN (
			SELECT workspace_id, name, value FROM stats_tag
			WHERE seen_day < $1
			ORDER BY seen_day
			LIMIT $2)`, before, limit)
}
