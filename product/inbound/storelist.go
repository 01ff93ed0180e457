package inbound

import (
	"fmt"
	"strings"

	"postrider/platform/db"
	"postrider/platform/space"
)

// where is the condition of the list. Filters are arguments, never text.
type where struct {
	conditions []string
	args       []any
}

func (w *where) add(condition string, value any) {
	w.args = append(w.args, value)
	w.conditions = append(w.conditions, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(w.args))))
}

// among adds that a column has one of the values, if there are any.
func (w *where) among(column string, values []string) {
	switch len(values) {
	case 0:
	case 1:
		w.add(column+" = ?", values[0])
	default:
		w.add(column+" {in ?}", values)
	}
}

// contains adds that one of the texts is found in a column, if there are any. Messages from before it was filled have what it is made of in
// another, in which only letters of ASCII can be folded; the others are looked for among all that a search looks through.
func (w *where) contains(column, before string, texts []string) {
	var choices []string
	for _, text := range texts {
		pattern, exact := db.ContainsLoosely(text)
		w.args = append(w.args, db.Contains(text))
		found := fmt.Sprintf(` LIKE $%d ESCAPE '\'`, len(w.args))
		if exact {
			choices = append(choices, "COALESCE("+column+", LOWER("+before+"))"+found)
			continue
		}
		w.args = append(w.args, pattern)
		choices = append(choices, fmt.Sprintf(`COALESCE(%s, search)%s AND (%s IS NOT NULL OR LOWER(%s) LIKE $%d ESCAPE '\')`, column, found, column, before, len(w.args)))
	}
	if len(choices) > 0 {
		w.conditions = append(w.conditions, "("+strings.Join(choices, " OR ")+")")
	}
}

func (w *where) text() string { return strings.Join(w.conditions, " AND ") }

func (q listQuery) where(ws space.ID) *where {
	w := &where{conditions: []string{"kept = TRUE"}}
	w.add("workspace_id = ?", ws)
	if len(q.domains) > 0 {
		w.add("domain_id {in ?}", q.domains)
	}
	w.among("domain_id", q.Domain)
	w.contains("to_text", "addresses", q.To)
	w.contains("from_text", "sender", q.From)
	if q.Search != "" {
		w.add(`search LIKE ? ESCAPE '\'`, db.Contains(q.Search))
	}
	if q.Read != nil {
		w.add("(read_at IS NOT NULL) = ?", *q.Read)
	}
	if q.Starred != nil {
		w.add("starred = ?", *q.Starred)
	}
	if q.Files != nil {
		w.add("(file_count > 0) = ?", *q.Files)
	}
	if !q.Since.IsZero() {
		w.add("created_at >= ?", q.Since)
	}
	if !q.Until.IsZero() {
		w.add("created_at < ?", q.Until)
	}
	return w
}

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
