package generate

import (
	"fmt"
	"go/format"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

const banner = "// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.\n\npackage client\n\n"

// Suffix is how the names of generated files end.
const Suffix = ".gen.go"

// Files returns the generated files by name.
func Files(document []byte) (map[string][]byte, error) {
	d, err := Parse(document)
	if err != nil {
		return nil, err
	}
	t, sources := newTyper(d), map[string]string{}
	used := map[string]bool{}
	for _, op := range d.Operations() {
		used[op.Tags[0]] = true
		sources[op.Tags[0]] += t.method(op)
	}
	for _, tag := range d.Tags {
		if used[tag.Name] {
			sources[tag.Name] = fmt.Sprintf("// %s: %s\ntype %s struct{ client *Client }\n\n", Service(tag.Name), tag.Description, Service(tag.Name)) + sources[tag.Name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.declared)) {
		sources[t.groups[name]] += t.declared[name] + "\n"
	}
	sources["services"] = services(d.Tags)
	files := map[string][]byte{}
	for name, source := range sources {
		formatted, err := format.Source([]byte(banner + imports(source) + source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[strings.ReplaceAll(name, "-", "")+Suffix] = formatted
	}
	return files, nil
}

func services(tags []Tag) string {
	var fields, links strings.Builder
	for _, tag := range tags {
		fmt.Fprintf(&fields, "\t// %s: %s\n\t%s *%s\n", Service(tag.Name), tag.Description, Service(tag.Name), Service(tag.Name))
		fmt.Fprintf(&links, "\ts.%s = &%s{c}\n", Service(tag.Name), Service(tag.Name))
	}
	return fmt.Sprintf("// services are the groups of methods.\ntype services struct {\n%s}\n\nfunc (s *services) connect(c *Client) {\n%s}\n", fields.String(), links.String())
}

func imports(source string) string {
	var needed []string
	for _, name := range []string{"context", "encoding/json", "io", "iter", "net/url", "time"} {
		if regexp.MustCompile(`\b` + path.Base(name) + `\.[A-Z]`).MatchString(source) {
			needed = append(needed, fmt.Sprintf("%q", name))
		}
	}
	if len(needed) == 0 {
		return ""
	}
	return "import (\n\t" + strings.Join(needed, "\n\t") + "\n)\n\n"
}
