package automation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
)

// maxPage is the largest page of every list here.
const maxPage = 200

// where collects the conditions of a list.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition in which %s stands for each argument.
func (w *where) and(condition string, args ...any) {
	marks := make([]any, len(args))
	for i, arg := range args {
		w.args = append(w.args, arg)
		marks[i] = fmt.Sprintf("$%d", len(w.args))
	}
	w.conditions = append(w.conditions, fmt.Sprintf(condition, marks...))
}

func (w where) text() string { return strings.Join(w.conditions, " AND ") }

// table is what a list reads: rows with a moment and an id, newest first.
type table[T any] struct {
	name, columns, moment string
	scan                  func(db.Scanner) (T, error)
	// place is where a page after a row begins.
	place func(T) api.Cursor
}

// page returns the rows of a page in which all conditions hold. A list that begins at one of its rows is not counted.
func (t table[T]) page(tx *db.Tx, w where, q api.PageQuery) (page api.Page[T], err error) {
	part, err := q.Newest(func(id string) (time.Time, error) {
		return db.One(tx, db.Moment, `SELECT `+t.moment+` FROM `+t.name+` WHERE `+w.text()+fmt.Sprintf(` AND id = $%d`, len(w.args)+1), append(slices.Clip(w.args), id)...)
	})
	if err != nil {
		return page, err
	}
	condition, args := part.Where(w.text(), w.args, t.moment, "id")
	args = append(slices.Clip(args), q.Limit+1, q.Offset)
	rows, err := db.All(tx, t.scan, fmt.Sprintf(`SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT $%d OFFSET $%d`, t.columns, t.name, condition, part.Order(t.moment, "id"),
		len(args)-1, len(args)), args...)
	if err != nil {
		return page, err
	}
	page = api.NewPlacedPage(rows, q, t.place)
	if q.Placed() {
		return page, nil
	}
	count, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+t.name+` WHERE `+w.text(), w.args...)
	page.Total = &count
	return page, err
}

// mapPage turns the rows of a page into records.
func mapPage[T, R any](page api.Page[T], record func(T) R) api.Page[R] {
	data := make([]R, len(page.Data))
	for i, row := range page.Data {
		data[i] = record(row)
	}
	return api.Page[R]{Object: page.Object, Data: data, Limit: page.Limit, Offset: page.Offset, Total: page.Total, HasMore: page.HasMore, NextCursor: page.NextCursor}
}

// moment reads a time of a query; empty is the zero time.
func moment(wrong *api.Fields, field, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		wrong.Add(field, "Must be a moment such as 2026-11-15T02:13:00Z.")
	}
	return at.UTC()
}
