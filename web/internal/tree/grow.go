package tree

import (
	"encoding/json"
	"slices"
	"strings"
)

// grower draws a definition.
type grower struct {
	Tree
	ways     Ways
	describe func(Step, int) Face
	steps    map[string]Step
	index    map[string]int
	next     map[Edge]string
	comers   map[string]int
	drawn    map[string]bool
}

// Grow draws a definition. describe says how a step looks.
func Grow(d Definition, ways Ways, describe func(step Step, index int) Face) *Tree {
	g := &grower{Tree: Tree{gaps: map[string]*Gap{}, spots: map[string]spot{}}, ways: ways, describe: describe, steps: map[string]Step{}, index: map[string]int{},
		next: map[Edge]string{}, comers: map[string]int{}, drawn: map[string]bool{}}
	for i, s := range d.Steps {
		g.steps[s.Key], g.index[s.Key] = s, i
	}
	for _, c := range d.Connections {
		_, from := g.steps[c.From]
		_, to := g.steps[c.To]
		if from && to {
			g.next[edgeOf(c)] = c.To
			g.comers[c.To]++
		}
	}
	g.plant(d)
	return &g.Tree
}

func edgeOf(c Connection) Edge {
	e := Edge{c.From, c.Type, c.Branch}
	if e.Way == "" {
		e.Way = "default"
	}
	if e.Way != branch {
		e.Branch = ""
	}
	return e
}

// plant makes the roots: triggers that lead to the same step stand together, and what nothing leads to stands alone.
func (g *grower) plant(d Definition) {
	for _, s := range d.Steps {
		if s.Type != trigger || g.drawn[s.Key] {
			continue
		}
		first := g.next[Edge{From: s.Key, Way: "default"}]
		root := Root{}
		var edges []Edge
		for _, other := range d.Steps {
			if other.Type == trigger && !g.drawn[other.Key] && (other.Key == s.Key || first != "" && g.next[Edge{From: other.Key, Way: "default"}] == first) {
				root.Triggers = append(root.Triggers, g.node(other))
				edges = append(edges, Edge{From: other.Key, Way: "default"})
				g.spots[other.Key] = spot{next: first}
			}
		}
		if n := len(root.Triggers); n > 1 {
			root.Merge = merge(slices.Repeat([]int{1}, n), slices.Repeat([]bool{true}, n))
		}
		root.Body, _ = g.sequence(edges, first, "", nil)
		g.Roots = append(g.Roots, root)
	}
	for _, s := range d.Steps {
		if !g.drawn[s.Key] {
			root := Root{Lost: true}
			root.Body, _ = g.sequence(nil, s.Key, "", nil)
			g.Roots = append(g.Roots, root)
		}
	}
}

func (g *grower) node(s Step) *Node {
	g.drawn[s.Key] = true
	return &Node{Key: s.Key, Index: g.index[s.Key], Face: g.describe(s, g.index[s.Key])}
}

// ending is where a sequence leads: along edges to a step, to the end of everything, or nowhere because it is closed.
type ending struct {
	edges  []Edge
	at     string
	closed bool
}

// sequence draws what comes along edges to a step, until the step at which to stop. What it draws is noted inside.
func (g *grower) sequence(edges []Edge, key, stop string, inside *[]string) (Sequence, ending) {
	s := Sequence{Units: 1}
	for {
		if len(edges) > 0 {
			s.Items = append(s.Items, g.gap(edges, key))
		}
		if key == "" || key == stop {
			if key == "" && stop == "" && inside == nil {
				s.Items = append(s.Items, Item{End: true})
			}
			return s, ending{edges: edges, at: key}
		}
		if g.drawn[key] {
			s.Items = append(s.Items, Item{Jump: &Jump{key, g.describe(g.steps[key], g.index[key]).Title}})
			return s, ending{closed: true}
		}
		step := g.steps[key]
		s.Items = append(s.Items, Item{Node: g.node(step)})
		if inside != nil {
			*inside = append(*inside, key)
		}
		exits := g.exits(step)
		if len(exits) == 0 {
			return s, ending{closed: true}
		}
		if len(exits) == 1 {
			edges, key = exits, g.next[exits[0]]
			g.spots[step.Key] = spot{next: key}
			continue
		}
		fork, end := g.fork(step, exits, stop, inside)
		s.Items, s.Units = append(s.Items, Item{Fork: fork}), max(s.Units, fork.Units)
		if end.closed {
			return s, end
		}
		edges, key = end.edges, end.at
	}
}

