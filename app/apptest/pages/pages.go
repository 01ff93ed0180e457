// Package pages follows lists through their pages, for tests.
package pages

import (
	"strings"
	"testing"

	"postrider/app/apptest"
)

// most bounds a walk: a list that leads in a circle must not hold a test up.
const most = 10

// Walk follows next_cursor through a list in pages of two, and returns a column of all rows. The path ends where another parameter can
// follow.
func Walk(t testing.TB, get func(path string) apptest.Answer, path, column string) string {
	t.Helper()
	var all []string
	for cursor := ""; ; {
		page := get(path + "limit=2" + cursor)
		if rows := page.Column(column); rows != "" {
			all = append(all, rows)
		}
		next := page.Text("next_cursor")
		if page.Body["has_more"] != (next != "") || len(all) > most {
			t.Fatalf("%s: %s", path, page.Raw)
		}
		if next == "" {
			return strings.Join(all, " ")
		}
		cursor = "&cursor=" + next
	}
}
