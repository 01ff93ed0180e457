package db_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/world"
)

// Strangers choose words: some look like the one by which the index knows whose a row is.
func TestNoWordOfATextDecidesWhoseARowIs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		words := []string{"0s00000000000070008000000000000002", "0sabcdefghijklmnopqrstuvwxyzabcdef", "hello"}
		id := world.IDAt(at, constantReader(1))
		table := db.Table{Name: "email_search"}
		for range 2 { // as it was written, and as it was restored
			var docs []db.Document
			write(t, d, func(tx *db.Tx) (err error) {
				if err := tx.IndexWords("email_search", db.Document{Space: ours, ID: id, At: at, Words: words}); err != nil {
					return err
				}
				if docs, _, err = tx.ReadWords(table, nil, 10); err != nil {
					return err
				}
				if err := tx.UnindexWords("email_search", docs...); err != nil {
					return err
				}
				return tx.RestoreWords("email_search", docs...)
			})
			if len(docs) != 1 || docs[0].Space != ours || docs[0].ID != id || !docs[0].At.Equal(at) || !slices.Equal(docs[0].Words, words) {
				t.Errorf("%+v", docs)
			}
		}
	})
}

func TestOnlyTheNamedRowsAreForgotten(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		doc := func(n byte, at time.Time) db.Document {
			return db.Document{Space: ours, ID: world.IDAt(at, constantReader(n)), At: at, Words: []string{"hello"}}
		}
		gone, beside, later := doc(1, at), doc(2, at), doc(1, at.Add(time.Microsecond))
		var left []db.Document
		write(t, d, func(tx *db.Tx) (err error) {
			if err := tx.IndexWords("email_search", gone, beside, later); err != nil {
				return err
			}
			if err := tx.UnindexWords("email_search", gone); err != nil {
				return err
			}
			left, _, err = tx.ReadWords(db.Table{Name: "email_search"}, nil, 10)
			return err
		})
		if len(left) != 2 || left[0].ID != beside.ID || left[1].ID != later.ID {
			t.Errorf("%+v", left)
		}
	})
}

// Whoever moves them to another engine, where the moment is part of a row's name, must be able to forget them there.
func TestRowsThatCrowdIntoTheNextMomentKeepTheirOwn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		var crowd, read []db.Document
		for n := range 3 { // all of them would have the last number of the moment
			crowd = append(crowd, db.Document{Space: ours, ID: world.IDAt(at, constantReader(255))[:35] + string('0'+rune(n)), At: at, Words: []string{"crowd"}})
		}
		write(t, d, func(tx *db.Tx) (err error) {
			if err := tx.IndexWords("email_search", crowd...); err != nil {
				return err
			}
			read, _, err = tx.ReadWords(db.Table{Name: "email_search"}, nil, 10)
			return err
		})
		for _, doc := range read {
			if !doc.At.Equal(at) {
				t.Errorf("%s is of %s, want %s", doc.ID, doc.At, at)
			}
		}
		if len(read) != len(crowd) {
			t.Errorf("%+v", read)
		}
	})
}

func TestRowsOfOneMomentAreRestoredInSeveralCallsAndReadPageByPage(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, world.New(slog.New(slog.DiscardHandler)), func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
		var want, found []string
		for n := range 3 { // the bits that tell them apart in the index are the same
			want = append(want, world.IDAt(at, constantReader(1))[:35]+string('0'+rune(n)))
		}
		write(t, d, func(tx *db.Tx) error {
			found = nil
			for _, id := range want {
				if err := tx.RestoreWords("email_search", db.Document{Space: ours, ID: id, At: at, Words: []string{"crowd"}}); err != nil {
					return err
				}
			}
			for place := []any(nil); len(found) <= len(want); {
				page, next, err := tx.ReadWords(db.Table{Name: "email_search"}, place, 1)
				if err != nil || len(page) == 0 {
					return err
				}
				found, place = append(found, page[0].ID), next
			}
			return nil
		})
		if !slices.Equal(found, want) {
			t.Errorf("%q, want %q", found, want)
		}
	})
}
