package db_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"postrider/platform/db"
	"postrider/platform/db/dbtest"
)

func TestABackupIsForItsOwnerAndReplacesNothing(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, testWorld(), "sqlite")
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := d.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v %v", info, err)
	}
	for _, there := range []string{path, filepath.Join(t.TempDir(), "empty.db")} {
		file, err := os.OpenFile(there, os.O_CREATE|os.O_RDONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		if err := d.Backup(t.Context(), there); err == nil {
			t.Errorf("%s was replaced", there)
		}
		if _, err := os.Stat(there); err != nil {
			t.Error(err)
		}
	}
	if err := d.Backup(t.Context(), filepath.Join(t.TempDir(), "missing", "copy.db")); !os.IsNotExist(err) {
		t.Errorf("into no directory: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Backup(ended, filepath.Join(filepath.Dir(path), "cut.db")); err == nil {
		t.Error("a backup that was cut short succeeded")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("what lies there is %v, %v", left, err)
	}
}

// A disk that is full shows only when something has to be put on it.
func TestWhetherAWriteIsTakenIsFoundOutByOne(t *testing.T) {
	t.Parallel()
	path := dbtest.URL(t, "sqlite")
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: path})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	written := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := written()
	if err := d.CheckWritable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := written(); after <= before {
		t.Errorf("nothing was written: %d bytes, and then %d", before, after)
	}
}

func TestADatabaseThatTakesNoWriteIsNotCalledWritable(t *testing.T) {
	t.Parallel()
	broken := false
	d, err := db.Open(t.Context(), testWorld(), db.Config{URL: dbtest.URL(t, "sqlite"), Fault: func() error {
		if broken {
			return fs.ErrPermission
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	broken = true
	if err := d.CheckWritable(t.Context()); err == nil {
		t.Error("it was called writable")
	}
}