// fork draws the ways out of a step. Ways that go on lead to the join, or to where the sequence around them stops, or to the end.
func (g *grower) fork(step Step, exits []Edge, stop string, outside *[]string) (*Fork, ending) {
	join := g.join(exits, stop)
	until := join
	if join == "" {
		until = stop
	}
	f := &Fork{}
	inside := []string{}
	ends := make([]ending, len(exits))
	for i, exit := range exits {
		w := Way{Label: label(exit)}
		w.Body, ends[i] = g.sequence([]Edge{exit}, g.next[exit], until, &inside)
		f.Ways = append(f.Ways, w)
	}
	goal := until
	if !slices.ContainsFunc(ends, func(e ending) bool { return !e.closed && e.at == goal }) {
		goal = "" // nothing goes on: all that is left is the end
	}
	end := ending{at: goal, closed: true}
	units, open := make([]int, len(exits)), make([]bool, len(exits))
	for i := range f.Ways {
		w := &f.Ways[i]
		w.Open = !ends[i].closed && ends[i].at == goal
		if w.Open {
			end.edges, end.closed = append(end.edges, ends[i].edges...), false
		} else if !ends[i].closed {
			w.Body.Items = append(w.Body.Items, Item{End: true})
		}
		units[i], open[i] = w.Body.Units, w.Open
	}
	if goal == "" && count(open) == 1 { // one way alone has nothing to join: it ends where it is
		i := slices.Index(open, true)
		f.Ways[i].Body.Items = append(f.Ways[i].Body.Items, Item{End: true})
		f.Ways[i].Open, open[i], end = false, false, ending{closed: true}
	}
	f.Units, f.Split, f.Merge = sum(units), split(units), merge(units, open)
	g.spots[step.Key] = spot{next: goal, inside: inside}
	if outside != nil {
		*outside = append(*outside, inside...)
	}
	return f, end
}

func count(open []bool) int {
	n := 0
	for _, is := range open {
		if is {
			n++
		}
	}
	return n
}

// exits are the ways out of a step. A failure only has a way of its own if somebody has made one; else the run fails.
func (g *grower) exits(s Step) []Edge {
	var all []Edge
	for _, way := range g.ways[s.Type] {
		switch way {
		case branch:
			for _, key := range branchesOf(s) {
				all = append(all, Edge{s.Key, way, key})
			}
		case failed:
			if g.next[Edge{From: s.Key, Way: way}] != "" {
				all = append(all, Edge{From: s.Key, Way: way})
			}
		default:
			all = append(all, Edge{From: s.Key, Way: way})
		}
	}
	return all
}

func branchesOf(s Step) []string {
	var config struct {
		Branches []struct {
			Key string `json:"key"`
		} `json:"branches"`
	}
	if json.Unmarshal(s.Config, &config) != nil {
		return nil
	}
	var keys []string
	for _, b := range config.Branches {
		if !slices.Contains(keys, b.Key) {
			keys = append(keys, b.Key)
		}
	}
	return keys
}

func label(e Edge) string {
	names := map[string]string{"condition_met": "Yes", "condition_not_met": "No", "event_received": "It came", "timeout": "Too late", "error": "It failed", "default": "It worked"}
	if name := names[e.Way]; name != "" {
		return name
	}
	return "Branch " + strings.TrimSpace(e.Branch)
}
