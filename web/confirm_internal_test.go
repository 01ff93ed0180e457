package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// harmless are the forms that take something away which is easily put back, or that stand on a page which asks already.
var harmless = []string{"suppressions", "segments", "automations", "sandbox", "audience/forget", "domains/detail", "customers/detail"}

var ending = regexp.MustCompile(`<form[^>]*[/"](remove|delete|revoke|archive|erase)"[^>]*>`)

func TestNothingIsDestroyedByOneClick(t *testing.T) {
	t.Parallel()
	found := 0
	err := fs.WalkDir(templateFiles, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(templateFiles, path)
		for _, form := range ending.FindAllString(string(raw), -1) {
			found++
			about := path + " " + form
			excused := false
			for _, name := range harmless {
				excused = excused || strings.Contains(about, name)
			}
			if !excused && !strings.Contains(form, "confirm") {
				t.Errorf("%s: %s is not confirmed", path, form)
			}
		}
		return err
	})
	if err != nil || found < 12 {
		t.Errorf("found %d forms, %v", found, err)
	}
}
