package blob_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/platform/blob"
)

func TestFilesAreOnlyForTheirOwner(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	ref := put(t, newFiles(t, dir, &clock{now: noon}), "private")

	var seen []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		if !d.IsDir() {
			seen = append(seen, path)
		}
		return nil
	})

	if want := filepath.Join(dir, string(ref[:2]), string(ref)); err != nil || len(seen) != 1 || seen[0] != want {
		t.Fatalf("files %v, %v; want %s only", seen, err, want)
	}
}

func TestBlobsSurviveARestart(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), &clock{now: noon}
	ref := put(t, newFiles(t, dir, c), "kept")

	content, err := read(t, newFiles(t, dir, c), ref)

	if err != nil || content != "kept" {
		t.Fatalf("holds %q, %v", content, err)
	}
}

func TestADamagedFileIsNoticedAtItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := newFiles(t, dir, &clock{now: noon})
	ref := put(t, store, "content")
	path := filepath.Join(dir, string(ref[:2]), string(ref))
	for _, damage := range []string{"conteNt", "conten", ""} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, store, ref); !errors.Is(err, blob.ErrDamaged) {
			t.Errorf("file holds %q: err = %v, want ErrDamaged", damage, err)
		}
	}
}

func TestPuttingAgainRepairsACutFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := newFiles(t, dir, &clock{now: noon})
	ref := put(t, store, "content")
	if err := os.Truncate(filepath.Join(dir, string(ref[:2]), string(ref)), 3); err != nil {
		t.Fatal(err)
	}

	put(t, store, "content")

	if content, err := read(t, store, ref); err != nil || content != "content" {
		t.Fatalf("holds %q, %v", content, err)
	}
}

func TestLeftoversOfACrashAreRemovedWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), &clock{now: noon}
	newFiles(t, dir, c)
	for name, age := range map[string]time.Duration{"old": 25 * time.Hour, "young": time.Hour} {
		path := filepath.Join(dir, "incoming", name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, noon.Add(-age), noon.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}

	newFiles(t, dir, c)

	left, err := os.ReadDir(filepath.Join(dir, "incoming"))
	if err != nil || len(left) != 1 || left[0].Name() != "young" {
		t.Fatalf("left %v, %v; want the young one only", left, err)
	}
}

func TestNoPutLeavesItsTemporaryFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := newFiles(t, dir, &clock{now: noon})
	put(t, store, "content")

	put(t, store, "content")
	if _, err := store.Put(t.Context(), strings.NewReader("too much"), 1); !errors.Is(err, blob.ErrTooLarge) {
		t.Fatal(err)
	}

	if left, err := os.ReadDir(filepath.Join(dir, "incoming")); err != nil || len(left) != 0 {
		t.Fatalf("left %v, %v", left, err)
	}
}

func TestForeignFilesAreNeitherListedNorRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := newFiles(t, dir, &clock{now: noon})
	ref := put(t, store, "ours")
	foreign := filepath.Join(dir, string(ref[:2]), "README")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if found := list(t, store, noon.Add(time.Hour)); len(found) != 1 {
		t.Fatalf("listed %v", found)
	}
}

func TestAStoreWithoutChanceKeepsNothing(t *testing.T) {
	t.Parallel()
	store, err := blob.NewFiles(t.TempDir(), &clock{now: noon}, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}

	if _, err := store.Put(t.Context(), strings.NewReader("a"), 1); err == nil {
		t.Fatal("put succeeded without a name to write to")
	}
}

func TestADirectoryThatCannotBeMadeIsReported(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := blob.NewFiles(file, &clock{now: noon}, rand.Reader); err == nil {
		t.Fatal("a store was made in a file")
	}
}

func BenchmarkPutOfKnownContent(b *testing.B) {
	store, err := blob.NewFiles(b.TempDir(), &clock{now: noon}, rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	content := strings.Repeat("x", 50_000)
	for b.Loop() {
		if _, err := store.Put(b.Context(), strings.NewReader(content), 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}
