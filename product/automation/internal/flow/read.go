package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// reader collects what a definition says and what is wrong with it.
type reader struct {
	graph    *Graph
	problems []Problem
	// variables are those of each step, to be checked once the graph is known.
	variables map[string][]Problem
}

func (r *reader) add(path, format string, args ...any) {
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, Problem{path, fmt.Sprintf(format, args...)})
	}
}

// CheckDraft tells what is wrong with a definition that is still being worked on: only what could never become right.
func CheckDraft(d Definition) []Problem {
	r := &reader{}
	r.checkShape(d)
	return r.problems
}

// Read returns the graph of a definition that is sound, or everything that is wrong with it.
func Read(d Definition) (*Graph, []Problem) {
	r := &reader{graph: &Graph{steps: map[string]*Node{}}, variables: map[string][]Problem{}}
	if r.checkShape(d); len(r.problems) > 0 {
		return nil, r.problems
	}
	for i, step := range d.Steps {
		n := &Node{Key: step.Key, Type: step.Type, index: i, next: map[exit]string{}}
		r.graph.steps[step.Key], r.graph.order = n, append(r.graph.order, n)
		r.graph.NeedsContact = r.graph.NeedsContact || contactTypes[step.Type]
		r.readConfig(n, step.Config)
	}
	r.connect(d.Connections)
	r.checkGraph()
	r.checkVariables()
	if len(r.problems) > 0 {
		slices.SortFunc(r.problems, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message)) })
		return nil, r.problems
	}
	return r.graph, nil
}

func (r *reader) checkShape(d Definition) {
	if len(d.Steps) > MaxSteps {
		r.add("steps", "At most %d steps are allowed.", MaxSteps)
		return
	}
	if len(d.Connections) > MaxConnections {
		r.add("connections", "At most %d connections are allowed.", MaxConnections)
		return
	}
	seen := map[string]bool{}
	for i, step := range d.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		switch {
		case !CheckKey(step.Key):
			r.add(at+".key", "Must have 1 to 64 letters, digits, hyphens and underscores.")
		case seen[step.Key]:
			r.add(at+".key", "Another step has this key.")
		}
		seen[step.Key] = true
		if _, known := waysOf[step.Type]; !known {
			r.add(at+".type", "There is no such type of step. GET /automations/_meta lists all of them.")
		}
		if len(step.Config) > maxConfigBytes {
			r.add(at+".config", "Must have at most %d bytes.", maxConfigBytes)
		}
	}
}

func (r *reader) connect(connections []Connection) {
	for i, c := range connections {
		at := fmt.Sprintf("connections[%d]", i)
		from, to := r.graph.steps[c.From], r.graph.steps[c.To]
		way := Way(cmp.Or(string(c.Type), string(Default)))
		switch {
		case from == nil:
			r.add(at+".from", "There is no step with this key.")
			continue
		case to == nil:
			r.add(at+".to", "There is no step with this key.")
			continue
		case to.Type == Trigger:
			r.add(at+".to", "Nothing comes before a trigger.")
			continue
		case !slices.Contains(waysOf[from.Type], way):
			r.add(at+".type", "A step of type %s has no such way out%s.", from.Type, listed(waysOf[from.Type]))
			continue
		case from.Type == Split && !slices.ContainsFunc(from.Config.Branches, func(b Branch) bool { return b.Key == c.Branch }):
			r.add(at+".branch", "The split has no such branch.")
			continue
		}
		out := exit{way, ""}
		if way == AlongABranch {
			out.branch = c.Branch
		}
		if _, taken := from.next[out]; taken {
			r.add(at, "Another connection already leaves the step this way.")
			continue
		}
		from.next[out] = c.To
	}
}

func listed(ways []Way) string {
	if len(ways) == 0 {
		return ""
	}
	names := make([]string, len(ways))
	for i, way := range ways {
		names[i] = string(way)
	}
	return ": use " + strings.Join(names, " or ")
}
