package web

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// maxEditorScripts is what the scripts of the template editor may weigh on the wire, in bytes; every other page has a tenth.
const maxEditorScripts = 220_000

func TestEditorStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	all := loadAssets()
	weight := 0
	for _, name := range []string{"kit.js", "editor.js", "vendor/codemirror.js"} {
		weight += len(all.files[all.address(name)].gzipped)
	}
	if weight > maxEditorScripts {
		t.Errorf("the scripts of the editor weigh %d bytes, more than %d", weight, maxEditorScripts)
	}
}

func TestVendoredFileIsTheOneThatItsSourcesName(t *testing.T) {
	t.Parallel()
	all := loadAssets()
	sum := sha256.Sum256(all.files[all.address("vendor/codemirror.js")].plain)
	if sources := string(all.files[all.address("vendor/SOURCES.md")].plain); !strings.Contains(sources, hex.EncodeToString(sum[:])) {
		t.Errorf("SOURCES.md does not name sha256 %x; somebody changed codemirror.js by hand, or made it again and did not say how", sum)
	}
}
