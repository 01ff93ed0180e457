package render

import (
	"maps"
	"slices"
	"strings"
)

// Execute renders the program. Values that are missing or cannot be printed are left out and told; the error is a *SyntaxError
// for a template that does more than it may.
func (p *Program) Execute(values Values) (Result, error) {
	r := run{program: p}
	r.out.Grow(len(p.source) + len(p.source)/8)
	root := frame{value: map[string]any(values)}
	if err := r.nodes(p.nodes, &root); err != nil {
		return Result{}, err
	}
	return Result{Text: r.out.String(), Missing: r.missing, Removed: r.removed}, nil
}

// frame is a context: the value that names are looked up in.
type frame struct {
	value  any
	parent *frame
	// loop is set for a turn of a loop.
	loop *turn
}

type turn struct {
	index int
	key   string // of an object
	last  bool
}

// run is one execution.
type run struct {
	program *Program
	out     strings.Builder
	place   place
	steps   int
	loops   int
	missing []Missing
	removed []Removed
}

func (r *run) nodes(nodes []node, at *frame) error {
	for i := range nodes {
		n := &nodes[i]
		if err := r.step(n, 1); err != nil {
			return err
		}
		var err error
		switch n.kind {
		case textNode:
			err = r.literal(n)
		case outputNode:
			err = r.output(n, at)
		default:
			err = r.block(n, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step counts work that may leave no trace in the output.
func (r *run) step(n *node, work int) error {
	if r.steps += work; r.steps > maxSteps {
		return syntaxError(r.program.source, n.at, "The template does more than it may: its loops are too large.")
	}
	return nil
}

func (r *run) literal(n *node) error {
	if r.program.kind == HTML && r.place == n.before {
		r.out.WriteString(n.text)
		r.place = n.after
		return r.checkSize(n)
	}
	return r.write(n, n.text)
}

// write adds to the output and follows where in the page it leads.
func (r *run) write(n *node, text string) error {
	r.out.WriteString(text)
	if r.program.kind == HTML {
		r.place = r.place.advance(text)
	}
	return r.checkSize(n)
}

func (r *run) checkSize(n *node) error {
	if r.out.Len() > MaxOutput {
		return syntaxError(r.program.source, n.at, "The result is larger than %d MB.", MaxOutput>>20)
	}
	return nil
}

func (r *run) output(n *node, at *frame) error {
	value, found := r.find(&n.path, at)
	if found && n.hasFallback && value == "" {
		found = false // an author who offers a fallback does not want nothing
	}
	written := n.fallback
	if found {
		var ok bool
		if written, ok = text(value); !ok {
			r.remove(n, NotText)
			return r.step(n, tellingWork)
		}
	} else if !n.hasFallback {
		r.miss(n)
		return r.step(n, tellingWork)
	}
	if err := r.step(n, len(written)>>8); err != nil {
		return err
	}
	if strings.IndexByte(written, 0) >= 0 {
		written = strings.ReplaceAll(written, "\x00", "\ufffd") // no mail may hold a NUL
	}
	if r.program.kind == HTML {
		var reason Reason
		if n.raw {
			written, reason = r.place.checkRaw(written)
		} else {
			written, reason = r.place.escape(written)
		}
		if reason != "" {
			r.remove(n, reason)
			r.steps += tellingWork
		}
	}
	return r.write(n, written)
}

const (
	// maxTold is how many names a result tells of; nobody reads more.
	maxTold = 100
	// tellingWork is what it costs, in steps, to see whether a name has been told.
	tellingWork = 10
)

func (r *run) miss(n *node) {
	if len(r.missing) == maxTold || slices.ContainsFunc(r.missing, func(m Missing) bool { return m.Name == n.path.text }) {
		return
	}
	line, column := position(r.program.source, n.at)
	r.missing = append(r.missing, Missing{Name: n.path.text, Line: line, Column: column})
}

func (r *run) remove(n *node, why Reason) {
	told := Removed{Name: n.path.text, Why: why}
	if len(r.removed) < maxTold && !slices.Contains(r.removed, told) {
		r.removed = append(r.removed, told)
	}
}

func (r *run) block(n *node, at *frame) error {
	value, found := r.find(&n.path, at)
	kind := n.kind
	if kind == sectionNode {
		switch value.(type) {
		case bool:
			kind = ifNode
		case []any:
			kind = eachNode
		}
	}
	switch kind {
	case ifNode:
		return r.choose(n, at, truthy(value))
	case unlessNode:
		return r.choose(n, at, !truthy(value))
	case eachNode:
		return r.each(n, at, value)
	case sectionNode: // an object, a number or a text, even an empty one, is something to go into
		if !found {
			return r.nodes(n.otherwise, at)
		}
	case withNode:
		if empty(value) {
			return r.nodes(n.otherwise, at)
		}
	}
	if n.path.isThis() { // whoever goes to where they are has not gone deeper
		return r.nodes(n.body, at)
	}
	return r.nodes(n.body, &frame{value: value, parent: at})
}

func (r *run) choose(n *node, at *frame, yes bool) error {
	if yes {
		return r.nodes(n.body, at)
	}
	return r.nodes(n.otherwise, at)
}

func (r *run) each(n *node, at *frame, value any) error {
	switch v := value.(type) {
	case []any:
		if len(v) > 0 {
			return r.eachItem(n, at, v)
		}
	case map[string]any:
		if len(v) > 0 {
			return r.eachKey(n, at, v)
		}
	}
	return r.nodes(n.otherwise, at)
}

func (r *run) eachItem(n *node, at *frame, list []any) error {
	for i, item := range list {
		if err := r.turn(n, 1); err != nil {
			return err
		}
		if err := r.nodes(n.body, &frame{value: item, parent: at, loop: &turn{index: i, last: i == len(list)-1}}); err != nil {
			return err
		}
	}
	return nil
}

// eachKey goes through an object in the order of its keys: JSON has no other that two readers would agree on.
func (r *run) eachKey(n *node, at *frame, object map[string]any) error {
	if err := r.turn(n, len(object)); err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(object))
	for i, key := range keys {
		if err := r.nodes(n.body, &frame{value: object[key], parent: at, loop: &turn{index: i, key: key, last: i == len(keys)-1}}); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) turn(n *node, turns int) error {
	if r.loops += turns; r.loops > MaxLoops {
		return syntaxError(r.program.source, n.at, "The loops of the template run more than %d times.", MaxLoops)
	}
	return nil
}

// find returns the value that a path names. Null is not found.
func (r *run) find(p *path, at *frame) (any, bool) {
	switch {
	case p.literal != nil:
		return *p.literal, true
	case p.data == "root":
		for at.parent != nil {
			at = at.parent
		}
		return lookup(at.value, p.segments)
	case p.data != "":
		return loopData(p, at)
	}
	for range p.up {
		if at = at.parent; at == nil {
			return nil, false
		}
	}
	return lookup(at.value, p.segments)
}

// loopData returns what a turn of the innermost loop knows of itself, or of one further out.
func loopData(p *path, at *frame) (any, bool) {
	for up := p.up; at != nil; at = at.parent {
		if at.loop == nil {
			continue
		}
		if up == 0 {
			break
		}
		up--
	}
	if at == nil {
		return nil, false
	}
	switch t := at.loop; p.data {
	case "index":
		return t.index, true
	case "key":
		if t.key == "" {
			return t.index, true
		}
		return t.key, true
	case "first":
		return t.index == 0, true
	default:
		return t.last, true
	}
}
