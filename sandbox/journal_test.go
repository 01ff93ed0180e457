package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestAHalfWrittenLineIsCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, []byte("one\n\nthree\nhalf of a line"), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	j, err := openJournal(path, func(line []byte, _ int64) { lines = append(lines, string(line)) })
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()

	offset, err := j.append([]byte("four"))

	if want := []string{"one", "", "three"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("read %q, %v", lines, err)
	}
	if line, err := j.read(offset, 4); err != nil || string(line) != "four" {
		t.Errorf("read back %q, %v", line, err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "one\n\nthree\nfour\n" {
		t.Errorf("file %q, %v", content, err)
	}
}
