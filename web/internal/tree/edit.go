package tree

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Insert puts a step into a gap. All its ways lead to what came next there, so that a fork is drawn closed.
func (d Definition) Insert(gap *Gap, step Step, ways Ways) Definition {
	out := Definition{Steps: append(slices.Clone(d.Steps), step)}
	for _, c := range d.Connections {
		if !slices.Contains(gap.Edges, edgeOf(c)) {
			out.Connections = append(out.Connections, c)
		}
	}
	for _, e := range gap.Edges {
		out.Connections = append(out.Connections, Connection{e.From, step.Key, e.Way, e.Branch})
	}
	if gap.Target != "" {
		for _, e := range (&grower{ways: ways}).exits(step) {
			out.Connections = append(out.Connections, Connection{step.Key, gap.Target, e.Way, e.Branch})
		}
	}
	return out
}

// Remove takes a step out, with all that is in its ways. What led to it leads to what comes after.
func (d Definition) Remove(t *Tree, key string) Definition {
	place := t.spots[key]
	gone := append([]string{key}, place.inside...)
	out := Definition{Steps: slices.DeleteFunc(slices.Clone(d.Steps), func(s Step) bool { return slices.Contains(gone, s.Key) })}
	for _, c := range d.Connections {
		switch {
		case slices.Contains(gone, c.From):
			continue
		case c.To == key && place.next != "" && !slices.Contains(gone, place.next):
			c.To = place.next
		case slices.Contains(gone, c.To):
			continue
		}
		out.Connections = append(out.Connections, c)
	}
	return out
}

// Change gives a step another config. Connections along branches that it no longer has are taken away, and those along new ones
// lead to where the ways join.
func (d Definition) Change(t *Tree, key string, config json.RawMessage) Definition {
	out := Definition{Steps: slices.Clone(d.Steps)}
	i := slices.IndexFunc(out.Steps, func(s Step) bool { return s.Key == key })
	if i < 0 {
		return d
	}
	before, now := branchesOf(out.Steps[i]), []string(nil)
	out.Steps[i].Config = config
	now = branchesOf(out.Steps[i])
	for _, c := range d.Connections {
		if c.From != key || c.Type != branch || slices.Contains(now, c.Branch) {
			out.Connections = append(out.Connections, c)
		}
	}
	for _, name := range now {
		if next := t.spots[key].next; !slices.Contains(before, name) && next != "" && out.Steps[i].Type == "split" {
			out.Connections = append(out.Connections, Connection{key, next, branch, name})
		}
	}
	return out
}

// Same tells whether two definitions say the same, however they are written.
func (d Definition) Same(other Definition) bool {
	read := func(d Definition) (value any) {
		if raw, err := json.Marshal(d); err == nil {
			_ = json.Unmarshal(raw, &value) // what was just written can be read
		}
		return value
	}
	return reflect.DeepEqual(read(d), read(other))
}

// NewKey returns a key that no step has, made of a word.
func (d Definition) NewKey(word string) string {
	taken := func(key string) bool { return slices.ContainsFunc(d.Steps, func(s Step) bool { return s.Key == key }) }
	key := word
	for n := 2; taken(key); n++ {
		key = fmt.Sprintf("%s_%d", word, n)
	}
	return key
}

// Before returns the key of the step that leads to one, to go to when that one is gone; empty if none does.
func (d Definition) Before(t *Tree, key string) string {
	gone := append([]string{key}, t.Inside(key)...)
	for _, c := range d.Connections {
		if c.To == key && !slices.Contains(gone, c.From) {
			return c.From
		}
	}
	return ""
}
