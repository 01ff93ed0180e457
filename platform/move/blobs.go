package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"postrider/platform/blob"
)

// endOfTime is after every blob was put.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Blobs copies all blobs of one store into another, and reads each in the target to see that it is what its name says. The target may
// hold blobs of the source, from a run that was interrupted, and no others: whoever sweeps it would remove what is not his.
func Blobs(ctx context.Context, from, to blob.Store, tell Tell) (Summary, error) {
	wanted, err := listed(ctx, from)
	if err != nil {
		return Summary{}, fmt.Errorf("list the source: %w", err)
	}
	there, err := listed(ctx, to)
	if err != nil {
		return Summary{}, fmt.Errorf("list the target: %w", err)
	}
	for _, ref := range slices.Sorted(maps.Keys(there)) {
		if _, ok := wanted[ref]; !ok {
			return Summary{}, fmt.Errorf("%w: it holds the blob %s, which the source does not have. Give an empty directory or bucket", ErrForeign, ref)
		}
	}
	sum, err := copyBlobs(ctx, from, to, wanted, there, tell)
	if err != nil {
		return sum, err
	}
	done := int64(0)
	for _, ref := range slices.Sorted(maps.Keys(wanted)) {
		if err := check(ctx, to, ref, wanted[ref]); err != nil {
			return sum, fmt.Errorf("blob %s in the target: %w", ref, err)
		}
		done++
		tell("compare blobs", done, int64(len(wanted)))
	}
	return sum, nil
}

func copyBlobs(ctx context.Context, from, to blob.Store, wanted, there map[blob.Ref]int64, tell Tell) (Summary, error) {
	var sum Summary
	for _, ref := range slices.Sorted(maps.Keys(wanted)) {
		size := wanted[ref]
		if have, ok := there[ref]; !ok || have != size {
			if err := copyBlob(ctx, from, to, ref, size); err != nil {
				return sum, fmt.Errorf("copy blob %s: %w", ref, err)
			}
		}
		sum.Blobs, sum.Bytes = sum.Blobs+1, sum.Bytes+size
		tell("blobs", sum.Blobs, int64(len(wanted)))
	}
	return sum, nil
}

func copyBlob(ctx context.Context, from, to blob.Store, ref blob.Ref, size int64) error {
	content, err := from.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer content.Close()
	put, err := to.Put(ctx, content, size)
	if err == nil && put.Ref != ref {
		err = blob.ErrDamaged
	}
	if errors.Is(err, blob.ErrDamaged) {
		return fmt.Errorf("%w in the source: put it back from a backup, or remove it there to go on without what it held", blob.ErrDamaged)
	}
	return err
}

// check reads a blob to its end; the store compares it with its name.
func check(ctx context.Context, store blob.Store, ref blob.Ref, size int64) error {
	content, err := store.Open(ctx, ref)
	if err != nil {
		return err
	}
	defer content.Close()
	n, err := io.Copy(io.Discard, content)
	if err == nil && n != size {
		err = fmt.Errorf("%w: %d bytes became %d", ErrDiffers, size, n)
	}
	return err
}

func listed(ctx context.Context, store blob.Store) (map[blob.Ref]int64, error) {
	found := map[blob.Ref]int64{}
	err := store.List(ctx, endOfTime, func(info blob.Info, _ time.Time) error {
		found[info.Ref] = info.Size
		return nil
	})
	return found, err
}

// CopyBlobs adds to a store what it does not have of another, whatever else it holds, while both are in use. What is removed from
// the source meanwhile is left out: nothing refers to it any more.
func CopyBlobs(ctx context.Context, from, to blob.Store, tell Tell) (blobs, bytes int64, err error) {
	wanted, err := listed(ctx, from)
	if err != nil {
		return 0, 0, err
	}
	there, err := listed(ctx, to)
	if err != nil {
		return 0, 0, err
	}
	for _, ref := range slices.Sorted(maps.Keys(wanted)) {
		size := wanted[ref]
		if have, ok := there[ref]; ok && have == size {
			continue
		}
		err := copyBlob(ctx, from, to, ref, size)
		if errors.Is(err, blob.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("copy blob %s: %w", ref, err)
		}
		there[ref] = size
		tell("blobs", int64(len(there)), int64(len(wanted)))
	}
	for _, size := range there {
		bytes += size
	}
	return int64(len(there)), bytes, nil
}
