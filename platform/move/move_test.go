package move_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/event"
	"postrider/platform/move"
	"postrider/platform/queue"
	"postrider/world"
)

const workspace = "0190a000-0000-7000-8000-000000000001"

func testWorld() world.World { return world.New(slog.New(slog.NewTextHandler(io.Discard, nil))) }

func id(n int) string { return fmt.Sprintf("0190a000-0000-7000-8000-%012d", n) }

func open(t *testing.T, url string, mover bool) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: url, Mover: mover})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// events is more than a page holds; handled is what the follower had seen before the move.
const events, handled = 1_234, 700

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// fill writes rows of every type of column there is.
func fill(t *testing.T, d *db.DB) {
	t.Helper()
	write := func(fn func(tx *db.Tx) error) {
		t.Helper()
		if err := d.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	for first := 0; first < events; first += 100 {
		write(func(tx *db.Tx) error {
			var all []event.Event
			var docs []db.Document
			for n := first; n < min(first+100, events); n++ {
				all = append(all, event.Event{ID: id(n), Workspace: workspace, Type: "test.happened", Subject: id(n), OccurredAt: noon})
				docs = append(docs, db.Document{Space: workspace, ID: id(n), At: noon.Add(time.Duration(first) * time.Millisecond), Words: []string{"größe", fmt.Sprintf("word%d", n), "common", "common"}})
			}
			return errors.Join(event.Append(tx, all...), tx.IndexWords("email_search", docs...))
		})
	}
	write(func(tx *db.Tx) error {
		values := []any{}
		for n := range 3 {
			values = append(values, id(n), workspace, fmt.Sprintf("p%d@example.net", n), "example.net", "ok", n == 1, noon, noon)
		}
		_, err := tx.InsertRows(`INSERT INTO contact (id, workspace_id, address, host, status, unsubscribed, created_at, updated_at)`, 8, values, ``)
		return err
	})
	write(func(tx *db.Tx) error { // its number must not be given out again
		_, err := tx.Exec(`DELETE FROM contact WHERE id = $1`, id(2))
		return err
	})
	write(func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO contact_value (contact, property, text, amount, updated_at) VALUES (1, 1, $1, $2, 5), (1, 2, NULL, 7, 5)`, "naïve", 0.1); err != nil {
			return err
		}
		_, err := tx.Exec(`INSERT INTO account_attempt (address_hash, failures, since) VALUES ($1, 3, 5)`, []byte{0, 255, 1})
		return err
	})
	write(func(tx *db.Tx) error {
		return queue.Add(tx, queue.Item{ID: id(1), Lane: "mail", Due: noon, Payload: "{}"})
	})
	write(func(tx *db.Tx) error {
		_, err := queue.Claim(tx, "mail", queue.Lease{Owner: "old node", For: time.Hour, Token: 7}, 1)
		return err
	})
	seen := 0
	follow(t, d, func(string) bool { seen++; return seen < handled })
}

// follow reads events, one step after the other, until more says no or there are none.
func follow(t *testing.T, d *db.DB, more func(id string) bool) {
	t.Helper()
	enough := errors.New("enough")
	f := event.Follower{Name: "test", Handle: func(tx *db.Tx, batch []event.Event) error {
		for i, e := range batch {
			if !more(e.ID) {
				if i < len(batch)-1 {
					return enough
				}
			}
		}
		return nil
	}}
	for {
		busy, err := f.Step(t.Context(), d)
		if errors.Is(err, enough) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !busy {
			return
		}
	}
}

func silent(string, int64, int64) {}

func one[T any](t *testing.T, d *db.DB, query string, args ...any) (v T) {
	t.Helper()
	if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		v, err = db.One(tx, db.Value[T], query, args...)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestEverythingMovesToTheOtherEngineAndBack(t *testing.T) {
	t.Parallel()
	for _, route := range [][]string{{"sqlite", "postgres", "sqlite"}, {"postgres", "sqlite", "postgres"}, {"postgres", "postgres"}} {
		t.Run(strings.Join(route, " to "), func(t *testing.T) {
			t.Parallel()
			from := open(t, dbtest.URL(t, route[0]), true)
			fill(t, from)
			position := 500 // whole batches were handled before the follower failed
			for _, engine := range route[1:] {
				to := open(t, dbtest.URL(t, engine), true)
				sum, err := move.Database(t.Context(), from, to, "here", silent)
				if err != nil {
					t.Fatal(err)
				}
				if sum.Rows < 2*events || sum.Tables < 50 {
					t.Errorf("moved %+v", sum)
				}
				checkMoved(t, to)
				from = to
			}
			if err := from.Write(t.Context(), func(tx *db.Tx) error {
				return event.Append(tx, event.Event{ID: id(events), Workspace: workspace, Type: "test.happened", Subject: id(events), OccurredAt: noon})
			}); err != nil {
				t.Fatal(err)
			}
			var rest, want []string
			follow(t, from, func(id string) bool { rest = append(rest, id); return true })
			for n := position; n <= events; n++ {
				want = append(want, id(n))
			}
			if !slices.Equal(rest, want) {
				t.Errorf("the follower saw %d events after the move, want %d: each once, in order", len(rest), len(want))
			}
		})
	}
}

func checkMoved(t *testing.T, d *db.DB) {
	t.Helper()
	if free := one[int64](t, d, `SELECT COUNT(*) FROM queue_item WHERE lease_owner IS NULL AND claims = 1`); free != 1 {
		t.Error("the lease of the old node was kept")
	}
	if text := one[string](t, d, `SELECT text FROM contact_value WHERE amount = 0.1`); text != "naïve" {
		t.Errorf("value %q", text)
	}
	if left := one[int64](t, d, `SELECT COUNT(*) FROM contact WHERE unsubscribed = TRUE AND id = $1`, id(1)); left != 1 {
		t.Error("a truth value changed")
	}
	if hash := one[[]byte](t, d, `SELECT address_hash FROM account_attempt`); string(hash) != "\x00\xff\x01" {
		t.Errorf("bytes %x", hash)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		found, err := db.All(tx, db.Value[string], `SELECT email_search.id FROM email_search WHERE {matching email_search $1 $2}`,
			workspace, tx.WordQuery(workspace, []string{"word77", "größe"}, nil))
		if err != nil || len(found) != 1 || found[0] != id(77) {
			t.Errorf("by words: %v, %v", found, err)
		}
		number, err := db.One(tx, db.Value[int64], `
			INSERT INTO contact (id, workspace_id, address, host, status, unsubscribed, created_at, updated_at)
			VALUES ($1, $2, 'new@example.net', 'example.net', 'ok', FALSE, 5, 5) RETURNING number`, id(9), workspace)
		if number < 4 { // a number that PostgreSQL gave to an insert that was undone is gone
			t.Errorf("the next contact has the number %d, which was given out before", number)
		}
		return errors.Join(err, errUndone)
	}); !errors.Is(err, errUndone) {
		t.Fatal(err)
	}
	if half, err := move.Unfinished(t.Context(), d); half || err != nil {
		t.Errorf("unfinished = %v, %v", half, err)
	}
}

var errUndone = errors.New("undone")

// PostgreSQL leaves out the numbers of transactions that were undone, so that there are fewer events than the highest number says.
func TestAnEndpointHearsOfWhatHappensAfterAMove(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			from, to := open(t, dbtest.URL(t, "postgres"), true), open(t, dbtest.URL(t, engine), true)
			happen := func(d *db.DB, n int, outcome error) {
				t.Helper()
				if err := d.Write(t.Context(), func(tx *db.Tx) error {
					return errors.Join(event.Append(tx, event.Event{ID: id(n), Workspace: workspace, Type: "test.happened", Subject: id(n), OccurredAt: noon}), outcome)
				}); !errors.Is(err, outcome) {
					t.Fatal(err)
				}
			}
			for range 5 {
				happen(from, 1, errUndone)
			}
			happen(from, 1, nil)
			if err := from.Write(t.Context(), func(tx *db.Tx) error {
				newest, err := event.Newest(tx)
				if err != nil {
					return err
				}
				_, err = tx.Exec(`
					INSERT INTO webhook (id, workspace_id, url, events, domain_ids, tenant_ids, include_body, custom_headers, secret, secret_prefix, status,
						created_at, updated_at, since_event)
					VALUES ($1, $2, 'https://app.example.com/', '["*"]', '[]', '[]', FALSE, $3, $3, '', 'enabled', $4, $4, $5)`,
					id(1), workspace, []byte("sealed"), noon, newest)
				return err
			}); err != nil {
				t.Fatal(err)
			}

			if _, err := move.Database(t.Context(), from, to, "here", silent); err != nil {
				t.Fatal(err)
			}

			happen(to, 2, nil)
			if deaf := one[int64](t, to, `SELECT COUNT(*) FROM webhook WHERE since_event >= (SELECT MAX(seq) FROM event)`); deaf != 0 {
				t.Error("it does not hear of an event that came later")
			}
		})
	}
}

func TestAMoveThatWasInterruptedGoesOnAndNobodyStartsOnHalfOfIt(t *testing.T) {
	t.Parallel()
	from, to := open(t, dbtest.URL(t, "sqlite"), true), open(t, dbtest.URL(t, "postgres"), true)
	fill(t, from)
	for _, stop := range []string{"email_search", "event", "compare event"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := move.Database(ctx, from, to, "here", func(what string, done, _ int64) {
			if what == stop && done > 0 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %s: %v", stop, err)
		}
		if half, err := move.Unfinished(t.Context(), to); !half || err != nil {
			t.Fatalf("unfinished = %v, %v", half, err)
		}
	}
	if _, err := move.Database(t.Context(), from, to, "elsewhere", silent); !errors.Is(err, move.ErrForeign) {
		t.Errorf("from another source: %v", err)
	}
	if _, err := move.Database(t.Context(), from, to, "here", silent); err != nil {
		t.Fatal(err)
	}
	checkMoved(t, to)
}

func TestHalfOfAnInstallationIsNotMovedOn(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			whole, half, next := open(t, dbtest.URL(t, "sqlite"), true), open(t, dbtest.URL(t, engine), true), open(t, dbtest.URL(t, "sqlite"), true)
			fill(t, whole)
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := move.Database(ctx, whole, half, "here", func(what string, _, _ int64) {
				if what == "event" {
					cancel()
				}
			}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}

			_, err := move.Database(t.Context(), half, next, "half", silent)

			if !errors.Is(err, move.ErrHalf) {
				t.Fatalf("err = %v", err)
			}
			if begun, err := move.Unfinished(t.Context(), next); begun || err != nil {
				t.Errorf("the target was marked: %v, %v", begun, err)
			}
		})
	}
}

func TestATargetWithDataOfItsOwnIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, testWorld(), func(t *testing.T, to *db.DB) {
		from := open(t, dbtest.URL(t, "sqlite"), true)
		if err := to.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO domain_total (workspace_id) VALUES ($1)`, workspace)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		_, err := move.Database(t.Context(), from, to, "here", silent)
		if !errors.Is(err, move.ErrForeign) && !errors.Is(err, move.ErrInUse) {
			t.Fatalf("err = %v", err)
		}
		if half, _ := move.Unfinished(t.Context(), to); half {
			t.Error("the target was marked")
		}
	})
}

func TestADatabaseOfSomebodyElseIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	from, to := open(t, dbtest.URL(t, "sqlite"), true), open(t, filepath.Join(t.TempDir(), "theirs.db"), true)
	if err := to.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`CREATE TABLE accounting (id BIGINT PRIMARY KEY)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := move.Database(t.Context(), from, to, "here", silent); !errors.Is(err, move.ErrForeign) || !strings.Contains(err.Error(), "accounting") {
		t.Errorf("err = %v", err)
	}
	var tables []db.Table
	if err := to.Read(t.Context(), func(tx *db.Tx) (err error) { tables, err = tx.Tables(); return err }); err != nil || len(tables) != 1 {
		t.Errorf("it has %d tables now, %v", len(tables), err)
	}
}

func TestNothingMovesWhileAServerIsConnected(t *testing.T) {
	t.Parallel()
	embedded, url := open(t, dbtest.URL(t, "sqlite"), true), dbtest.URL(t, "postgres")
	shared, server := open(t, url, true), open(t, url, false)
	if _, err := move.Database(t.Context(), embedded, shared, "here", silent); !errors.Is(err, move.ErrInUse) {
		t.Errorf("into it: %v", err)
	}
	if _, err := move.Database(t.Context(), shared, embedded, "here", silent); !errors.Is(err, move.ErrInUse) {
		t.Errorf("out of it: %v", err)
	}
	server.Close()
}

func TestAServerThatComesDuringTheMoveIsNoticed(t *testing.T) {
	t.Parallel()
	from, url := open(t, dbtest.URL(t, "sqlite"), true), dbtest.URL(t, "postgres")
	to := open(t, url, true)
	fill(t, from)
	_, err := move.Database(t.Context(), from, to, "here", func(what string, done, total int64) {
		if what == "compare event" && done == total {
			open(t, url, false)
		}
	})
	if !errors.Is(err, move.ErrInUse) {
		t.Fatalf("err = %v", err)
	}
	if half, err := move.Unfinished(t.Context(), to); !half || err != nil {
		t.Errorf("unfinished = %v, %v", half, err)
	}
}

func TestASourceThatChangedDuringTheMoveIsNoticed(t *testing.T) {
	t.Parallel()
	for change, table := range map[string]string{
		`UPDATE contact SET address = 'changed@example.net' WHERE number = 1`: "contact",
		`UPDATE contact_value SET text = '' WHERE text IS NULL`:               "contact_value",
		`UPDATE contact SET address = address || 'e', host = 'xample.net'`:    "contact",
		`DELETE FROM account_attempt`:                                         "account_attempt",
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			from, to := open(t, dbtest.URL(t, "sqlite"), true), open(t, dbtest.URL(t, "postgres"), true)
			fill(t, from)
			_, err := move.Database(t.Context(), from, to, "here", func(what string, _, _ int64) {
				if what == "event_follower" {
					if err := from.Write(t.Context(), func(tx *db.Tx) error {
						_, err := tx.Exec(change)
						return err
					}); err != nil {
						t.Error(err)
					}
				}
			})
			if !errors.Is(err, move.ErrDiffers) || !strings.Contains(err.Error(), "compare "+table+":") {
				t.Fatalf("err = %v", err)
			}
		})
	}
}
