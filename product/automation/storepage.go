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

// pageQuery is how a list is asked for a page: by a count of rows, or by the row that it begins after or ends before.
type pageQuery struct {
	api.OffsetQuery
	After  string `query:"after" doc:"Id of the last row of the page before."`
	Before string `query:"before" doc:"Id of the first row of the page after."`
}

func (q *pageQuery) check() error {
	given := 0
	for _, one := range []bool{q.After != "", q.Before != "", q.Offset != 0} {
		if one {
			given++
		}
	}
	if given > 1 {
		return api.Invalid("after", "Only one of after, before and offset can be given.")
	}
	return q.OffsetQuery.Check(maxPage)
}

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

// table is what a list reads: rows with a moment and an id, newest first.
type table[T any] struct {
	name, columns, moment string
	scan                  func(db.Scanner) (T, error)
}

// page returns the rows of a page in which all conditions hold. Rows that begin at one of them are not counted.
func (t table[T]) page(tx *db.Tx, w where, q pageQuery) (page api.Page[T], err error) {
	all := w
	order := t.moment + " DESC, id DESC"
	if place := q.After + q.Before; place != "" {
		at, err := db.One(tx, db.Moment, `SELECT `+t.moment+` FROM `+t.name+` WHERE `+strings.Join(w.conditions, " AND ")+fmt.Sprintf(` AND id = $%d`, len(w.args)+1),
			append(slices.Clone(w.args), place)...)
		if !api.IsID(place) || err == db.ErrNotFound {
			return page, api.ErrInvalidCursor
		}
		if err != nil {
			return page, err
		}
		all = where{slices.Clone(w.conditions), slices.Clone(w.args)}
		if q.Before != "" {
			all.and("("+t.moment+", id) > (%s, %s)", at, place)
			order = t.moment + ", id"
		} else {
			all.and("("+t.moment+", id) < (%s, %s)", at, place)
		}
	}
	rows, err := db.All(tx, t.scan, `SELECT `+t.columns+` FROM `+t.name+` WHERE `+strings.Join(all.conditions, " AND ")+` ORDER BY `+order+
		fmt.Sprintf(` LIMIT $%d OFFSET $%d`, len(all.args)+1, len(all.args)+2), append(slices.Clone(all.args), q.Limit+1, q.Offset)...)
	if err != nil {
		return page, err
	}
	page = api.NewOpenPage(rows, q.OffsetQuery)
	if q.Before != "" {
		slices.Reverse(page.Data)
	}
	if q.After+q.Before != "" {
		return page, nil
	}
	count, err := db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+t.name+` WHERE `+strings.Join(w.conditions, " AND "), w.args...)
	page.Total = &count
	return page, err
}

// mapPage turns the rows of a page into records.
func mapPage[T, R any](page api.Page[T], record func(T) R) api.Page[R] {
	data := make([]R, len(page.Data))
	for i, row := range page.Data {
		data[i] = record(row)
	}
	return api.Page[R]{Object: page.Object, Data: data, Limit: page.Limit, Offset: page.Offset, Total: page.Total, HasMore: page.HasMore}
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
