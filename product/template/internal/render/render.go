// Package render turns the source of a template and a set of values into text. It is pure: nothing outside its arguments can
// be read or changed by a template, and a template cannot run longer, nest deeper or write more than the limits below.
//
// The language is a part of Handlebars, with fallbacks added:
//
//	{{x}} {{x|there}}              the value of x, escaped for the place in the page where it stands
//	{{{x}}} {{&x}} {{{x|there}}}   the value as it is
//	{{#if x}} {{else if y}} {{else}} {{/if}}, {{#unless x}}, {{#each list}}, {{#with object}}
//	{{#x}} … {{/x}}, {{^x}} … {{/x}}   a section: each, with or if, as the value asks for
//	a.b, a/b, a.[two words], this, ../a, @root.a, @index, @key, @first, @last
//	{{! comment }}, {{!-- comment --}}, {{~x~}} without the space around it, \{{x}} literally
//
// There are no partials, no helpers to call and no expressions. Values are only ever printed: braces inside them mean nothing.
package render

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of a template. They are far above what a mail needs and keep the worst template below a second.
const (
	// MaxOutput is the most bytes one part may have. Gmail cuts a page at a twentieth of it.
	MaxOutput = 2 << 20
	// MaxLoops is how often the bodies of all loops together may run.
	MaxLoops = 10_000
	// maxSteps bounds what loops and conditions do without writing anything.
	maxSteps = 1_000_000
	// maxDepth bounds blocks within blocks, and with them the stack.
	maxDepth = 50
	// maxTags bounds the memory that a parsed source takes: tags and the texts between them.
	maxTags = 50_000
	// maxTag is the longest tag in bytes, with its fallback.
	maxTag = 2048
	// maxSegments and maxSegment bound a path such as order.customer.name.
	maxSegments = 16
	maxSegment  = 128
)

// Kind is what a part is written in.
type Kind int

const (
	// Text is written as it is: subjects and text parts.
	Text Kind = iota
	// HTML escapes values so that they cannot leave the place where the author has put them.
	HTML
)

// SyntaxError is a source that cannot be read, or that does more than it may. Lines and columns count from 1, columns in
// characters.
type SyntaxError struct {
	Line, Column int
	// Message is a sentence for the author.
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Missing is a value that the template prints and nobody has given.
type Missing struct {
	// Name is the path as the author wrote it.
	Name         string
	Line, Column int
}

// Removed is a value that was not printed because of the place where it stands.
type Removed struct {
	Name string
	Why  Reason
}

// Reason says why a value was not printed.
type Reason string

// Reasons not to print a value.
const (
	// UnsafeURL is a link that would run a program, such as javascript:.
	UnsafeURL Reason = "unsafe_url"
	// UnsafeStyle is a value that would be more than a value in a style sheet.
	UnsafeStyle Reason = "unsafe_style"
	// UnsafeName is a value that stands where the name of a tag or an attribute is expected.
	UnsafeName Reason = "unsafe_name"
	// NotText is an object, or a list of more than words and numbers.
	NotText Reason = "not_text"
)

// Result is a part that was rendered.
type Result struct {
	Text    string
	Missing []Missing
	Removed []Removed
}

// Program is a source that has been read. It can be used by many at once.
type Program struct {
	source string
	kind   Kind
	nodes  []node
	names  []string
}

// Parse reads a source. Its error is a *SyntaxError.
func Parse(source string, kind Kind) (*Program, error) {
	tokens, err := tokenize(source)
	if err != nil {
		return nil, err
	}
	p := &parser{source: source, tokens: tokens, scopes: []bool{true}, seen: map[string]bool{}}
	nodes, err := p.all()
	if err != nil {
		return nil, err
	}
	if kind == HTML {
		foresee(nodes, place{})
	}
	return &Program{source: source, kind: kind, nodes: nodes, names: p.names}, nil
}

// Names returns the variables that the source mentions, each once, in the order in which they appear.
func (p *Program) Names() []string { return p.names }

// Find returns where the source first prints a path.
func (p *Program) Find(name string) (line, column int, ok bool) {
	at, ok := findOutput(p.nodes, name)
	if !ok {
		return 0, 0, false
	}
	line, column = position(p.source, at)
	return line, column, true
}

func findOutput(nodes []node, name string) (at int, ok bool) {
	for i := range nodes {
		n := &nodes[i]
		if n.kind == outputNode && n.path.text == name {
			return n.at, true
		}
		for _, inside := range [][]node{n.body, n.otherwise} {
			if at, ok := findOutput(inside, name); ok {
				return at, true
			}
		}
	}
	return 0, false
}

func position(source string, at int) (line, column int) {
	before := source[:at]
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

func syntaxError(source string, at int, format string, args ...any) *SyntaxError {
	line, column := position(source, at)
	return &SyntaxError{Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}
