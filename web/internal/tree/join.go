package tree

import (
	"fmt"
	"slices"
)

// join finds where ways meet again: the first step that at least two of them lead to. It is empty if they never do.
func (g *grower) join(exits []Edge, stop string) string {
	ways := map[string]int{}
	var order []string
	for _, exit := range exits {
		for _, key := range g.ahead(g.next[exit], stop) {
			if ways[key]++; ways[key] == 1 {
				order = append(order, key)
			}
		}
	}
	met := slices.DeleteFunc(order, func(key string) bool { return ways[key] < 2 })
	for _, key := range met {
		after := g.ahead(key, stop)
		if !slices.ContainsFunc(met, func(other string) bool { return !slices.Contains(after, other) }) {
			return key
		}
	}
	return ""
}

// ahead lists a step and all that a run can come to after it, as far as it is not drawn yet. What is behind the place where the
// sequence stops is not looked at.
func (g *grower) ahead(key, stop string) []string {
	var found []string
	for todo := []string{key}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if at == "" || g.drawn[at] || slices.Contains(found, at) {
			continue
		}
		found = append(found, at)
		if at == stop {
			continue
		}
		for _, exit := range g.exits(g.steps[at]) {
			todo = append(todo, g.next[exit])
		}
	}
	return found
}

// gap makes the place along edges to a step. Where ways end, the same place comes twice; then only a line is drawn.
func (g *grower) gap(edges []Edge, key string) Item {
	gap := &Gap{Edges: edges, Target: key, Shared: g.comers[key] > len(edges)}
	before := "the ways that join"
	if len(edges) == 1 {
		e := edges[0]
		gap.ID = e.From + ":" + e.Way + ":" + e.Branch
		before = g.title(e.From)
		if len(g.exits(g.steps[e.From])) > 1 {
			before += " (" + label(e) + ")"
		}
	} else {
		gap.ID = fmt.Sprintf("after:%s:%s:%s:%d", edges[0].From, edges[0].Way, edges[0].Branch, len(edges))
	}
	if g.gaps[gap.ID] != nil {
		return Item{Line: true}
	}
	gap.Label = "Add a step between " + before + " and the end"
	if key != "" {
		gap.Label = "Add a step between " + before + " and " + g.title(key)
	}
	g.gaps[gap.ID] = gap
	return Item{Gap: gap}
}

func (g *grower) title(key string) string { return g.describe(g.steps[key], g.index[key]).Title }
