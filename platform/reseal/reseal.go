// Package reseal seals again, with the current master secret, what was stored under a previous one, so that this can be thrown away.
// It also tells a server that its secret is not the one of the database.
//
//	Owns     reseal_witness
package reseal

import (
	"context"
	"log/slog"

	"postrider/platform/db"
	"postrider/platform/seal"
)

// pageRows is how many rows are looked at, and at most written, at a time.
const pageRows = 100

// Resealer goes through everything that is stored sealed, column by column.
type Resealer struct {
	db      *db.DB
	keys    *seal.Keyring
	log     *slog.Logger
	columns []Column

	column      int      // the one that is looked through
	after       []string // the key of the last row of it that was
	moved, lost int64    // in this round
	told        bool
}

// New returns a resealer that begins with the first column.
func New(d *db.DB, keys *seal.Keyring, log *slog.Logger, columns []Column) *Resealer {
	return &Resealer{db: d, keys: keys, log: log, columns: columns}
}

// Step looks at one page. After the last one it tells how the round went and begins anew: a node that has not been told of the current
// secret yet may go on sealing with the previous one.
func (r *Resealer) Step(ctx context.Context) (busy bool, err error) {
	if r.column == len(r.columns) {
		r.tell()
		r.column, r.moved, r.lost = 0, 0, 0
		return false, nil
	}
	column := r.columns[r.column]
	var rows []row
	err = r.db.Read(ctx, func(tx *db.Tx) (err error) {
		rows, err = column.page(tx, r.after)
		return err
	})
	if err != nil {
		return false, err
	}
	if err := r.move(ctx, column, rows); err != nil {
		return false, err
	}
	if r.after = nil; len(rows) == pageRows {
		r.after = rows[len(rows)-1].key
	} else {
		r.column++
	}
	return true, nil
}

// move seals again what needs it.
func (r *Resealer) move(ctx context.Context, column Column, rows []row) error {
	var stale []row
	var moved, lost int64
	for _, row := range rows {
		if len(row.sealed) == 0 || !r.keys.Stale(row.sealed) {
			continue
		}
		context := column.Context(row.key...)
		value, err := r.keys.Open(row.sealed, context)
		if err != nil {
			lost++
			continue
		}
		row.fresh = r.keys.Seal(value, context)
		stale = append(stale, row)
	}
	if len(stale) == 0 {
		r.lost += lost
		return nil
	}
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		moved = 0
		for _, row := range stale {
			n, err := column.replace(tx, row)
			if err != nil {
				return err
			}
			moved += n
		}
		return nil
	})
	if err != nil {
		return err // the page will be looked at again
	}
	r.moved, r.lost = r.moved+moved, r.lost+lost
	return nil
}

// tell says how a round went. Operators wait for it, and need not hear again that nothing was left to do.
func (r *Resealer) tell() {
	switch {
	case r.lost > 0:
		r.log.Warn("no secret opens some of what is stored; name all that were ever in use as previous ones", "values", r.lost, "sealed_again", r.moved)
	case r.moved > 0 || !r.told:
		r.log.Warn("everything stored is sealed with the current secret; only links in mail that was sent before need a previous one",
			"sealed_again", r.moved)
	}
	r.told = true
}
