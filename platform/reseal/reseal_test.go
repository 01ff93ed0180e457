package reseal_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/reseal"
	"postrider/platform/seal"
	"postrider/world"
)

var oldSecret, newSecret = bytes.Repeat([]byte("old!"), 8), bytes.Repeat([]byte("new!"), 8)

// put writes a file, in place of what was there.
func put(t *testing.T, d *db.DB, path string, content []byte) {
	t.Helper()
	err := d.Write(context.WithoutCancel(t.Context()), func(tx *db.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO certificate_file (path, content, size_bytes, modified_at) VALUES ($1, $2, 1, 1)
			ON CONFLICT (path) DO UPDATE SET content = excluded.content`, path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// opened returns what is in a file, for whoever has the new secret only.
func opened(t *testing.T, d *db.DB, path string) string {
	t.Helper()
	var content []byte
	err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
		content, err = db.One(tx, db.Value[[]byte], `SELECT content FROM certificate_file WHERE path = $1`, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	value, err := seal.NewKeyring(newSecret).Open(content, path)
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return string(value)
}

func TestWhatIsWrittenWhileAPageIsSealedAgainStays(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		keys := seal.NewKeyring(newSecret, oldSecret)
		put(t, d, "a", seal.NewKeyring(oldSecret).Seal([]byte("before"), "a"))
		column := reseal.Column{Table: "certificate_file", Name: "content", Key: []string{"path"}, Context: func(key ...string) string {
			put(t, d, key[0], keys.Seal([]byte("after"), key[0])) // the row has been read, and not been written yet
			return key[0]
		}}

		if _, err := reseal.New(d, keys, slog.New(slog.DiscardHandler), []reseal.Column{column}).Step(t.Context()); err != nil {
			t.Fatal(err)
		}

		if got := opened(t, d, "a"); got != "after" {
			t.Errorf("holds %q", got)
		}
	})
}

func TestAPageThatCouldNotBeWrittenIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		put(t, d, "a", seal.NewKeyring(oldSecret).Seal([]byte("content"), "a"))
		put(t, d, "damaged", []byte("short"))
		interrupted, interrupt := context.WithCancel(t.Context())
		column := reseal.Column{Table: "certificate_file", Name: "content", Key: []string{"path"}, Context: func(key ...string) string {
			interrupt()
			return key[0]
		}}
		var said bytes.Buffer
		again := reseal.New(d, seal.NewKeyring(newSecret, oldSecret), slog.New(slog.NewTextHandler(&said, nil)), []reseal.Column{column})

		if _, err := again.Step(interrupted); err == nil {
			t.Fatal("nobody heard of the interruption")
		}
		for busy := true; busy; {
			var err error
			if busy, err = again.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		if got := opened(t, d, "a"); got != "content" || !strings.Contains(said.String(), "values=1 sealed_again=1") {
			t.Errorf("holds %q; said %q", got, said.String())
		}
	})
}

func TestEveryPageIsSealedAgain(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.DiscardHandler))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		const files = 250
		before := seal.NewKeyring(oldSecret)
		for n := range files {
			path := fmt.Sprintf("%03d", n)
			put(t, d, path, before.Seal([]byte(path), path))
		}
		put(t, d, "damaged", []byte("nobody opens this, whatever secret they have, for it was never sealed"))
		put(t, d, "empty", []byte{})
		column := reseal.Column{Table: "certificate_file", Name: "content", Key: []string{"path"}, Context: func(key ...string) string { return key[0] }}
		var said bytes.Buffer
		again := reseal.New(d, seal.NewKeyring(newSecret, oldSecret), slog.New(slog.NewTextHandler(&said, nil)), []reseal.Column{column})
		round := func() string {
			t.Helper()
			said.Reset()
			for busy := true; busy; {
				var err error
				if busy, err = again.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			return said.String()
		}

		first := round()
		put(t, d, "000", before.Seal([]byte("000"), "000")) // by a node that has not been told of the current secret yet
		second, third := round(), round()

		if !strings.Contains(first, "values=1 sealed_again=250") || !strings.Contains(second, "values=1 sealed_again=1") || !strings.Contains(third, "values=1 sealed_again=0") {
			t.Errorf("said %q, then %q, then %q", first, second, third)
		}
		type file struct {
			path    string
			content []byte
		}
		var found []file
		err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
			found, err = db.All(tx, func(s db.Scanner) (f file, err error) { return f, s.Scan(&f.path, &f.content) },
				`SELECT path, content FROM certificate_file WHERE path < 'a'`)
			return err
		})
		if err != nil || len(found) != files {
			t.Fatalf("%d files, %v", len(found), err)
		}
		after := seal.NewKeyring(newSecret)
		for _, f := range found {
			if value, err := after.Open(f.content, f.path); err != nil || string(value) != f.path {
				t.Fatalf("%s: %q %v", f.path, value, err)
			}
		}
	})
}
