package api

import "fmt"

// DefaultLimit is how many rows a page has when nobody asks for a number.
const DefaultLimit = 50

// OffsetQuery are the parameters of a list that counts rows.
type OffsetQuery struct {
	Limit  int `query:"limit" least:"1" doc:"Rows of a page." example:"50"`
	Offset int `query:"offset" doc:"Rows to skip." example:"0"`
}

// Check fills in the default and refuses what is out of bounds. A limit above the maximum is refused, never cut: readers
// take a short page for the last one.
func (q *OffsetQuery) Check(maxLimit int) error {
	var fields Fields
	checkLimit(&fields, &q.Limit, maxLimit)
	switch {
	case q.Offset < 0:
		fields.Add("offset", "Must not be negative.")
	case q.Offset > maxOffset:
		fields.Add("offset", fmt.Sprintf("Must be at most %d.", maxOffset))
	}
	return fields.Err()
}

// maxOffset is beyond every list, and small enough to add to.
const maxOffset = 1_000_000_000

func checkLimit(fields *Fields, limit *int, maxLimit int) {
	if *limit == 0 {
		*limit = min(DefaultLimit, maxLimit)
	}
	if *limit < 1 || *limit > maxLimit {
		fields.Add("limit", fmt.Sprintf("Must be between 1 and %d.", maxLimit))
	}
}

// maxSearch is the longest text that is searched for; an engine refuses patterns of many thousands.
const maxSearch = 320

// CheckSearch refuses texts that nobody would search for.
func CheckSearch(text string) error {
	if len(text) > maxSearch {
		return Invalid("search", fmt.Sprintf("Must have at most %d bytes.", maxSearch))
	}
	return nil
}

// Page is one page of a list that counts rows.
type Page[T any] struct {
	Object  string `json:"object" example:"list"`
	Data    []T    `json:"data"`
	Limit   int    `json:"limit" example:"50"`
	Offset  int    `json:"offset" example:"0"`
	Total   *int64 `json:"total,omitempty" example:"1"`
	HasMore bool   `json:"has_more" example:"false"`
	// NextCursor is there for lists that can also be followed by cursor.
	NextCursor *Ref `json:"next_cursor,omitempty"`
}

// NewPage makes the page of a list whose length is known.
func NewPage[T any](rows []T, q OffsetQuery, total int64) Page[T] {
	return Page[T]{Object: "list", Data: orEmpty(rows), Limit: q.Limit, Offset: q.Offset, Total: &total,
		HasMore: int64(q.Offset+len(rows)) < total}
}

// NewOpenPage makes the page of a list whose length nobody counts. rows holds one row more than the limit if there are more.
func NewOpenPage[T any](rows []T, q OffsetQuery) Page[T] {
	more := len(rows) > q.Limit
	if more {
		rows = rows[:q.Limit]
	}
	return Page[T]{Object: "list", Data: orEmpty(rows), Limit: q.Limit, Offset: q.Offset, HasMore: more}
}

func orEmpty[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}
