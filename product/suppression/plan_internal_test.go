package suppression

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/space"
	"postrider/world"
)

const acme space.ID = "0193a000-0000-7000-8000-000000000001"

// fill puts n addresses on the list of acme, straight into the table.
func fill(t testing.TB, d *db.DB, w world.World, n int) {
	t.Helper()
	const step = 4096
	for from := 0; from < n; from += step {
		err := d.Write(context.Background(), func(tx *db.Tx) error {
			var rows []*Suppression
			for i := from; i < min(n, from+step); i++ {
				rows = append(rows, &Suppression{ID: ID(w.NewID()), Workspace: acme, Address: addressOf(i), Reason: weakestFirst[i%len(weakestFirst)],
					CreatedAt: epoch.Add(time.Duration(i) * time.Second)})
			}
			if _, err := insertSuppressions(tx, rows); err != nil {
				return err
			}
			total := counts{}
			for _, row := range rows {
				total.add(row, 1)
			}
			return total.save(tx)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func addressOf(i int) string { return fmt.Sprintf("person%d@host%d.example", i, i%1000) }

func quiet() world.World { return world.New(slog.New(slog.NewTextHandler(io.Discard, nil))) }

func TestNoQuestionReadsTheWholeList(t *testing.T) {
	t.Parallel()
	w := quiet()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			d := dbtest.Open(t, w, engine)
			fill(t, d, w, 2000)
			mailboxes := make([]mailbox, 500)
			for i := range mailboxes {
				mailboxes[i] = mailboxOf(acme, addressOf(i))
			}
			err := d.Write(context.Background(), func(tx *db.Tx) error {
				if engine == "postgres" {
					// The table is small here. Among a million rows the engine need not be told, and it looks at them by itself.
					for _, statement := range []string{`ANALYZE suppression`, `SET LOCAL enable_seqscan = off`} {
						if _, err := tx.Exec(statement); err != nil {
							return err
						}
					}
				}
				if plan := dbtest.Explain(t, tx, engine, selectByMailbox, mailboxes, tx.Now()); !usesOnly(plan, "suppression_mailbox") {
					t.Errorf("check: %s", plan)
				}
				if plan := dbtest.Explain(t, tx, engine, expiredReasons, acme, tx.Now()); !usesOnly(plan, "suppression_expired") {
					t.Errorf("what has expired: %s", plan)
				}
				for indexes, q := range map[string]listQuery{
					"suppression_newest":                   {},
					"suppression_newest ":                  {Since: epoch},
					"suppression_reason":                   {Reason: []string{"bounce"}},
					"suppression_reason ":                  {Origin: []string{"manual"}},
					"suppression_address":                  {Search: "person1"},
					"suppression_host":                     {Search: "@host7.example"},
					"suppression_address suppression_host": {Search: "host7.example"},
				} {
					want, err := q.check()
					if err != nil {
						return err
					}
					if want.part, err = want.place(tx, acme); err != nil {
						return err
					}
					query, args := want.page(tx, acme)
					if plan := dbtest.Explain(t, tx, engine, query, args...); !usesOnly(plan, strings.Fields(indexes)...) {
						t.Errorf("%+v: %s", q, plan)
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

// usesOnly tells whether a plan finds rows of the table by these indexes and its primary key, and never reads it through.
func usesOnly(plan string, indexes ...string) bool {
	for _, index := range indexes {
		if !strings.Contains(plan, index) {
			return false
		}
	}
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.Contains(line, "Seq Scan on suppression") || strings.HasPrefix(line, "SCAN suppression") {
			return false
		}
	}
	return true
}

func TestALongSearchIsNotCounted(t *testing.T) {
	t.Parallel()
	w := quiet()
	d := dbtest.Open(t, w, "sqlite")
	fill(t, d, w, maxCounted+5)
	s := New(w, d, Parts{})
	for search, want := range map[string]string{"person1": "1111+", "person": "none", "": fmt.Sprint(maxCounted + 5)} {
		page, err := s.list(context.Background(), acme, listQuery{Search: search, PageQuery: api.PageQuery{OffsetQuery: api.OffsetQuery{Limit: 10}}})
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if page.Total != nil {
			got = fmt.Sprint(*page.Total)
		}
		if got != strings.TrimSuffix(want, "+") && !(strings.HasSuffix(want, "+") && got > "1111") || !page.HasMore || len(page.Data) != 10 {
			t.Errorf("%q: total %s, more %v, %d rows", search, got, page.HasMore, len(page.Data))
		}
	}
}

// BenchmarkCheck asks for 500 recipients among a million suppressed addresses, every tenth of whom is one.
func BenchmarkCheck(b *testing.B) {
	w := quiet()
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			d, err := db.Open(context.Background(), w, db.Config{URL: dbtest.URL(b, engine)})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { d.Close() })
			fill(b, d, w, 1_000_000)
			if engine == "postgres" { // which looks at its tables by itself, but not so soon
				err := d.Write(context.Background(), func(tx *db.Tx) error {
					_, err := tx.Exec(`ANALYZE suppression`)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			s := New(w, d, Parts{})
			b.Run("check", func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					queries := make([]Query, 500)
					for i := range queries {
						queries[i] = Query{Workspace: acme, Address: fmt.Sprintf("stranger%d@example.net", i)}
						if i%10 == 0 {
							queries[i].Address = addressOf((n*7919 + i*1009) % 1_000_000)
						}
					}
					err := d.Read(context.Background(), func(tx *db.Tx) error {
						_, err := s.Check(tx, queries)
						return err
					})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
			for name, q := range map[string]listQuery{"newest": {}, "reason": {Reason: []string{"bounce"}}, "origin": {Origin: []string{"manual"}},
				"prefix": {Search: "person77"}, "everybody": {Search: "person"}, "domain": {Search: "host7.example"}, "email": {Email: []string{addressOf(777)}}} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if _, err := s.list(context.Background(), acme, q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
