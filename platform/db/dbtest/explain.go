package dbtest

import (
	"strings"
	"testing"

	"postrider/platform/db"
)

// Explain returns how the engine would answer a query, a step a line.
func Explain(t testing.TB, tx *db.Tx, engine, query string, args ...any) string {
	t.Helper()
	how := "EXPLAIN QUERY PLAN "
	scan := func(s db.Scanner) (detail string, err error) {
		var id, parent, unused int64
		err = s.Scan(&id, &parent, &unused, &detail)
		return detail, err
	}
	if engine == "postgres" {
		how, scan = "EXPLAIN ", db.Value[string]
	}
	lines, err := db.All(tx, scan, how+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
