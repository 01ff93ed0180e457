package db_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

const (
	ours   = "00000000-0000-7000-8000-000000000001"
	theirs = "00000000-0000-7000-8000-000000000002"
)

func TestWordsAreFoundByTheirBeginningsNewestFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		texts := []string{"Hello Ann", "hello-bob", "Grüße, ÄNNE!", "日本語 mail", "100 percent"}
		textOf := map[string]string{}
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			for i, text := range texts {
				at := start.Add(time.Duration(i) * time.Microsecond)
				id := world.IDAt(at, constantReader(byte(i)))
				textOf[id] = text
				foreign := world.IDAt(at, constantReader(0xff))
				if err := tx.IndexWords("email_search", db.Document{Space: ours, ID: id, At: at, Words: db.Words(text)},
					db.Document{Space: theirs, ID: foreign, At: at, Words: db.Words(text)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		find := func(order string, from, to time.Duration, words ...string) (found []string) {
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				ids, err := db.All(tx, db.Value[string], fmt.Sprintf(`
					SELECT id FROM email_search
					WHERE {matching email_search $1 $2} AND {between email_search $3 $4}
					ORDER BY {%s email_search}`, order), ours, tx.WordQuery(ours, nil, words), start.Add(from), start.Add(to))
				for _, id := range ids {
					found = append(found, textOf[id])
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		for _, c := range []struct {
			words []string
			want  []string
		}{
			{[]string{"hel"}, []string{texts[1], texts[0]}},
			{[]string{"hello", "an"}, []string{texts[0]}},
			{[]string{"än"}, []string{texts[2]}},
			{[]string{"日"}, []string{texts[3]}},
			{[]string{"10"}, []string{texts[4]}},
			{[]string{"ello"}, nil},
			{nil, []string{texts[4], texts[3], texts[2], texts[1], texts[0]}},
		} {
			if diff := cmp.Diff(c.want, find("newest", 0, time.Second, c.words...)); diff != "" {
				t.Errorf("%q: %s", c.words, diff)
			}
			slices.Reverse(c.want)
			if diff := cmp.Diff(c.want, find("oldest", 0, time.Second, c.words...)); diff != "" {
				t.Errorf("%q, oldest first: %s", c.words, diff)
			}
		}
		whole := func(words ...string) (count int64) {
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				count, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM email_search WHERE {matching email_search $1 $2}`,
					ours, tx.WordQuery(ours, words, nil))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
		if whole("hello") != 2 || whole("hello", "bob") != 1 || whole("hell") != 0 {
			t.Errorf("whole words: %d %d %d", whole("hello"), whole("hello", "bob"), whole("hell"))
		}
		either := func(choices ...db.Choice) (count int64) {
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				count, err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM email_search WHERE {matching email_search $1 $2}`,
					ours, tx.WordQuery(ours, nil, nil, choices))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return count
		}
		bob, nothing := db.Choice{Whole: []string{"bob"}}, db.Choice{}
		if either(bob, db.Choice{Begun: []string{"1"}}) != 2 || either(nothing) != 5 || either(bob, nothing) != 5 {
			t.Errorf("choices: %d %d %d", either(bob, db.Choice{Begun: []string{"1"}}), either(nothing), either(bob, nothing))
		}
		if diff := cmp.Diff([]string{texts[2], texts[1]}, find("newest", time.Microsecond, 2*time.Microsecond)); diff != "" {
			t.Errorf("between: %s", diff)
		}
	})
}

// constantReader is chance that is none.
type constantReader byte

func (c constantReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func TestWordsAreLettersAndDigits(t *testing.T) {
	t.Parallel()
	got := db.Words(`Ann <ann.o'neil+x@EXAMPLE.net> "DROP* OR 100%_sure ② ſ`)
	want := []string{"ann", "ann", "o", "neil", "x", "example", "net", "drop", "or", "100", "sure", "ſ"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// PostgreSQL has to be told that a word it knows nothing of is rare: see postgresWords.
func TestARareWordIsLookedUpInTheIndexHoweverManyRowsThereAre(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		if !d.Shared() {
			t.Skip("SQLite has no other way than the index")
		}
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`
				INSERT INTO log_search (space, at, id, words)
				SELECT $1, n, gen_random_uuid(), CAST($2 || ' post emails user' || n AS tsvector) FROM generate_series(1, 200000) AS n`,
				ours, "0s"+strings.ReplaceAll(ours, "-", ""))
			if err != nil {
				return err
			}
			_, err = tx.Exec(`ANALYZE log_search`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			words []string
			index bool
		}{{[]string{"unheard"}, true}, {[]string{"user100000"}, true}, {[]string{"post", "user100000"}, true}, {[]string{"post", "emails"}, false}} {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				plan, err := db.All(tx, db.Value[string], `
					EXPLAIN SELECT id FROM log_search
					WHERE {matching log_search $1 $2} AND {between log_search $3 $4}
					ORDER BY {newest log_search}
					LIMIT 51`, ours, tx.WordQuery(ours, c.words, nil), time.Unix(0, 0), time.Unix(1<<32, 0))
				if text := strings.Join(plan, "\n"); strings.Contains(text, "log_search_words") != c.index {
					t.Errorf("%q is looked for by\n%s", c.words, text)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestRowsOfOneMomentAreAllFoundAndFollowEachOther(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		var want []string
		for range 2 { // the second time they are there already
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				for len(want) < 8 {
					want = append(want, world.IDAt(at, constantReader(0x11*byte(len(want)/2+1)))[:35]+fmt.Sprint(len(want)))
				}
				for _, id := range want { // each in a batch of its own
					if err := tx.IndexWords("email_search", db.Document{Space: ours, ID: id, At: at, Words: []string{"crowd"}}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for order, beyond := range map[string]string{"newest": "older", "oldest": "newer"} {
			var found []string
			for place := ""; ; {
				var page []string
				err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
					condition, args := "", []any{ours, tx.WordQuery(ours, []string{"crowd"}, nil)}
					if place != "" {
						condition, args = fmt.Sprintf("AND {%s email_search $3 $4}", beyond), append(args, at, place)
					}
					page, err = db.All(tx, db.Value[string], fmt.Sprintf(`
						SELECT id FROM email_search
						WHERE {matching email_search $1 $2} %s
						ORDER BY {%s email_search}
						LIMIT 3`, condition, order), args...)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				found, place = append(found, page...), page[len(page)-1]
			}
			slices.Sort(want)
			if slices.Sort(found); !slices.Equal(found, want) {
				t.Errorf("%s: %q, want %q", order, found, want)
			}
		}
	})
}

func TestVeryLongWordsAreFoundByTheirBeginnings(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		var found []string
		err := d.Write(t.Context(), func(tx *db.Tx) (err error) {
			id := world.IDAt(at, constantReader(1))
			if err := tx.IndexWords("email_search", db.Document{Space: ours, ID: id, At: at, Words: db.Words(strings.Repeat("語", 998))}); err != nil {
				return err
			}
			found, err = db.All(tx, db.Value[string], `
				SELECT id FROM email_search
				WHERE {matching email_search $1 $2}`, ours, tx.WordQuery(ours, nil, db.Words("語語語")))
			return err
		})
		if err != nil || len(found) != 1 {
			t.Errorf("found %d, %v", len(found), err)
		}
	})
}
