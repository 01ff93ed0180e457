package move_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postrider/platform/blob"
	"postrider/platform/move"
)

func TestADamagedBlobIsNotCopiedAndItIsSaidWhatToDo(t *testing.T) {
	t.Parallel()
	w, dir := testWorld(), t.TempDir()
	from, fromErr := blob.NewFiles(filepath.Join(dir, "from"), w.Clock, w.Random)
	to, toErr := blob.NewFiles(filepath.Join(dir, "to"), w.Clock, w.Random)
	info, putErr := from.Put(t.Context(), strings.NewReader("content"), 100)
	name := info.Ref.String()
	rotErr := os.WriteFile(filepath.Join(dir, "from", name[:2], name), []byte("c0ntent"), 0o600)
	if err := errors.Join(fromErr, toErr, putErr, rotErr); err != nil {
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
