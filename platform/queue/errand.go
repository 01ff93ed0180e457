package queue

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"postrider/platform/db"
)

// Errand is work whose items are done one by one outside any transaction, and again later if that fails.
type Errand struct {
	Lane Lane
	// Lease outlives a batch.
	Lease time.Duration
	Batch int
	// Retry is when an item that failed is tried again, and Tries how often it is tried at all.
	Retry time.Duration
	Tries int
	// Do may be called again for an item that was done, if the process dies before that is written down.
	Do func(ctx context.Context, item Item) error
	// Failing is what the diary says of an item that failed.
	Failing string
}

// Run does a batch of what is due, and tells whether there was anything.
func (h *Holder) Run(ctx context.Context, e Errand) (bool, error) {
	items, err := h.Claim(ctx, e.Lane, e.Lease, e.Batch)
	if err != nil {
		return false, err
	}
	for _, item := range items {
		failed := e.Do(ctx, item)
		again := failed != nil && item.Claims < e.Tries
		err := h.db.Write(ctx, func(tx *db.Tx) error {
			if again {
				_, err := Postpone(tx, item, tx.Now().Add(e.Retry))
				return err
			}
			return Finish(tx, item.ID)
		})
		if err != nil {
			return false, fmt.Errorf("settle %s: %w", e.Lane, err)
		}
		if failed != nil {
			level := slog.LevelError
			if again {
				level = slog.LevelWarn
			}
			h.world.Log.Log(ctx, level, e.Failing, "queue_item", item.ID, "tries", item.Claims, "tried_again", again, "error", failed)
		}
	}
	return len(items) > 0, nil
}
