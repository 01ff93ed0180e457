package blob_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"postrider/platform/blob"
	"postrider/world"
)

// An operator's verb runs as root, beside a server that does not.
func TestASignOfRootBelongsToTheOwnerOfTheStoreAlone(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can write for others")
	}
	const owner = 4711
	dir := t.TempDir()
	store, err := blob.NewFiles(dir, &clock{now: time.Now()}, world.New(nil).Random)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, owner, owner); err != nil {
		t.Fatal(err)
	}
	if err := store.SetSign(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "sweeper"))
	if err != nil {
		t.Fatal(err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != owner || stat.Gid != owner || info.Mode().Perm() != 0o600 {
		t.Errorf("%+v %s", info.Sys(), info.Mode())
	}
}
