package inbound

import (
	"fmt"

	"postrider/platform/db"
	"postrider/platform/space"
)

// selectPage returns the messages of a page, and one more if there are more.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, part db.Keyset) ([]Message, error) {
	w := q.where(ws)
	condition, args := part.Where(w.text(), w.args, "created_at", "id")
	args = append(args, q.Limit+1, q.Offset)
	return db.All(tx, scanMessage, fmt.Sprintf(`
		SELECT `+messageColumns+` FROM inbound_received
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, condition, part.Order("created_at", "id"), len(args)-1, len(args)), args...)
}

// countList counts what a list has in all. nil means more than are counted.
func countList(tx *db.Tx, ws space.ID, q listQuery) (*int64, error) {
	if !q.filtered() {
		total, err := selectTotal(tx, ws)
		return &total, err
	}
	w := q.where(ws)
	w.args = append(w.args, maxCounted+1)
	count, err := db.One(tx, db.Value[int64], fmt.Sprintf(`
		SELECT COUNT(*) FROM (
			SELECT id FROM inbound_received
			WHERE %s
			LIMIT $%d) AS found`, w.text(), len(w.args)), w.args...)
	if count > maxCounted {
		return nil, err
	}
	return &count, err
}
