package web

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Tables whose columns are read against each other stay tables on a phone, and are moved sideways.
var tabular = []string{"_chart.html", "_parts.html", "audience/map.html", "manual/reference.html"}

var (
	tables   = regexp.MustCompile(`(?s)<table class="tbl.*?</table>`)
	headings = regexp.MustCompile(`<th scope="col"[^>]*>(.*?)</th>`)
	cells    = regexp.MustCompile(`(?s)<td([^>]*)>(.*?)</td>`)
	label    = regexp.MustCompile(`data-label="([^"]*)"`)
)

// A row that is a few lines has no headings above it: a number has to bring its own.
func TestListsAreReadOnAPhone(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(templateFiles, "templates", func(path string, _ fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, "templates/")
		if err != nil || !strings.HasSuffix(path, ".html") || slices.Contains(tabular, name) {
			return err
		}
		raw, err := fs.ReadFile(templateFiles, path)
		for _, table := range tables.FindAllString(string(raw), -1) {
			if strings.HasPrefix(table, `<table class="tbl dns"`) {
				continue
			}
			if !strings.HasPrefix(table, `<table class="tbl lines`) {
				t.Errorf("%s: a list has to be moved sideways on a phone: %.120s", name, table)
			}
			heads := headings.FindAllStringSubmatch(table, -1)
			for i, cell := range cells.FindAllStringSubmatch(table, -1) {
				said := label.FindStringSubmatch(cell[1])
				switch {
				case said != nil && (i >= len(heads) || said[1] != heads[i][1]):
					t.Errorf("%s: column %d is called %q on a phone", name, i, said[1])
				case said == nil && cell[1] == ` class="num"` && !strings.Contains(cell[2], "<form"):
					t.Errorf("%s: nothing says on a phone what the number of column %d counts: %s", name, i, cell[2])
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryPopoverHasAName(t *testing.T) {
	t.Parallel()
	popover := regexp.MustCompile(`<[a-z]+ [^>]*\bpopover\b[^>]*`)
	found := 0
	err := fs.WalkDir(templateFiles, "templates", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(templateFiles, path)
		for _, tag := range popover.FindAllString(string(raw), -1) {
			found++
			if !strings.Contains(tag, "aria-label") {
				t.Errorf("%s: nothing says what this is: %s", path, tag)
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d popovers: %v", found, err)
	}
}
