package event

import (
	"context"

	"postrider/platform/db"
)

// Rebase makes the record readable on a server that counts its transactions anew, as one does into which a dump was loaded: there,
// events from before would seem to come from the future, and followers would pass over everything until the count has caught up. All
// transaction ids, those of followers included, are moved below 1 by the same distance, so the order stays and nothing is told
// twice. It tells whether that was necessary. Nodes may call it at once.
func Rebase(ctx context.Context, d *db.DB) (moved bool, err error) {
	err = d.WriteSerializable(ctx, func(tx *db.Tx) error {
		moved = false
		newest, err := newestTransaction(tx)
		if err != nil {
			return err
		}
		// Asked after the events were seen: what is visible was written by a transaction that has a lower id.
		next, counted, err := tx.NextTransaction()
		if err != nil || !counted || newest < next {
			return err
		}
		moved = true
		if err := tx.Unhurried(); err != nil {
			return err
		}
		return shiftTransactions(tx, newest)
	})
	return moved, err
}
