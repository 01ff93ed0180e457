// Package tree draws the steps of an automation as sequences and branches that join again, and changes them without leaving that
// form. A definition is a graph, which anyone may write by hand; what does not fit into a tree is drawn as a jump to a step that
// stands elsewhere. It is pure: nothing outside its arguments is asked or changed.
package tree

import "encoding/json"

// Definition is a graph of steps as the API has it.
type Definition struct {
	Steps       []Step       `json:"steps"`
	Connections []Connection `json:"connections"`
}

// Step is one thing to do. What its config holds depends on the type.
type Step struct {
	Key    string          `json:"key"`
	Type   string          `json:"type"`
	Config json.RawMessage `json:"config"`
}

// Connection says which step comes after another.
type Connection struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Type   string `json:"type"`
	Branch string `json:"branch,omitempty"`
}

// Edge is a way out of a step, whether it leads somewhere or not.
type Edge struct{ From, Way, Branch string }

// Ways are the kinds of connections that may leave the types of steps.
type Ways map[string][]string

// The kinds of connections that mean something for the form of a tree, and the types of steps that do.
const (
	failed  = "error"
	branch  = "branch"
	trigger = "trigger"
)

// Tree is a definition to be drawn. Nearly always it has one root.
type Tree struct {
	Roots []Root
	gaps  map[string]*Gap
	spots map[string]spot
}

// Root is some triggers with what follows them, or steps that no trigger leads to.
type Root struct {
	Triggers []*Node
	// Merge are the lines between several triggers and the first step.
	Merge Lines
	Body  Sequence
	// Lost tells that nothing leads here.
	Lost bool
}

// Sequence is what happens one after the other.
type Sequence struct {
	Items []Item
	// Units is how many steps stand beside each other at its widest place.
	Units int
}

// Item is one part of a sequence: exactly one of its fields is set.
type Item struct {
	Node *Node
	Gap  *Gap
	Fork *Fork
	Jump *Jump
	// Line is drawn where two parts follow each other and nothing can be added; End tells that the automation is over.
	Line, End bool
}

// Node is a step at its place.
type Node struct {
	Key   string
	Index int
	// Fixed tells that it can only be looked at.
	Fixed bool
	Face
}

// Face is how a step looks: what it is, in a few words.
type Face struct {
	Type, Label, Title, Text, Icon, State string
	// Status, Note and Time tell what became of the step in a run.
	Status, Note, Time string
	Problems           []string
	// Href is where a step leads that is only looked at.
	Href    string
	Current bool
}

// Gap is a place where a step can be added.
type Gap struct {
	ID string
	// Label says in words where it is.
	Label string
	// Edges lead here, and Target is what comes next; empty is the end.
	Edges  []Edge
	Target string
	// Shared tells that the next step is reached from elsewhere, too, so that the way may end here.
	Shared  bool
	Current bool
}

// Fork is several ways beside each other. Those that go on join below.
type Fork struct {
	Ways         []Way
	Split, Merge Lines
	Units        int
}

// Way is one of the ways of a fork.
type Way struct {
	Label string
	// Open tells that it goes on where the ways join.
	Open bool
	Body Sequence
}

// Jump leads to a step that is drawn elsewhere.
type Jump struct{ Key, Title string }

// Gap returns a place by its id; nil if there is none.
func (t *Tree) Gap(id string) *Gap { return t.gaps[id] }

// Still turns the places where steps can be added into lines, for those who may not change anything.
func (t *Tree) Still() *Tree {
	t.each(func(item *Item) {
		if item.Gap != nil {
			*item = Item{Line: true}
		}
	})
	return t
}

// Fixed makes a tree that is only looked at: nothing can be added, and steps are no buttons.
func (t *Tree) Fixed() *Tree {
	t.each(func(item *Item) {
		if item.Node != nil {
			item.Node.Fixed = true
		}
	})
	for _, root := range t.Roots {
		for _, n := range root.Triggers {
			n.Fixed = true
		}
	}
	return t.Still()
}

// each visits all parts of all sequences.
func (t *Tree) each(visit func(*Item)) {
	for _, root := range t.Roots {
		root.Body.each(visit)
	}
}

func (s Sequence) each(visit func(*Item)) {
	for i := range s.Items {
		visit(&s.Items[i])
		if fork := s.Items[i].Fork; fork != nil {
			for _, way := range fork.Ways {
				way.Body.each(visit)
			}
		}
	}
}

// Inside returns the keys of the steps in the ways of a fork.
func (t *Tree) Inside(key string) []string { return t.spots[key].inside }

// spot is what has to be known to take a step out: what comes after it, and what is inside it.
type spot struct {
	next   string
	inside []string
}
