package flow

import (
	"strings"
)

// note remembers the variables inside a value of a step.
func (r *reader) note(n *Node, path string, value any) {
	deep := visit(value, path, 0, func(at, name string) {
		r.variables[n.Key] = append(r.variables[n.Key], Problem{at, name})
	})
	if !deep {
		r.add(path, "Must be nested at most %d deep.", maxValueDepth)
	}
}

// checkVariables looks at all variables once it is known what comes before what.
func (r *reader) checkVariables() {
	for _, n := range r.graph.order {
		if len(r.variables[n.Key]) == 0 {
			continue
		}
		passed := r.graph.before(n.Key)
		for _, v := range r.variables[n.Key] {
			r.checkVariable(v.Path, v.Message, passed)
		}
	}
}

func (r *reader) checkVariable(path, name string, passed map[string]bool) {
	parts := strings.Split(name, ".")
	switch {
	case !variableForm.MatchString(name):
		r.add(path, "Not a variable. Write event.x, contact.x or steps.key.output.x.")
	case parts[0] == "event":
	case parts[0] == "contact":
		r.checkContactVariable(path, parts)
	case parts[0] == "steps":
		step := r.graph.steps[parts[1]]
		switch {
		case step == nil:
			r.add(path, "There is no step %q.", parts[1])
		case !passed[parts[1]]:
			r.add(path, "The step %q does not come before this one.", parts[1])
		case len(parts) < 3 || parts[2] != "output":
			r.add(path, "Only the output of a step can be used: steps.%s.output.", parts[1])
		}
	default:
		r.add(path, "There is no variable %q. Variables begin with event, contact or steps.", parts[0])
	}
}

func (r *reader) checkContactVariable(path string, parts []string) {
	r.graph.NeedsContact = true
	if contactFields[parts[1]] && len(parts) == 2 {
		return
	}
	name, ok := PropertyOf(strings.Join(parts, "."))
	if !ok {
		r.add(path, "There is no such field of a contact.")
		return
	}
	r.graph.Mentions = append(r.graph.Mentions, Mention{Kind: AProperty, Name: name, Path: path})
}

// PropertyOf returns the property that a variable stands for: contact.properties.x, or contact.x if x is no field of every contact.
func PropertyOf(variable string) (key string, ok bool) {
	parts := strings.Split(variable, ".")
	switch {
	case parts[0] != "contact":
	case len(parts) == 2 && !contactFields[parts[1]]:
		return parts[1], true
	case len(parts) == 3 && parts[1] == "properties":
		return parts[2], true
	}
	return "", false
}
