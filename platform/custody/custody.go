// Package custody keeps a copy of a database from doing what the original still does.
//
// Who sweeps a blob store removes what his database does not refer to. A copy of the database, be it restored, loaded from a dump or
// copied as a file, would remove what came to the original since. So the sweeper leaves a new sign in the store at every look and keeps it
// in its database: a sign that the database does not know was left by somebody else. Then neither removes anything until somebody says
// whose the store is (see Claim), because nobody can tell which of the two is the copy.
//
// A copy that knows what it is says so itself: it is set aside, and no server works on it.
//
//	Owns     blob_claim; set_aside, for as long as a database is
package custody

import (
	"context"
	"errors"
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/world"
)

// ErrContested means that another database has signed the store.
var ErrContested = errors.New("another database has signed the blob store")

const (
	// contested is a sign that no database knows: who finds a sign that is not his own leaves it for the other.
	contested = "contested: see postrider adopt"
	// keepSigns is how long a database remembers its signs. A store that was not looked at for longer counts as somebody else's.
	keepSigns = 400 * 24 * time.Hour
)

// Contested tells whether a store was signed by another database. One without a sign is anybody's.
func Contested(ctx context.Context, d *db.DB, store blob.Store) (bool, error) {
	_, known, err := read(ctx, d, store)
	return !known, err
}

// Claim makes a store the database's own, whoever has signed it. Nodes of one installation may do so at once: each finds a sign that the
// database knows.
func Claim(ctx context.Context, w world.World, d *db.DB, store blob.Store) error {
	sign := w.NewID()
	// In this order, so that whoever reads the sign finds it in the database.
	err := d.Write(ctx, func(tx *db.Tx) error {
		if err := insertSign(tx, sign); err != nil {
			return err
		}
		return deleteSigns(tx, tx.Now().Add(-keepSigns))
	})
	if err != nil {
		return err
	}
	return store.SetSign(ctx, sign)
}

// read returns the sign in a store, and whether it is one of the database's own. The store is read first: its sign may change meanwhile,
// and the database knows the new one and the old one.
func read(ctx context.Context, d *db.DB, store blob.Store) (sign string, known bool, err error) {
	sign, err = store.Sign(ctx)
	if err != nil || sign == "" {
		return "", true, err
	}
	err = d.Glance(ctx, func(tx *db.Tx) (err error) {
		known, err = signKnown(tx, sign)
		return err
	})
	return sign, known, err
}
