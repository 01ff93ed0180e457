package inbound

import (
	"fmt"
	"slices"

	"postrider/platform/db"
	"postrider/platform/space"
)

// selectPage reads one row more than the page has, to know whether another follows.
func selectPage(tx *db.Tx, ws space.ID, q listQuery, place *Message) ([]Message, error) {
	w := q.where(ws)
	order := "created_at DESC, id DESC"
	if place != nil {
		beyond := "<"
		if q.Before != "" {
			beyond, order = ">", "created_at, id"
		}
		w.args = append(w.args, place.CreatedAt, place.ID)
		w.conditions = append(w.conditions, fmt.Sprintf("(created_at, id) %s ($%d, $%d)", beyond, len(w.args)-1, len(w.args)))
	}
	w.args = append(w.args, q.Limit+1, q.Offset)
	rows, err := db.All(tx, scanMessage, fmt.Sprintf(`
		SELECT `+messageColumns+` FROM inbound_received
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, w.text(), order, len(w.args)-1, len(w.args)), w.args...)
	if q.Before != "" {
		extra := max(len(rows)-q.Limit, 0)
		slices.Reverse(rows)
		rows = append(rows[extra:], rows[:extra]...) // the one too many stays last
	}
	return rows, err
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
