package web

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postrider/docs"
)

var linkTarget = regexp.MustCompile(`href="(/docs[^"#]*)(#[^"]*)?"`)

// pagesOfManual are all pages below /docs, by their address, as they are drawn.
func pagesOfManual(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := fs.WalkDir(docs.Files, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".md" {
			return err
		}
		raw, err := fs.ReadFile(docs.Files, file)
		if err != nil {
			return err
		}
		title, body, err := renderMarkdown(raw, path.Dir(file))
		if title == "" {
			t.Errorf("%s: has no title", file)
		}
		pages["/docs/"+strings.TrimSuffix(file, ".md")] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestEveryChapterExistsAndEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	pages := pagesOfManual(t)
	for _, v := range volumes {
		for _, c := range v.Chapters {
			if _, ok := pages["/docs/"+c.Path]; !ok && c.Path != "" && c.Path != "api" {
				t.Errorf("chapter %s has no page", c.Path)
			}
		}
	}
	for from, body := range pages {
		for _, found := range linkTarget.FindAllStringSubmatch(body, -1) {
			if _, ok := pages[found[1]]; !ok && !slices.Contains([]string{"/docs", "/docs/api", "/docs/api/emails"}, found[1]) {
				t.Errorf("%s links to %s, which does not exist", from, found[1])
			}
		}
	}
}

func TestSnippetsStandInTheQuickStart(t *testing.T) {
	t.Parallel()
	body := pagesOfManual(t)["/docs/quickstart"]
	for _, part := range []string{"curl_init", "urllib.request", "http.DefaultClient", "await fetch", "Idempotency-Key", "standardwebhooks"} {
		if !strings.Contains(body, part) {
			t.Errorf("the quick start does not show %s", part)
		}
	}
	if strings.Contains(body, "go:build") {
		t.Error("shows what is only for the tests")
	}
	for name, page := range pagesOfManual(t) {
		if strings.Contains(page, "quickstart/") {
			t.Errorf("%s does not show the file that it names", name)
		}
	}
}
