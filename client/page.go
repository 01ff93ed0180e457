package client

import (
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Page is one page of a list. Some lists are counted (Offset, Total), others are followed by a cursor (NextCursor).
type Page[T any] struct {
	Object     string `json:"object"`
	Data       []T    `json:"data"`
	HasMore    bool   `json:"has_more"`
	Limit      int    `json:"limit,omitzero"`
	Offset     int    `json:"offset,omitzero"`
	Total      *int64 `json:"total,omitempty"`
	NextCursor string `json:"next_cursor,omitzero"`
}

// all reads a list to its end, page after page. The first error ends it.
func all[T any](start int, fetch func(offset int, cursor string) (*Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		offset, cursor := start, ""
		for {
			page, err := fetch(offset, cursor)
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, row := range page.Data {
				if !yield(row, nil) {
					return
				}
			}
			// A page without rows has no next one, whatever it says: following it would not end.
			if !page.HasMore || len(page.Data) == 0 {
				return
			}
			offset, cursor = offset+len(page.Data), page.NextCursor
		}
	}
}

// query collects the parameters that were given.
type query url.Values

func (q query) text(name, value string) {
	if value != "" {
		url.Values(q).Set(name, value)
	}
}

func (q query) texts(name string, values []string) {
	if len(values) > 0 {
		url.Values(q).Set(name, strings.Join(values, ","))
	}
}

func (q query) number(name string, value int) {
	if value != 0 {
		url.Values(q).Set(name, strconv.Itoa(value))
	}
}

func (q query) time(name string, value time.Time) {
	if !value.IsZero() {
		url.Values(q).Set(name, value.UTC().Format(time.RFC3339Nano))
	}
}

func (q query) flag(name string, value *bool) {
	if value != nil {
		url.Values(q).Set(name, strconv.FormatBool(*value))
	}
}
