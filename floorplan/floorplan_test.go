package floorplan

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// breaches compares the imports of all sources with the plan and says in a sentence what is against it.
func breaches(p plan, sources []source) []string {
	var found []string
	unnamed := map[string]bool{}
	for _, s := range sources {
		from, named := p.owner(s.dir())
		if !named {
			unnamed[s.dir()] = true
			continue
		}
		for _, spec := range s.syntax.Imports {
			target, ours := inHouse(importPath(spec))
			if !ours {
				continue
			}
			if breach := p.judge(s.dir(), from, target); breach != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s", s.path, s.line(spec), breach))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(unnamed)) {
		found = append(found, fmt.Sprintf("%s: package is not in floorplan.txt; give it a line", dir))
	}
	return found
}

// judge says what is wrong with a package of owner from importing target, or nothing.
func (p plan) judge(dir, from, target string) string {
	to, named := p.owner(target)
	if !named {
		return fmt.Sprintf("%s imports %s, which is not in floorplan.txt", from, target)
	}
	for _, ban := range p.never {
		if under(dir, ban.from) && under(target, ban.to) {
			return fmt.Sprintf("%s may never import %s: nothing in %s/ knows %s/", from, target, ban.from, ban.to)
		}
	}
	switch above, below := p.lines[from], p.lines[to]; {
	case from == to, above < below:
		return ""
	case above == below:
		return fmt.Sprintf("%s may not import its neighbour %s (line %d of floorplan.txt)", from, to, above)
	default:
		return fmt.Sprintf("%s (line %d of floorplan.txt) may not import %s above it (line %d); "+
			"news goes up as an event, work as a queue item", from, above, to, below)
	}
}

func TestEveryPackageImportsOnlyWhatStandsBelowIt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("floorplan.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePlan(string(text))
	if err != nil {
		t.Fatal(err)
	}
	sources, err := readTree(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 10 || len(p.lines) < 10 {
		t.Fatalf("%d files and %d names: the test looks at the wrong tree", len(sources), len(p.lines))
	}
	for _, breach := range breaches(p, sources) {
		t.Error(breach)
	}
}

const smallPlan = `
# a comment
cmd/postrider
product/email  # the send
product/domain  product/webhook
platform/db
mail/smtp
world
never platform/ -> mail/
`

func TestImportsAgainstThePlanAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, imports string
		want                string // part of the one breach; empty for none
	}{
		{"down", "product/email/a.go", "postrider/product/domain", ""},
		{"down past several lines", "cmd/postrider/main.go", "postrider/world", ""},
		{"own cellar", "product/email/a.go", "postrider/product/email/internal/state", ""},
		{"from the cellar to its house", "product/email/internal/state/a.go", "postrider/product/email", ""},
		{"from the cellar down", "product/email/internal/state/a.go", "postrider/platform/db", ""},
		{"kit of a lower package", "product/email/emailtest/a.go", "postrider/platform/db/dbtest", ""},
		{"standard library", "world/a.go", "net/http", ""},
		{"library with our name inside", "world/a.go", "example.com/postrider/product/email", ""},
		{"product on mail", "product/email/a.go", "postrider/mail/smtp", ""},
		{"a test upwards", "world/a_test.go", "postrider/product/email", ""},
		{"testdata upwards", "world/testdata/a.go", "postrider/product/email", ""},
		{"hidden directory", ".cache/a.go", "postrider/product/email", ""},

		{"up", "platform/db/a.go", "postrider/product/email", "platform/db (line 6 of floorplan.txt) may not import product/email above it (line 4)"},
		{"up from the cellar", "product/domain/internal/x/a.go", "postrider/product/email", "product/domain (line 5"},
		{"up to a cellar", "product/domain/a.go", "postrider/product/email/internal/state", "may not import product/email above it"},
		{"neighbour", "product/domain/a.go", "postrider/product/webhook", "may not import its neighbour product/webhook"},
		{"up from a kit", "platform/db/dbtest/a.go", "postrider/product/email", "may not import product/email above it"},
		{"platform on mail", "platform/db/a.go", "postrider/mail/smtp", "nothing in platform/ knows mail/"},
		{"platform's cellar on mail", "platform/db/internal/x/a.go", "postrider/mail/smtp", "nothing in platform/ knows mail/"},
		{"unnamed package", "util/a.go", "fmt", "util: package is not in floorplan.txt"},
		{"root package", "main.go", "fmt", ".: package is not in floorplan.txt"},
		{"name that only begins alike", "product/emailing/a.go", "fmt", "product/emailing: package is not in floorplan.txt"},
		{"import of an unnamed package", "product/email/a.go", "postrider/util", "imports util, which is not in floorplan.txt"},
		{"import of the root", "product/email/a.go", "postrider", "which is not in floorplan.txt"},
		{"file for another system", "world/a_windows.go", "postrider/platform/db", "may not import platform/db above it"},
	} {
		p, err := parsePlan(smallPlan)
		if err != nil {
			t.Fatal(err)
		}
		sources, err := readTree(fstest.MapFS{test.file: {Data: []byte("package x\n\nimport _ \"" + test.imports + "\"\n")}})
		if err != nil {
			t.Fatal(err)
		}

		found := breaches(p, sources)

		switch {
		case test.want == "" && len(found) != 0:
			t.Errorf("%s: %q", test.name, found)
		case test.want != "" && (len(found) != 1 || !strings.Contains(found[0], test.want)):
			t.Errorf("%s: %q, want %q", test.name, found, test.want)
		}
	}
}

func TestABreachNamesItsFileAndLine(t *testing.T) {
	t.Parallel()
	p, err := parsePlan(smallPlan)
	if err != nil {
		t.Fatal(err)
	}
	sources, err := readTree(fstest.MapFS{"world/a.go": {Data: []byte("package world\n\nimport (\n\t\"fmt\"\n\t\"postrider/platform/db\"\n)\n")}})
	if err != nil {
		t.Fatal(err)
	}

	found := breaches(p, sources)

	if len(found) != 1 || !strings.HasPrefix(found[0], "world/a.go:5: ") {
		t.Fatalf("found %q", found)
	}
}

func TestAPlanThatContradictsItselfIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"world\napp\nworld", "app app", "never platform/ mail/", "never platform/ ->", "never a -> b c"} {
		if p, err := parsePlan(text); err == nil {
			t.Errorf("%q read as %+v", text, p)
		}
	}
}
