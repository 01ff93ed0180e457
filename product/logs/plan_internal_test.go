package logs

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/world"
)

// What went wrong is little among much that went well, and must not be looked for entry by entry.
func TestTroubleAndRareKindsAreFoundByTheirIndexes(t *testing.T) {
	t.Parallel()
	const ws space.ID = "0193a000-0000-7000-8000-000000000001"
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w := world.New(slog.New(slog.DiscardHandler))
			d := dbtest.Open(t, w, engine)
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				var entries []Entry
				for n := range 5000 {
					e := Entry{ID: ID(w.NewID()), Workspace: ws, Kind: Request, Level: Info, CreatedAt: tx.Now(), ResponseStatus: 200}
					if n%500 == 0 {
						e.Kind, e.Level, e.ResponseStatus = Auth, Warning, 401
					}
					entries = append(entries, e)
				}
				if err := insertEntries(tx, entries); err != nil {
					return err
				}
				if engine == "postgres" { // which looks at its tables by itself, but not so soon
					if _, err := tx.Exec(`ANALYZE log_entry`); err != nil {
						return err
					}
				}
				for _, c := range []struct {
					filter filter
					index  string
				}{
					{filter{Level: []string{"error"}}, "log_entry_trouble"},
					{filter{Level: []string{"error", "warning"}}, "log_entry_trouble"},
					{filter{Status: []string{"4xx", "500"}}, "log_entry_trouble"},
					{filter{Kind: []string{"auth"}}, "log_entry_rare"},
				} {
					c.filter.Since = time.Unix(0, 0)
					chosen, err := newSelection(tx, ws, c.filter, db.Keyset{Down: true})
					if err != nil {
						return err
					}
					query, args := chosen.query(51, 0)
					if plan := dbtest.Explain(t, tx, engine, query, args...); !strings.Contains(plan, c.index) {
						t.Errorf("%+v: %s", c.filter, plan)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
