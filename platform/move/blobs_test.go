package move_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postrider/platform/blob"
	"postrider/platform/move"
)

// twoStores returns stores in the directories from and to of the third result.
func twoStores(t *testing.T) (from, to *blob.Files, dir string) {
	t.Helper()
	w, dir := testWorld(), t.TempDir()
	from, fromErr := blob.NewFiles(filepath.Join(dir, "from"), w.Clock, w.Random)
	to, toErr := blob.NewFiles(filepath.Join(dir, "to"), w.Clock, w.Random)
	if err := errors.Join(fromErr, toErr); err != nil {
		t.Fatal(err)
	}
	return from, to, dir
}

func put(t *testing.T, store blob.Store, content string) blob.Info {
	t.Helper()
	info, err := store.Put(t.Context(), strings.NewReader(content), 100)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestBlobsAreNotMovedAmongThoseOfOthers(t *testing.T) {
	t.Parallel()
	from, to, _ := twoStores(t)
	ours := put(t, from, "ours")
	put(t, to, "theirs")

	_, err := move.Blobs(t.Context(), from, to, silent)

	if !errors.Is(err, move.ErrForeign) {
		t.Errorf("err = %v", err)
	}
	if _, err := to.Open(t.Context(), ours.Ref); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("it was copied all the same: %v", err)
	}
}

func TestAMoveOfBlobsGoesOnAndReplacesWhatWasCutOff(t *testing.T) {
	t.Parallel()
	for name, copying := range map[string]func(from, to blob.Store) error{
		"move": func(from, to blob.Store) error {
			sum, err := move.Blobs(t.Context(), from, to, silent)
			if sum.Blobs != 2 || sum.Bytes != 10 {
				t.Errorf("moved %+v", sum)
			}
			return err
		},
		"copy": func(from, to blob.Store) error {
			blobs, bytes, err := move.CopyBlobs(t.Context(), from, to, silent)
			if blobs != 2 || bytes != 10 {
				t.Errorf("copied %d blobs of %d bytes", blobs, bytes)
			}
			return err
		},
	} {
		from, to, dir := twoStores(t)
		cut, _ := put(t, from, "content"), put(t, from, "new")
		put(t, to, "content")
		if err := os.Truncate(filepath.Join(dir, "to", cut.Ref.String()[:2], cut.Ref.String()), 3); err != nil {
			t.Fatal(err)
		}

		if err := copying(from, to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}

		content, err := to.Open(t.Context(), cut.Ref)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := io.ReadAll(content); err != nil || string(raw) != "content" {
			t.Errorf("%s: holds %q, %v", name, raw, err)
		}
		content.Close()
	}
}

func TestABlobThatRotsInTheTargetIsNoticed(t *testing.T) {
	t.Parallel()
	from, to, dir := twoStores(t)
	info := put(t, from, "content")
	put(t, to, "content")
	name := info.Ref.String()
	if err := os.WriteFile(filepath.Join(dir, "to", name[:2], name), []byte("c0ntent"), 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := move.Blobs(t.Context(), from, to, silent); !errors.Is(err, blob.ErrDamaged) || !strings.Contains(err.Error(), name) {
		t.Fatalf("err = %v", err)
	}
}

func TestADamagedBlobIsNotCopiedAndItIsSaidWhatToDo(t *testing.T) {
	t.Parallel()
	from, to, dir := twoStores(t)
	info := put(t, from, "content")
	name := info.Ref.String()
	if err := os.WriteFile(filepath.Join(dir, "from", name[:2], name), []byte("c0ntent"), 0o600); err != nil {
		t.Fatal(err)
	}

	_, _, err := move.CopyBlobs(t.Context(), from, to, func(string, int64, int64) {})

	if !errors.Is(err, blob.ErrDamaged) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "put it back from a backup") {
		t.Errorf("%v", err)
	}
	if _, err := to.Open(t.Context(), info.Ref); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("it is in the target: %v", err)
	}
}
