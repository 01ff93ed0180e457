package db

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Time scans a moment stored in microseconds into t; NULL becomes the zero time.
func Time(t *time.Time) any { return timeScanner{t} }

type timeScanner struct{ into *time.Time }

// Scan reads the stored microseconds.
func (s timeScanner) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s.into = time.Time{}
	case int64:
		*s.into = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("moment stored as %T", src)
	}
	return nil
}

// Moment scans a row of a single moment.
func Moment(s Scanner) (time.Time, error) {
	var t time.Time
	err := s.Scan(Time(&t))
	return t, err
}

// Text scans text that may be NULL into s; NULL becomes the empty string.
func Text[S ~string](s *S) any { return textScanner[S]{s} }

type textScanner[S ~string] struct{ into *S }

// Scan reads the stored text.
func (s textScanner[S]) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s.into = ""
	case string:
		*s.into = S(v)
	case []byte:
		*s.into = S(v)
	default:
		return fmt.Errorf("text stored as %T", src)
	}
	return nil
}

// NullText returns s as an argument, the empty string as NULL.
func NullText[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// Contains returns the LIKE pattern for columns that contain the text as it is, for use with ESCAPE '\'. Such columns are kept in
// lower case, because the engines disagree about case.
func Contains(text string) string {
	return "%" + likeWildcards.Replace(strings.ToLower(text)) + "%"
}

// ContainsLoosely is Contains for columns that keep the case of what they have: compared with what LOWER makes of them. That knows other letters
// than those of ASCII only on some databases, so they may be any letter, and something else must tell which. exact is true if there are none.
func ContainsLoosely(text string) (pattern string, exact bool) {
	exact = true
	pattern = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		exact = false
		return '_'
	}, Contains(text))
	return pattern, exact
}

var likeWildcards = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
