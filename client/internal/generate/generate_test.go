package generate_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"postrider/client/internal/generate"
)

// target is where the client is.
var target = filepath.Join("..", "..")

var update = flag.Bool("update", false, "rewrite the generated files")

func TestGeneratedFilesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate.Files(document)
	if err != nil {
		t.Fatal(err)
	}
	present, err := filepath.Glob(filepath.Join(target, "*"+generate.Suffix))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range present {
		if _, wanted := files[filepath.Base(name)]; wanted {
			continue
		}
		if !*update {
			t.Errorf("%s is left over; run make update", name)
		} else if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range files {
		name = filepath.Join(target, name)
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
			t.Errorf("%s is stale (%v); run make update", name, err)
		}
	}
}
