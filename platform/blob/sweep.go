package blob

import (
	"context"
	"fmt"
	"time"
)

// sweepBatch is how many blobs are asked about at once: few questions to the database, none of them large.
const sweepBatch = 500

// Sweep removes the blobs that were last put before olderThan and that nobody refers to. The age must be longer than the
// longest time between putting a blob and committing the row that refers to it. referenced returns those of the given
// names that are in use; if it fails, the sweep ends and the blobs in question stay.
func Sweep(
	ctx context.Context,
	store Store,
	olderThan time.Time,
	referenced func(context.Context, []Ref) (map[Ref]bool, error),
) (removed int, err error) {
	var batch []Ref
	flush := func() error {
		used, err := referenced(ctx, batch)
		if err != nil {
			return fmt.Errorf("ask for references: %w", err)
		}
		for _, ref := range batch {
			if used[ref] {
				continue
			}
			// Somebody may have put the same content again since we asked, and be about to refer to it.
			gone, err := store.DeleteUntouched(ctx, ref, olderThan)
			if err != nil {
				return err
			}
			if gone {
				removed++
			}
		}
		batch = batch[:0]
		return nil
	}
	err = store.List(ctx, olderThan, func(info Info, _ time.Time) error {
		batch = append(batch, info.Ref)
		if len(batch) < sweepBatch {
			return nil
		}
		return flush()
	})
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	if err != nil {
		return removed, fmt.Errorf("sweep blobs: %w", err)
	}
	return removed, nil
}
