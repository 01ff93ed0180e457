// Package filter is the language of segments and conditions: a tree of rules about a contact. A tree is read and checked once, and
// then asked in two ways that always agree: as SQL over all contacts, and in Go about one contact at hand.
//
// The language is closed. What it can ask is in the tables of fields.go; values are arguments of the SQL and never part of its text.
//
// Pure: no clock, no database, no state.
package filter

import (
	"slices"
	"strings"
	"time"
)

const (
	// MaxDepth is how deep groups may be nested; more is a program, not a question people ask.
	MaxDepth = 5
	// MaxRules bounds the work that a tree means for each contact.
	MaxRules = 50
	// MaxExpanded bounds the rules of a tree together with those of all segments that it names.
	MaxExpanded = 200
	// maxList is how many values an operator such as in takes.
	maxList = 100
	// maxText is the longest text that is compared, in bytes; no value of a contact is longer.
	maxText = 2000
)

// Type is what kind of value a field has.
type Type string

// Types of properties.
const (
	String  Type = "string"
	Number  Type = "number"
	Boolean Type = "boolean"
	Date    Type = "date"
)

// Property is a property of contacts that trees can ask about.
type Property struct {
	Number int64
	Type   Type
}

// Topic is a topic that trees can ask about.
type Topic struct {
	Number int64
	// OptIn is what holds for contacts that have said nothing.
	OptIn bool
}

// Segment is a segment that trees can name.
type Segment struct {
	Number int64
	// Filter is nil for a segment without one.
	Filter *Tree
}

// Schema is what a workspace has for trees to ask about, by key and by id.
type Schema struct {
	Properties map[string]Property
	Topics     map[string]Topic
	Lists      map[string]int64
	Segments   map[string]*Segment
	// Events lets trees ask about the event that set an automation off.
	Events bool
}

// Tree is a tree of rules that has been checked.
type Tree struct{ root node }

type kind int

const (
	leafNode kind = iota
	andNode
	orNode
	notNode
)

type node struct {
	kind  kind
	rules []node
	rule  rule
}

// rule is one question, with its value in the form in which it is compared.
type rule struct {
	field    field
	operator string
	texts    []string // folded
	amounts  []float64
	at       time.Time
	span     time.Duration
	// truth is the value of a boolean, and of exists and is_empty.
	truth bool
	// list, topic and segment are what the field or the value names.
	list    int64
	topic   Topic
	segment *Segment
	id      string
}

// Fold returns the form in which texts are compared. Columns that are compared in SQL hold texts in this form.
func Fold(text string) string { return strings.ToLower(text) }

// visit shows every rule of the tree to see.
func (t *Tree) visit(see func(rule)) {
	var walk func(node)
	walk = func(n node) {
		if n.kind == leafNode {
			see(n.rule)
		}
		for _, child := range n.rules {
			walk(child)
		}
	}
	walk(t.root)
}

// Uses tells whether the tree asks about a property by its key, or a list, a topic or a segment by its id.
func (t *Tree) Uses(keyOrID string) bool {
	used := false
	t.visit(func(r rule) { used = used || r.id == keyOrID })
	return used
}

// Names returns the segments, lists and topics that the tree names and the keys of the properties it asks about, each once.
func (t *Tree) Names() []string {
	var names []string
	t.visit(func(r rule) {
		if r.id != "" && !slices.Contains(names, r.id) {
			names = append(names, r.id)
		}
	})
	return names
}

// Size counts the rules of the tree and of all segments it names. It stops counting soon after most, so that segments which name
// each other in many ways cost no more than others.
func (t *Tree) Size(most int) int {
	size := 0
	t.visit(func(r rule) {
		if size++; size <= most && r.segment != nil && r.segment.Filter != nil {
			size += r.segment.Filter.Size(most - size)
		}
	})
	return size
}

// Reaches tells whether the tree names the segment, itself or by way of others.
func (t *Tree) Reaches(target *Segment) bool {
	seen := map[*Segment]bool{}
	var reach func(*Tree) bool
	reach = func(t *Tree) (found bool) {
		t.visit(func(r rule) {
			if r.segment == nil || found || seen[r.segment] {
				return
			}
			seen[r.segment] = true
			found = r.segment == target || r.segment.Filter != nil && reach(r.segment.Filter)
		})
		return found
	}
	return reach(t)
}

// Has tells whether a contact is in the segment at a moment.
func (s *Segment) Has(c *Contact, now time.Time) bool { return s.has(c, now) }
