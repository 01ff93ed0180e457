package web

import (
	"bytes"
	"testing"
)

// What a page may cost to load, in bytes as they are sent. A phone on a train should not notice.
const (
	scriptBudget = 20 << 10  // of a list, a detail or a form
	styleBudget  = 15 << 10  // of any page
	editorBudget = 220 << 10 // scripts of the template editor
)

func TestFilesOfPagesStayWithinTheirBudget(t *testing.T) {
	t.Parallel()
	all := loadAssets()
	size := func(names ...string) (total int) {
		t.Helper()
		for _, name := range names {
			total += len(all.files[all.address(name)].gzipped)
		}
		return total
	}
	for page, scripts := range map[string][]string{
		"lists": {"kit.js", "again.js"}, "sign-in": {"kit.js", "passkey.js"}, "webhooks": {"kit.js", "again.js", "webhooks.js"},
		"audience": {"kit.js", "again.js", "redraw.js", "unsaved.js"}, "automation builder": {"kit.js", "flow.js", "unsaved.js"}} {
		if got := size(scripts...); got > scriptBudget {
			t.Errorf("scripts of %s: %d bytes, at most %d", page, got, scriptBudget)
		}
	}
	if got := size("kit.js", "editor.js", "unsaved.js", "vendor/codemirror.js"); got > editorBudget {
		t.Errorf("scripts of the editor: %d bytes, at most %d", got, editorBudget)
	}
	for name := range all.names {
		if len(name) > 4 && name[len(name)-4:] == ".css" && name != "app.css" {
			if got := size("app.css", name); got > styleBudget {
				t.Errorf("styles with %s: %d bytes, at most %d", name, got, styleBudget)
			}
		}
	}
}

func TestStyleSheetsNameFilesAsPagesDo(t *testing.T) {
	t.Parallel()
	all := loadAssets()
	if font := all.address("inter-latin.woff2"); !bytes.Contains(all.files[all.address("app.css")].plain, []byte(font)) {
		t.Errorf("app.css does not load %s, which pages load, so that browsers load the font twice", font)
	}
}
