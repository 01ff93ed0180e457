package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

// Noise in a page is found by whoever looks for it, and by whoever needs the page; it is never taken for data.
func TestNoiseInAPageIsFoundAndNeverTakenForData(t *testing.T) {
	t.Parallel()
	path := dbtest.URL(t, "sqlite")
	open := func() *db.DB {
		d, err := db.Open(t.Context(), testWorld(), db.Config{URL: path})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := open()
	write(t, d, func(tx *db.Tx) error {
		if _, err := tx.Exec(`CREATE TABLE thing (id {id} PRIMARY KEY, name TEXT, size BIGINT)`); err != nil {
			return err
		}
		for n := range 2000 {
			if err := addThing(tx, n, fmt.Sprintf("thing number %d", n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := d.Check(t.Context()); err != nil {
		t.Fatalf("a healthy database: %v", err)
	}
	d.Close()
	scribbleFrom(t, path, "thing number 1000")
	d = open()
	defer d.Close()
	if err := d.Check(t.Context()); !errors.Is(err, db.ErrDamaged) {
		t.Errorf("looking for it: %v", err)
	}
	read := 0
	for n := range 2000 {
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			name, err := db.One(tx, db.Value[string], `SELECT name FROM thing WHERE id = $1`, id(n))
			if err == nil && name != fmt.Sprintf("thing number %d", n) {
				t.Errorf("number %d is %q", n, name)
			}
			return err
		})
		switch {
		case err == nil:
			read++
		case !errors.Is(err, db.ErrDamaged) || !errors.Is(err, db.ErrUnavailable):
			t.Fatalf("number %d: %v", n, err)
		}
	}
	if read == 0 || read == 2000 {
		t.Errorf("%d of 2000 can still be read", read)
	}
}

// scribbleFrom overwrites the page in which a text stands.
func scribbleFrom(t *testing.T, path, text string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	at := bytes.Index(raw, []byte(text)) / page * page
	if at <= 0 {
		t.Fatalf("%q is not in the file", text)
	}
	for i := range page {
		raw[at+i] = byte(i*7919>>3 ^ i*31)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
