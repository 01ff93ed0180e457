package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// ruleNode is a line of the rule builder, or a group of them. The same tree is a form, a filter of the API, and a text.
type ruleNode struct {
	// Path is the place of the node in the form, such as 0.2; wire its place in the filter, such as .rules[2].
	Path, wire string
	// Group is all, any or none for a group, and empty for a line.
	Group string
	Nodes []*ruleNode

	Field, Operator, Value, Unit string

	// What follows is for drawing.
	Families             []fieldFamily
	Groups, Operators    []choice
	Input                string
	Choices, Units       []choice
	Wrong                string
	Fresh, Alone, Deeper bool
}

type fieldFamily struct {
	Label  string
	Fields []choice
}

// maxRuleDepth is how deep the builder nests groups. What the API takes is deeper, and can be written as JSON.
const maxRuleDepth = 3

// newRules is what a builder begins with: one line.
func (b *ruleBook) newRules() *ruleNode {
	return &ruleNode{Group: "all", Nodes: []*ruleNode{b.newRule()}}
}

func (b *ruleBook) newRule() *ruleNode { return &ruleNode{Field: "email_domain", Operator: "eq"} }

// rulesOf reads the tree of a form: the paths of all nodes in their order, and under each path what the node says.
func rulesOf(form url.Values) *ruleNode {
	nodes := map[string]*ruleNode{}
	for _, path := range form["node"] {
		n := &ruleNode{Path: path, Group: form.Get("group:" + path), Field: form.Get("field:" + path), Operator: form.Get("op:" + path), Value: form.Get("value:" + path), Unit: form.Get("unit:" + path)}
		nodes[path] = n
		if above, ok := nodes[path[:max(strings.LastIndexByte(path, '.'), 0)]]; ok && above.Group != "" {
			above.Nodes = append(above.Nodes, n)
		}
	}
	return nodes["0"]
}

// change does what a button of the builder says: add or group with a path, or drop.
func (b *ruleBook) change(root *ruleNode, do string) *ruleNode {
	verb, path, _ := strings.Cut(do, ":")
	var walk func(n *ruleNode)
	walk = func(n *ruleNode) {
		if n.Path == path && n.Group != "" && verb != "drop" {
			fresh := b.newRule()
			if fresh.Fresh = true; verb == "group" {
				fresh = &ruleNode{Group: "any", Nodes: []*ruleNode{fresh, b.newRule()}}
			}
			n.Nodes = append(n.Nodes, fresh)
			return
		}
		for _, below := range n.Nodes {
			walk(below)
		}
		if verb == "drop" {
			n.Nodes = slices.DeleteFunc(n.Nodes, func(below *ruleNode) bool { return below.Path == path || below.Group != "" && len(below.Nodes) == 0 })
		}
	}
	if walk(root); len(root.Nodes) == 0 {
		return b.newRules()
	}
	return root
}

// draw numbers the nodes and fills in what there is to choose from. What the API said about a node stands beside it.
func (b *ruleBook) draw(n *ruleNode, path string, wrong *problem) {
	n.Path = path
	if wrong != nil {
		n.Wrong = wrong.Field("filter" + n.wire)
	}
	depth := strings.Count(path, ".")
	if n.Group != "" {
		n.Groups = choices(n.Group, "all", "All of these are true", "any", "At least one of these is true", "none", "None of these is true")
		n.Deeper = depth+1 < maxRuleDepth
		if n.Wrong = ""; wrong != nil {
			n.Wrong = wrong.Fields["filter"+n.wire]
		}
		for i, below := range n.Nodes {
			b.draw(below, path+"."+strconv.Itoa(i), wrong)
			below.Alone = depth == 0 && len(n.Nodes) == 1
		}
		return
	}
	f := b.field(n.Field)
	if !f.knows(n.Operator) {
		n.Operator, n.Value = ruleOperators[f.Kind][0], ""
	}
	n.Operators, n.Input = f.operators(n.Operator), f.input(n.Operator)
	for _, c := range f.Choices {
		c.Chosen = c.Value == n.Value
		n.Choices = append(n.Choices, c)
	}
	if (f.Kind == "list" || f.Kind == "segment") && !b.offers(n.Value) {
		n.Choices = keeping(n.Choices, n.Value)
	}
	if n.Input == "span" && n.Unit == "" {
		n.Unit = "days"
	}
	n.Units = choices(n.Unit, "hours", "hours", "days", "days", "weeks", "weeks")
	n.Families = b.families(f)
}

