package audience

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	return found, db.OrMissing(err, f.missing)
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
	return found, db.OrMissing(err, f.missing)
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

// part returns the part of the shelf that a page is cut from.
func (f shelf[T]) part(tx *db.Tx, ws space.ID, q api.PageQuery) (db.Keyset, error) {
	return q.Part(api.Descending, func(id string) ([]any, error) {
		number, err := db.One(tx, db.Value[int64], `
			SELECT number FROM `+f.table+`
			WHERE workspace_id = $1 AND id = $2`, ws, id)
		return []any{number}, err
	})
}

// page returns the rows of a page and one more if there are more.
func (f shelf[T]) page(tx *db.Tx, ws space.ID, q api.PageQuery, part db.Keyset, search string) ([]T, error) {
	where, args := part.Where(`workspace_id = $1 AND `+f.name+` LIKE $2 ESCAPE '\'`, []any{ws, db.Contains(search)}, "number")
	return db.All(tx, f.scan, fmt.Sprintf(`
		SELECT %s FROM %s
		WHERE %s
		ORDER BY %s
		LIMIT $%d OFFSET $%d`, f.columns, f.table, where, part.Order("number"), len(args)+1, len(args)+2), append(args, q.Limit+1, q.Offset)...)
}

// placed is a record that a cursor can stand for.
type placed interface{ place() api.Cursor }

// listOf returns a page of a shelf as records, newest first.
func listOf[T any, R placed](ctx context.Context, d *db.DB, f shelf[T], ws space.ID, q searchQuery, record func(T) R) (page api.Page[R], err error) {
	if err := api.CheckSearch(q.Search); err != nil {
		return page, err
	}
	if err := q.Check(maxPage); err != nil {
		return page, err
	}
	err = d.Read(ctx, func(tx *db.Tx) error {
		part, err := f.part(tx, ws, q.PageQuery)
		if err != nil {
			return err
		}
		found, err := f.page(tx, ws, q.PageQuery, part, q.Search)
		if err != nil {
			return err
		}
		records := make([]R, len(found))
		for i, row := range found {
			records[i] = record(row)
		}
		page = api.NewPlacedPage(records, q.PageQuery, R.place)
		if q.Placed() {
			return nil
		}
		total, err := f.count(tx, ws, q.Search)
		page.Total = &total
		return err
	})
	return page, err
}

// taken returns the error of a name that another thing has; resource is what it is on the wire.
func (f shelf[T]) taken(tx *db.Tx, ws space.ID, folded, resource string) error {
	if err := f.vacant(tx, ws, folded, resource); err != nil {
		return err
	}
	return db.ErrConflict // given up in this very moment; the next try gets it
}

// vacant refuses a name that another thing has.
func (f shelf[T]) vacant(tx *db.Tx, ws space.ID, folded, resource string) error {
	id, err := f.idByName(tx, ws, folded)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return api.ErrAlreadyExists.With("resource", resource).With("id", id)
}

// ifTaken is for a change of names: one that another transaction has just taken is a conflict, and the next try sees who has it.
func ifTaken(err error) error {
	if errors.Is(err, db.ErrUnique) {
		return db.ErrConflict
	}
	return err
}

// room refuses another thing where there are too many.
func (f shelf[T]) room(tx *db.Tx, ws space.ID, most int64, field, things string) error {
	count, err := f.count(tx, ws, "")
	if err == nil && count >= most {
		err = api.Invalid(field, fmt.Sprintf("A workspace can have at most %d %s.", most, things))
	}
	return err
}

// later returns the later of two moments.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
