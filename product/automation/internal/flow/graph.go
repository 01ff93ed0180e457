package flow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// checkGraph looks for what no run could pass: nothing to begin with, steps that nobody comes to, and circles that turn fast.
func (r *reader) checkGraph() {
	triggers := r.graph.Triggers()
	if len(triggers) == 0 {
		r.add("steps", "At least one trigger is required.")
		return
	}
	reached := map[string]bool{}
	var walk func(n *Node)
	walk = func(n *Node) {
		if n == nil || reached[n.Key] {
			return
		}
		reached[n.Key] = true
		for _, to := range n.next {
			walk(r.graph.steps[to])
		}
	}
	for _, trigger := range triggers {
		walk(trigger)
	}
	for i, n := range r.graph.order {
		if !reached[n.Key] {
			r.add(fmt.Sprintf("steps[%d]", i), "No trigger leads to this step. Connect it or remove it.")
		}
	}
	_, r.graph.Cyclic = r.graph.cycle(func(*Node) bool { return false })
	if at, found := r.graph.cycle(slow); found {
		r.add(fmt.Sprintf("steps[%d]", at), "This step is part of a cycle, which needs a delay of at least 1 hour.")
	}
}

// slow tells whether a step keeps a circle from turning fast.
func slow(n *Node) bool { return n.Type == Delay && n.Config.Duration >= minCycleDelay }

// cycle returns the index of a step in a circle that has no step to be left out; of several circles it always finds the same.
func (g *Graph) cycle(leftOut func(*Node) bool) (int, bool) {
	const (
		open = 1
		done = 2
	)
	state := map[string]int{}
	found, at := false, 0
	var walk func(n *Node)
	walk = func(n *Node) {
		if found || leftOut(n) || state[n.Key] == done {
			return
		}
		if state[n.Key] == open {
			found, at = true, n.index
			return
		}
		state[n.Key] = open
		for _, out := range slices.SortedFunc(maps.Keys(n.next), compareExits) {
			walk(g.steps[n.next[out]])
		}
		state[n.Key] = done
	}
	for _, n := range g.order {
		walk(n)
	}
	return at, found
}

func compareExits(a, b exit) int {
	return cmp.Or(cmp.Compare(a.way, b.way), cmp.Compare(a.branch, b.branch))
}

// before returns the keys of all steps that a run can have passed when it comes to a step.
func (g *Graph) before(key string) map[string]bool {
	back := map[string][]string{}
	for _, n := range g.order {
		for _, to := range n.next {
			back[to] = append(back[to], n.Key)
		}
	}
	passed := map[string]bool{}
	for queue := back[key]; len(queue) > 0; queue = queue[1:] {
		if one := queue[0]; !passed[one] {
			passed[one] = true
			queue = append(queue, back[one]...)
		}
	}
	return passed
}
