package blob_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"postrider/platform/blob"
)

func TestContentComesBackUnderItsHash(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		for _, content := range []string{"", "a", "\x00\r\n.\r\n", strings.Repeat("0123456789abcdef", 200_000)} {
			ref := put(t, store, content)
			got, err := read(t, store, ref)

			sum := sha256.Sum256([]byte(content))
			if string(ref) != hex.EncodeToString(sum[:]) {
				t.Errorf("%d bytes named %s", len(content), ref)
			}
			if err != nil || got != content {
				t.Errorf("%d bytes came back as %d, %v", len(content), len(got), err)
			}
		}
	})
}

func TestAStoreThatDoesNotHaveABlobSaysSo(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		put(t, store, "present")
		for _, ref := range []blob.Ref{"", "..", "../../../../etc/passwd", blob.Ref(strings.Repeat("a", 64)), blob.Ref(strings.Repeat("A", 64)), blob.Ref(strings.Repeat("/", 64))} {
			if _, err := store.Open(t.Context(), ref); !errors.Is(err, blob.ErrNotFound) {
				t.Errorf("open %q: err = %v, want ErrNotFound", ref, err)
			}
			if err := store.Delete(t.Context(), ref); err != nil {
				t.Errorf("delete %q: %v", ref, err)
			}
			if gone, err := store.DeleteUntouched(t.Context(), ref, noon.Add(time.Hour)); gone || err != nil {
				t.Errorf("delete untouched %q: %v, %v", ref, gone, err)
			}
		}
	})
}

func TestContentOverTheLimitIsRefusedAndNotKept(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		_, over := store.Put(t.Context(), strings.NewReader("123456"), 5)
		_, endless := store.Put(t.Context(), neverEnding{}, 3<<20)

		if !errors.Is(over, blob.ErrTooLarge) || !errors.Is(endless, blob.ErrTooLarge) {
			t.Errorf("one byte over: %v; endless: %v; want ErrTooLarge", over, endless)
		}
		if kept := list(t, store, noon.Add(time.Hour)); len(kept) != 0 {
			t.Errorf("kept %v", kept)
		}
	})
}

func TestAReaderThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		broken := errors.New("connection reset")

		_, err := store.Put(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), 100)

		if !errors.Is(err, broken) {
			t.Errorf("err = %v, want %v", err, broken)
		}
		if kept := list(t, store, noon.Add(time.Hour)); len(kept) != 0 {
			t.Errorf("kept %v", kept)
		}
	})
}

func TestACancelledPutStops(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		ctx, cancel := context.WithCancel(t.Context())
		reader := io.MultiReader(strings.NewReader("half"), readerFunc(func([]byte) (int, error) {
			cancel()
			return 0, nil
		}))

		_, err := store.Put(ctx, reader, 100)

		if !errors.Is(err, context.Canceled) {
			t.Fatalf("err = %v, want context.Canceled", err)
		}
	})
}

func TestEqualContentIsKeptOnceEvenWhenPutAtOnce(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := store.Put(t.Context(), strings.NewReader("same"), 4); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()

		if kept := list(t, store, noon.Add(time.Hour)); len(kept) != 1 {
			t.Fatalf("kept %v", kept)
		}
	})
}

func TestADeletedBlobIsGone(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		ref, other := put(t, store, "one"), put(t, store, "other")

		if err := store.Delete(t.Context(), ref); err != nil {
			t.Fatal(err)
		}

		if _, err := read(t, store, ref); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("err = %v, want ErrNotFound", err)
		}
		if content, err := read(t, store, other); content != "other" {
			t.Errorf("the other blob holds %q, %v", content, err)
		}
	})
}

func TestListShowsWhatIsOlder(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, c *clock) {
		old := put(t, store, "old")
		c.move(time.Hour)
		put(t, store, "young")

		got := list(t, store, noon.Add(time.Hour))

		want := map[blob.Info]time.Time{{Ref: old, Size: 3}: noon}
		if !maps.Equal(got, want) {
			t.Fatalf("listed %v, want %v", got, want)
		}
	})
}

func TestListStopsWhenTheVisitorFails(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		put(t, store, "one")
		put(t, store, "two")
		enough, visits := errors.New("enough"), 0

		err := store.List(t.Context(), noon.Add(time.Hour), func(blob.Info, time.Time) error {
			visits++
			return enough
		})

		if !errors.Is(err, enough) || visits != 1 {
			t.Fatalf("%d visits, err = %v", visits, err)
		}
	})
}

func TestPuttingAgainMakesABlobYoung(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, c *clock) {
		ref := put(t, store, "again")
		c.move(48 * time.Hour)
		put(t, store, "again")

		gone, err := store.DeleteUntouched(t.Context(), ref, noon.Add(24*time.Hour))

		if gone || err != nil {
			t.Errorf("deleted %v, %v though it was put again", gone, err)
		}
		if kept := list(t, store, noon.Add(24*time.Hour)); len(kept) != 0 {
			t.Errorf("listed as old: %v", kept)
		}
		if content, err := read(t, store, ref); content != "again" {
			t.Errorf("holds %q, %v", content, err)
		}
	})
}

func TestABlobThatIsPutAtTheVeryMomentIsSpared(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		ref := put(t, store, "just now")

		spared, spareErr := store.DeleteUntouched(t.Context(), ref, noon)
		removed, removeErr := store.DeleteUntouched(t.Context(), ref, noon.Add(time.Second))

		if spared || !removed || spareErr != nil || removeErr != nil {
			t.Fatalf("at its moment removed %v, %v; a second later %v, %v", spared, spareErr, removed, removeErr)
		}
	})
}

func TestAManyPageListIsComplete(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, _ *clock) {
		const count = 1100 // S3 answers in pages of 1000
		var all sync.WaitGroup
		for worker := range 4 {
			all.Go(func() {
				for i := worker; i < count; i += 4 {
					if _, err := store.Put(t.Context(), strings.NewReader(fmt.Sprint(i)), 10); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()

		if kept := list(t, store, noon.Add(time.Hour)); len(kept) != count {
			t.Fatalf("listed %d of %d", len(kept), count)
		}
	})
}

func TestOnlyALowerCaseHashIsARef(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123456789abcdef", 4)
	if ref, err := blob.ParseRef(hash); err != nil || ref.String() != hash {
		t.Errorf("ParseRef(%q) = %q, %v", hash, ref, err)
	}
	for _, text := range []string{"", hash[1:], hash + "0", strings.ToUpper(hash), "g" + hash[1:], "../" + hash[3:]} {
		if _, err := blob.ParseRef(text); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("ParseRef(%q): err = %v, want ErrNotFound", text, err)
		}
	}
}

type neverEnding struct{}

func (neverEnding) Read(p []byte) (int, error) { return len(p), nil }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestASignIsWhatWasLeftLastAndNoBlob(t *testing.T) {
	t.Parallel()
	onEveryStore(t, func(t *testing.T, store blob.Store, c *clock) {
		if sign, err := store.Sign(t.Context()); sign != "" || err != nil {
			t.Errorf("a new store: %q %v", sign, err)
		}
		for _, left := range []string{"one", "another one"} {
			if err := store.SetSign(t.Context(), left); err != nil {
				t.Fatal(err)
			}
			if sign, err := store.Sign(t.Context()); sign != left || err != nil {
				t.Errorf("%q %v; want %q", sign, err, left)
			}
		}
		c.move(time.Hour)
		if found := list(t, store, c.Now()); len(found) != 0 {
			t.Errorf("listed %v", found)
		}
	})
}
