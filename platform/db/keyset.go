package db

import (
	"fmt"
	"slices"
	"strings"
)

// Keyset is a part of a list: the rows beyond one of them, in one direction. The zero value is the whole list, lowest row first.
type Keyset struct {
	// Beyond are the keys of the row that the part begins after, one for each column of the order; nil means the whole list.
	Beyond []any
	// Down goes from the highest row to the lowest.
	Down bool
}

// Where adds to a condition and its arguments what keeps to the part. The columns are those of the order.
func (k Keyset) Where(condition string, args []any, columns ...string) (string, []any) {
	if k.Beyond == nil {
		return condition, args
	}
	marks := make([]string, len(k.Beyond))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", len(args)+i+1)
	}
	comparison := ">"
	if k.Down {
		comparison = "<"
	}
	condition += fmt.Sprintf(" AND (%s) %s (%s)", strings.Join(columns, ", "), comparison, strings.Join(marks, ", "))
	return condition, append(slices.Clip(args), k.Beyond...)
}

// Order returns the order of the rows of the part by the columns.
func (k Keyset) Order(columns ...string) string {
	if !k.Down {
		return strings.Join(columns, ", ")
	}
	return strings.Join(columns, " DESC, ") + " DESC"
}
