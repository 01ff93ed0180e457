package reseal_test

import (
	"bytes"
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

func TestEveryPageIsSealedAgain(t *testing.T) {
	t.Parallel()
	w := world.New(slog.New(slog.DiscardHandler))
	dbtest.Each(t, w, func(t *testing.T, d *db.DB) {
		const files = 250
		put := func(path string, content []byte) {
			t.Helper()
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(`INSERT INTO certificate_file (path, content, size_bytes, modified_at) VALUES ($1, $2, 1, 1)`, path, content)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		before := seal.NewKeyring(oldSecret)
		for n := range files {
			path := fmt.Sprintf("%03d", n)
			put(path, before.Seal([]byte(path), path))
		}
		put("damaged", []byte("nobody opens this, whatever secret they have, for it was never sealed"))
		put("empty", []byte{})
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

		first, second := round(), round()

		if !strings.Contains(first, "values=1 sealed_again=250") || !strings.Contains(second, "values=1 sealed_again=0") {
			t.Errorf("said %q, then %q", first, second)
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
