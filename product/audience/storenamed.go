package audience

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/space"
)

const (
	// maxPage is the largest page of lists, segments, topics, properties and imports; maxContactPage that of contacts.
	maxPage        = 200
	maxContactPage = 500
	// maxNamed is how many lists, segments or topics a workspace may have. All of them are looked at when a filter is read.
	maxNamed       = 1000
	maxName        = 120
	maxDescription = 500
)

// pageQuery are the parameters of a list in the order in which its rows came, newest first.
type pageQuery struct {
	api.OffsetQuery
	After  string `query:"after" doc:"Id of the last row of the page before."`
	Before string `query:"before" doc:"Id of the first row of the page after."`
}

func (q *pageQuery) check(most int) error {
	places := 0
	for _, given := range []bool{q.After != "", q.Before != "", q.Offset != 0} {
		if given {
			places++
		}
	}
	if places > 1 {
		return api.Invalid("after", "Only one of after, before and offset can be given.")
	}
	return q.OffsetQuery.Check(most)
}

// turn puts the rows of a page before a place back into their order.
func turn[T any](page api.Page[T], q pageQuery) api.Page[T] {
	if q.Before != "" {
		slices.Reverse(page.Data)
	}
	return page
}

// shelf is a table of things that have a number, an id and a name which is unique in its workspace.
type shelf[T any] struct {
	table, columns, name string
	scan                 func(db.Scanner) (T, error)
	missing              *api.Error
}

// find returns the thing with an id, or the error of a missing one.
func (f shelf[T]) find(tx *db.Tx, ws space.ID, id string) (found T, err error) {
	if !api.IsID(id) {
		return found, f.missing
	}
	found, err = db.One(tx, f.scan, `
		SELECT `+f.columns+` FROM `+f.table+`
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	if errors.Is(err, db.ErrNotFound) {
		err = f.missing
	}
	return found, err
}

// lock is find for a thing that is about to change.
func (f shelf[T]) lock(tx *db.Tx, ws space.ID, id string) (found T, err error) {
	if !api.IsID(id) {
		return found, f.missing
	}
	found, err = db.One(tx, f.scan, `
		SELECT `+f.columns+` FROM `+f.table+`
		WHERE workspace_id = $1 AND id = $2
		{for_update}`, ws, id)
	if errors.Is(err, db.ErrNotFound) {
		err = f.missing
	}
	return found, err
}

// all returns everything of a workspace, oldest first.
func (f shelf[T]) all(tx *db.Tx, ws space.ID) ([]T, error) {
	return db.All(tx, f.scan, `
		SELECT `+f.columns+` FROM `+f.table+`
		WHERE workspace_id = $1
		ORDER BY number
		LIMIT $2`, ws, maxNamed)
}

// idByName returns the id of the thing with a name.
func (f shelf[T]) idByName(tx *db.Tx, ws space.ID, folded string) (string, error) {
	return db.One(tx, db.Value[string], `
		SELECT id FROM `+f.table+`
		WHERE workspace_id = $1 AND `+f.name+` = $2`, ws, folded)
}

func (f shelf[T]) count(tx *db.Tx, ws space.ID, search string) (int64, error) {
	return db.One(tx, db.Value[int64], `
		SELECT COUNT(*) FROM `+f.table+`
		WHERE workspace_id = $1 AND `+f.name+` LIKE $2 ESCAPE '\'`, ws, db.Contains(search))
}

// place returns the number of the row that a page begins after or ends before.
func (f shelf[T]) place(tx *db.Tx, ws space.ID, id string) (number int64, err error) {
	if !api.IsID(id) {
		return 0, api.ErrInvalidCursor
	}
	number, err = db.One(tx, db.Value[int64], `
		SELECT number FROM `+f.table+`
		WHERE workspace_id = $1 AND id = $2`, ws, id)
	if errors.Is(err, db.ErrNotFound) {
		err = api.ErrInvalidCursor
	}
	return number, err
}

// page returns the rows of a page and one more if there are more.
func (f shelf[T]) page(tx *db.Tx, ws space.ID, q pageQuery, search string) ([]T, error) {
	condition, order, args := "", "number DESC", []any{ws, db.Contains(search), q.Limit + 1, q.Offset}
	if at := q.After + q.Before; at != "" {
		number, err := f.place(tx, ws, at)
		if err != nil {
			return nil, err
		}
		comparison := "<"
		if q.Before != "" {
			comparison, order = ">", "number"
		}
		args, condition = append(args, number), " AND number "+comparison+" $5"
	}
	return db.All(tx, f.scan, `
		SELECT `+f.columns+` FROM `+f.table+`
		WHERE workspace_id = $1 AND `+f.name+` LIKE $2 ESCAPE '\'`+condition+`
		ORDER BY `+order+`
		LIMIT $3 OFFSET $4`, args...)
}

// listOf returns a page of a shelf as records.
func listOf[T, R any](ctx context.Context, d *db.DB, f shelf[T], ws space.ID, q pageQuery, search string, record func(T) R) (page api.Page[R], err error) {
	if err := api.CheckSearch(search); err != nil {
		return page, err
	}
	if err := q.check(maxPage); err != nil {
		return page, err
	}
	err = d.Read(ctx, func(tx *db.Tx) error {
		found, err := f.page(tx, ws, q, search)
		if err != nil {
			return err
		}
		records := make([]R, len(found))
		for i, row := range found {
			records[i] = record(row)
		}
		page = turn(api.NewOpenPage(records, q.OffsetQuery), q)
		if q.After+q.Before != "" {
			return nil
		}
		total, err := f.count(tx, ws, search)
		page.Total = &total
		return err
	})
	return page, err
}

// taken returns the error of a name that another thing has; resource is what it is on the wire.
func (f shelf[T]) taken(tx *db.Tx, ws space.ID, folded, resource string) error {
	id, err := f.idByName(tx, ws, folded)
	if errors.Is(err, db.ErrNotFound) {
		return db.ErrConflict // given up in this very moment; the next try gets it
	}
	if err != nil {
		return err
	}
	return api.ErrAlreadyExists.With("resource", resource).With("id", id)
}

// room refuses another thing where there are too many.
func (f shelf[T]) room(tx *db.Tx, ws space.ID, most int64, field, things string) error {
	count, err := f.count(tx, ws, "")
	if err == nil && count >= most {
		err = api.Invalid(field, fmt.Sprintf("A workspace can have at most %d %s.", most, things))
	}
	return err
}

// checkName returns a name without the spaces around it.
func checkName(wrong *api.Fields, name string, most int) string {
	name = strings.TrimSpace(name)
	if length := utf8.RuneCountInString(name); length < 1 || length > most || strings.ContainsFunc(name, unicode.IsControl) {
		wrong.Add("name", fmt.Sprintf("Must have 1 to %d characters, without line breaks or control characters.", most))
	}
	return name
}

func checkRemark(wrong *api.Fields, field, text string, most int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) > most || strings.ContainsRune(text, 0) {
		wrong.Add(field, fmt.Sprintf("Must have at most %d characters and no NUL.", most))
	}
	return text
}

// later returns the later of two moments.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
