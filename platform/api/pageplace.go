package api

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// PageQuery is how a list is asked for a page: by a count of rows, or by the row that it begins after or ends before.
type PageQuery struct {
	OffsetQuery
	Cursor string `query:"cursor" doc:"next_cursor of the page before, unchanged."`
	After  string `query:"after" doc:"Id of the last row of the page before."`
	Before string `query:"before" doc:"Id of the first row of the page after."`
	Order  Order  `query:"order" doc:"desc (newest first) or asc." example:"desc"`

	list  list
	place Cursor // what the cursor stands for
}

// Order is the direction of a list, in the words of the parameter.
type Order string

// Orders that a list can have.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// list is what the cursors of a request are good for.
type list struct {
	cursors   Cursors
	workspace space.ID
	name      string
}

// places are the parameters that say which page is wanted, and not of which list.
var places = []string{"limit", "offset", "cursor", "after", "before"}

// Check fills in the default, refuses what is out of bounds, and reads the cursor.
func (q *PageQuery) Check(maxLimit int) error {
	given := 0
	for _, one := range []bool{q.Cursor != "", q.After != "", q.Before != "", q.Offset != 0} {
		if one {
			given++
		}
	}
	if given > 1 {
		return Invalid("after", "Only one of cursor, after, before and offset can be given.")
	}
	if q.Order != "" && q.Order != Ascending && q.Order != Descending {
		return Invalid("order", "Must be asc or desc.")
	}
	if err := q.OffsetQuery.Check(maxLimit); err != nil || q.Cursor == "" {
		return err
	}
	var err error
	q.place, err = q.list.cursors.Read(q.Cursor, q.list.workspace, q.list.name)
	return err
}

// Row returns the id of the row that the page begins after or ends before; empty if there is none.
func (q PageQuery) Row() string { return q.After + q.Before + q.place.ID }

// Placed tells whether the page begins at a row. Such a page does not say how long its list is.
func (q PageQuery) Placed() bool { return q.Row() != "" }

// Newest returns the part of a list that the page is cut from, if its rows are ordered by when they came and by their ids, newest
// first. came tells when a row did.
func (q PageQuery) Newest(came func(id string) (time.Time, error)) (db.Keyset, error) {
	return q.Part(Descending, func(id string) ([]any, error) {
		if q.Cursor != "" {
			return []any{q.place.At, id}, nil // the row may be gone
		}
		at, err := came(id)
		return []any{at, id}, err
	})
}

// Part is Newest for a list of another order: own is the one that it has unless it is turned, keys finds those of a row.
func (q PageQuery) Part(own Order, keys func(id string) ([]any, error)) (part db.Keyset, err error) {
	part.Down = (own == Descending) != q.turned(own)
	id := q.Row()
	if id == "" {
		return part, nil
	}
	if !IsID(id) {
		return part, ErrInvalidCursor
	}
	part.Beyond, err = keys(id)
	var public *Error
	if errors.Is(err, db.ErrNotFound) || errors.As(err, &public) && public.Status == http.StatusNotFound {
		err = ErrInvalidCursor
	}
	return part, err
}

// turned tells whether the rows are looked for against the order that the list has by itself. A page that ends before a row is
// looked for from there.
func (q PageQuery) turned(own Order) bool {
	asked := q.Order != "" && q.Order != own
	return asked != (q.Before != "")
}

// NewPlacedPage makes the page of the rows of a part. rows holds one more than the limit if there are more; place is what a cursor
// after a row stands for.
func NewPlacedPage[T any](rows []T, q PageQuery, place func(T) Cursor) Page[T] {
	page := NewOpenPage(rows, q.OffsetQuery)
	next := Ref("")
	if q.Before != "" {
		slices.Reverse(page.Data) // cursors lead forward, back to where the caller came from
	} else if page.HasMore && q.list.cursors.signer != nil {
		next = Ref(q.list.cursors.Write(place(page.Data[q.Limit-1]), q.list.workspace, q.list.name))
	}
	page.NextCursor = &next
	return page
}

// Cut makes the page of a list that is at hand, in the order that it has by itself; own tells which that is.
func Cut[T any](all []T, q PageQuery, own Order, place func(T) Cursor) (page Page[T], err error) {
	rows := slices.Clone(all)
	if q.turned(own) {
		slices.Reverse(rows)
	}
	if id := q.Row(); id != "" {
		at := slices.IndexFunc(rows, func(row T) bool { return place(row).ID == id })
		if at < 0 {
			return page, ErrInvalidCursor
		}
		rows = rows[at+1:]
	}
	rows = rows[min(q.Offset, len(rows)):]
	page = NewPlacedPage(rows[:min(q.Limit+1, len(rows))], q, place)
	if total := int64(len(all)); !q.Placed() {
		page.Total = &total
	}
	return page, nil
}
