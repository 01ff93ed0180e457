// Package space is the name of a workspace: the wall between one customer's data and another's.
//
// It stands below every package that stores customer data, so that all of them demand the same type.
package space

import "errors"

// ErrInvalid means a text is not a workspace id.
var ErrInvalid = errors.New("workspace id is not a lower-case UUID")

// ID names one workspace. Only Parse and the database make one.
type ID string

// idLength is the length of a UUID in its text form (RFC 9562 §4).
const idLength = 36

// Parse returns s as an ID if it is a UUID in the one form we write: lower case, with hyphens.
// Other spellings of a UUID are refused, so that equal workspaces always have equal ids.
func Parse(s string) (ID, error) {
	if len(s) != idLength {
		return "", ErrInvalid
	}
	for i := range len(s) {
		if !fits(s[i], i) {
			return "", ErrInvalid
		}
	}
	return ID(s), nil
}

// String returns the id as text.
func (id ID) String() string { return string(id) }

func fits(c byte, at int) bool {
	switch at {
	case 8, 13, 18, 23:
		return c == '-'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
}
