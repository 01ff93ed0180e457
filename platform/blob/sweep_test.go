package blob_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"postrider/platform/blob"
)

func TestSweepRemovesWhatIsOldAndUnreferenced(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, c *clock) {
		used, orphan := put(t, store, "used"), put(t, store, "orphan")
		c.move(48 * time.Hour)
		young := put(t, store, "young")
		asked := map[blob.Ref]bool{}

		removed, err := blob.Sweep(t.Context(), store, noon.Add(24*time.Hour), func(_ context.Context, refs []blob.Ref) (map[blob.Ref]bool, error) {
			for _, ref := range refs {
				asked[ref] = true
			}
			return map[blob.Ref]bool{used: true}, nil
		})

		if removed != 1 || err != nil {
			t.Errorf("removed %d, %v; want 1", removed, err)
		}
		if len(asked) != 2 || asked[young] {
			t.Errorf("asked about %v", asked)
		}
		if _, err := read(t, store, orphan); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("orphan: err = %v, want ErrNotFound", err)
		}
		for _, ref := range []blob.Ref{used, young} {
			if _, err := read(t, store, ref); err != nil {
				t.Errorf("%s: %v", ref, err)
			}
		}
	})
}

func TestSweepSparesWhatIsPutAgainWhileItAsks(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, c *clock) {
		ref := put(t, store, "orphan")
		c.move(48 * time.Hour)

		removed, err := blob.Sweep(t.Context(), store, noon.Add(24*time.Hour), func(context.Context, []blob.Ref) (map[blob.Ref]bool, error) {
			put(t, store, "orphan") // a send with the same attachment, not committed yet
			return nil, nil
		})

		if removed != 0 || err != nil {
			t.Errorf("removed %d, %v", removed, err)
		}
		if content, err := read(t, store, ref); content != "orphan" {
			t.Errorf("holds %q, %v", content, err)
		}
	})
}

func TestSweepThatCannotAskRemovesNothing(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		put(t, store, "orphan")
		down := errors.New("database down")

		removed, err := blob.Sweep(t.Context(), store, noon.Add(time.Hour), func(context.Context, []blob.Ref) (map[blob.Ref]bool, error) {
			return nil, down
		})

		if removed != 0 || !errors.Is(err, down) {
			t.Errorf("removed %d, err = %v", removed, err)
		}
		if kept := list(t, store, noon.Add(time.Hour)); len(kept) != 1 {
			t.Errorf("kept %v", kept)
		}
	})
}

func TestSweepAsksInBatches(t *testing.T) {
	t.Parallel()
	c := &clock{now: noon}
	store := newFiles(t, t.TempDir(), c)
	for i := range 501 {
		put(t, store, fmt.Sprint(i))
	}
	var batches []int

	removed, err := blob.Sweep(t.Context(), store, noon.Add(time.Hour), func(_ context.Context, refs []blob.Ref) (map[blob.Ref]bool, error) {
		batches = append(batches, len(refs))
		return nil, nil
	})

	if removed != 501 || err != nil || fmt.Sprint(batches) != "[500 1]" {
		t.Fatalf("removed %d in %v, %v", removed, batches, err)
	}
}
