package floorplan

import (
	"fmt"
	"strings"
)

// plan is floorplan.txt: which line each name stands on, and what is forbidden besides.
type plan struct {
	lines map[string]int
	never []ban
}

// ban forbids every package under one prefix to import any under another.
type ban struct {
	from, to string
}

func parsePlan(text string) (plan, error) {
	p := plan{lines: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "never" {
			if len(words) != 4 || words[2] != "->" {
				return plan{}, fmt.Errorf("line %d: want \"never from/ -> to/\", have %q", i+1, line)
			}
			p.never = append(p.never, ban{from: strings.Trim(words[1], "/"), to: strings.Trim(words[3], "/")})
			continue
		}
		for _, name := range words {
			if p.lines[name] != 0 {
				return plan{}, fmt.Errorf("line %d: %s already stands on line %d", i+1, name, p.lines[name])
			}
			p.lines[name] = i + 1
		}
	}
	return p, nil
}

// owner returns the name in the plan that speaks for a directory: the longest that is the directory or above it.
func (p plan) owner(dir string) (string, bool) {
	for name := dir; name != ""; {
		if p.lines[name] != 0 {
			return name, true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			break
		}
		name = name[:i]
	}
	return "", false
}

func under(dir, prefix string) bool { return dir == prefix || strings.HasPrefix(dir, prefix+"/") }