// offers tells whether a value is to be chosen of some field: it may have come along when the field of a line was changed.
func (b *ruleBook) offers(value string) bool {
	return slices.ContainsFunc(b.fields, func(f ruleField) bool {
		return slices.ContainsFunc(f.Choices, func(c choice) bool { return c.Value == value })
	})
}

func (b *ruleBook) families(current ruleField) []fieldFamily {
	var all []fieldFamily
	fields := b.fields
	if current.Family == "Gone" {
		fields = append(slices.Clone(fields), current)
	}
	for _, f := range fields {
		if len(all) == 0 || all[len(all)-1].Label != f.Family {
			all = append(all, fieldFamily{Label: f.Family})
		}
		last := &all[len(all)-1]
		last.Fields = append(last.Fields, choice{Value: f.Name, Label: f.Label, Chosen: f.Name == current.Name})
	}
	return all
}

// filter writes the tree as the API takes it, and notes where each node stands in it. None is a not around an or.
func (b *ruleBook) filter(n *ruleNode, at string) map[string]any {
	n.wire = at
	if n.Group == "" {
		return map[string]any{"type": "rule", "field": n.Field, "operator": n.Operator, "value": b.encode(b.field(n.Field), n)}
	}
	kind := map[string]string{"all": "and", "any": "or", "none": "or"}[n.Group]
	if n.Group == "none" {
		at += ".rules[0]"
	}
	rules := []any{}
	for i, below := range n.Nodes {
		rules = append(rules, b.filter(below, fmt.Sprintf("%s.rules[%d]", at, i)))
	}
	written := map[string]any{"type": kind, "rules": rules}
	if n.Group == "none" {
		return map[string]any{"type": "not", "rules": []any{written}}
	}
	return written
}

type wireRule struct {
	Type     string
	Rules    []wireRule
	Field    string
	Operator string
	Value    json.RawMessage
}

// read makes a tree of a filter. A filter that is one rule becomes a group of one.
func (b *ruleBook) read(raw json.RawMessage) (*ruleNode, error) {
	var wire wireRule
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, err
	}
	root := b.node(wire)
	if root.Group == "" {
		root = &ruleNode{Group: "all", Nodes: []*ruleNode{root}}
	}
	return root, nil
}

func (b *ruleBook) node(w wireRule) *ruleNode {
	if w.Type == "rule" || w.Field != "" {
		n := &ruleNode{Field: w.Field, Operator: w.Operator}
		b.decode(b.field(w.Field), n, w.Value)
		return n
	}
	n := &ruleNode{Group: map[string]string{"or": "any", "not": "none"}[w.Type]}
	if n.Group == "" {
		n.Group = "all"
	}
	if n.Group == "none" && len(w.Rules) == 1 && w.Rules[0].Type == "or" {
		w = w.Rules[0]
	}
	for _, below := range w.Rules {
		n.Nodes = append(n.Nodes, b.node(below))
	}
	return n
}

// ruleText is a tree in words.
type ruleText struct {
	Text  string
	Below []ruleText
}

// text says what a tree means.
func (b *ruleBook) text(n *ruleNode) ruleText {
	if n.Group != "" {
		t := ruleText{Text: map[string]string{"all": "All of these are true:", "any": "At least one of these is true:", "none": "None of these is true:"}[n.Group]}
		for _, below := range n.Nodes {
			t.Below = append(t.Below, b.text(below))
		}
		return t
	}
	f := b.field(n.Field)
	said := []string{f.Label}
	for _, c := range f.operators(n.Operator) {
		if c.Chosen {
			said = append(said, c.Label)
		}
	}
	value := n.Value
	switch f.input(n.Operator) {
	case "none":
		value = ""
	case "span":
		value += " " + n.Unit
	case "moment":
		value = strings.Replace(value, "T", ", ", 1)
	case "choice":
		for _, c := range f.Choices {
			if c.Value == value {
				value = c.Label
			}
		}
	}
	return ruleText{Text: strings.TrimSpace(strings.Join(append(said, visible(value)), " "))}
}
