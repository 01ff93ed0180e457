package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// typer turns schemas into Go types, collecting those that get a name.
type typer struct {
	document Document
	// asked are the schemas that callers send: what is absent there must be told from what is empty.
	asked map[string]bool
	// declared are the declarations by type name.
	declared map[string]string
	// group is the file that declarations go to now, groups where each went.
	group  string
	groups map[string]string
}

func newTyper(d Document) *typer {
	t := &typer{document: d, asked: map[string]bool{}, declared: map[string]string{}, groups: map[string]string{}}
	for _, op := range d.Operations() {
		if op.Body != nil {
			t.ask(*op.Body.Media[mediaJSON].Schema)
		}
	}
	return t
}

func (t *typer) ask(s Schema) {
	if name := s.refName(); name != "" {
		if t.asked[name] {
			return
		}
		t.asked[name] = true
		s = t.document.Parts.Schemas[name]
	}
	for _, p := range s.Properties {
		t.ask(p)
	}
	for _, inner := range append([]*Schema{s.Items, s.Additional}, pointers(s.OneOf)...) {
		if inner != nil {
			t.ask(*inner)
		}
	}
}

func pointers(list []Schema) []*Schema {
	var out []*Schema
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

// place is where a type is needed.
type place struct {
	name  string // what an unnamed object is called
	asked bool
	from  string // who needs it, for people
}

// of returns the Go type of a schema.
func (t *typer) of(s Schema, at place) string {
	switch {
	case s.Ref != "":
		return t.named(s.refName(), at.from)
	case len(s.OneOf) > 0:
		return t.oneOf(s, at)
	case s.Encoding == "base64":
		return "[]byte"
	}
	switch s.kind() {
	case "string":
		if s.Format == "date-time" {
			return "time.Time"
		}
		// Of what is answered, null and empty mean the same.
		return maybe(s.nullable() && at.asked, "string")
	case "integer":
		return maybe(s.nullable(), "int64")
	case "number":
		return maybe(s.nullable(), "float64")
	case "boolean":
		return maybe(s.nullable(), "bool")
	case "array":
		if s.Items == nil {
			return "[]any"
		}
		return "[]" + strings.TrimPrefix(t.of(*s.Items, at), "*")
	case "object":
		if len(s.Properties) > 0 {
			t.declare(at.name, s, at)
			return maybe(s.nullable(), at.name)
		}
		if s.Additional != nil {
			return "map[string]" + t.of(*s.Additional, at)
		}
		return "map[string]any"
	}
	return "any"
}

func maybe(pointer bool, name string) string {
	if pointer {
		return "*" + name
	}
	return name
}

// oneOf takes the form that says most: a list rather than a single text, bytes rather than numbers.
func (t *typer) oneOf(s Schema, at place) string {
	variants := slices.DeleteFunc(slices.Clone(s.OneOf), func(v Schema) bool { return v.kind() == "" && v.nullable() })
	null := len(variants) < len(s.OneOf)
	if len(variants) == 1 {
		inner := t.of(variants[0], at)
		return maybe(null && !strings.HasPrefix(inner, "*") && !strings.HasPrefix(inner, "[]"), inner)
	}
	for _, v := range variants {
		if v.Encoding == "base64" {
			return "[]byte"
		}
		if v.kind() == "array" {
			return t.of(v, at)
		}
	}
	return "any"
}

// named returns the Go type of a schema that has a name, and sees to its declaration.
func (t *typer) named(name, from string) string {
	if row, ok := strings.CutPrefix(name, "PageOf"); ok {
		return "Page[" + t.named(row, from) + "]"
	}
	goName := exported(name)
	if _, done := t.declared[goName]; !done {
		defer func(before string) { t.group = before }(t.group)
		t.group = "types_" + strings.ToLower(words(name)[0])
		t.declare(goName, t.document.Parts.Schemas[name], place{asked: t.asked[name], from: from})
	}
	return goName
}

// declare writes the struct of an object. A field that has two spellings is there once.
func (t *typer) declare(name string, s Schema, at place) {
	if _, done := t.declared[name]; done {
		return
	}
	t.declared[name] = "" // a type that contains itself finds its name
	t.groups[name] = t.group
	var out strings.Builder
	fmt.Fprintf(&out, "// %s is %s.\ntype %s struct {\n", name, at.from, name)
	taken := map[string]bool{}
	for _, property := range t.spelled(s) {
		field, inner := exported(property), s.Properties[property]
		if taken[field] {
			continue
		}
		taken[field] = true
		kind := t.of(inner, place{name: name + field, asked: at.asked, from: "part of " + name})
		if inner.Description != "" {
			fmt.Fprintf(&out, "\t// %s\n", strings.ReplaceAll(inner.Description, "\n", " "))
		}
		fmt.Fprintf(&out, "\t%s %s `json:\"%s%s\"`\n", field, kind, property, omission(kind))
	}
	out.WriteString("}\n")
	t.declared[name] = out.String()
}

func omission(kind string) string {
	if strings.HasPrefix(kind, "*") || kind == "any" {
		return ",omitempty"
	}
	return ",omitzero"
}

// spelled returns the properties in order, those with_underscores before those in camelCase.
func (t *typer) spelled(s Schema) []string {
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return boolInt(strings.ToLower(a) != a) - boolInt(strings.ToLower(b) != b)
	})
	return names
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
