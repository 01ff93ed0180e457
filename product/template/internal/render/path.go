package render

import "strings"

// path names a value: where to begin, and which way to go from there.
type path struct {
	text string
	// up is how many contexts above the current one the path begins.
	up int
	// data is the word after an @: root, index, key, first or last.
	data     string
	segments []string
	// literal is set for true and false, which name themselves.
	literal *bool
}

// isThis tells whether the path leads nowhere: it names the current context.
func (p path) isThis() bool {
	return p.up == 0 && p.data == "" && p.literal == nil && len(p.segments) == 0
}

// notInNames are the characters that a name cannot have without brackets.
const notInNames = " \t\r\n!\"#%&'()*+,;<=>@[\\]^`{|}~"

// parsePath reads a path; problem is a sentence about what is wrong with it.
func parsePath(text string) (p path, problem string) {
	p.text = text
	rest := text
	if name, ok := strings.CutPrefix(rest, "@"); ok {
		return parseData(p, name)
	}
	for rest == ".." || strings.HasPrefix(rest, "../") {
		p.up++
		rest = strings.TrimPrefix(rest[2:], "/")
		if rest == "" {
			return p, limitPath(p)
		}
	}
	switch {
	case rest == "this" || rest == ".":
		return p, limitPath(p)
	case strings.HasPrefix(rest, "this.") || strings.HasPrefix(rest, "this/"):
		rest = rest[len("this."):]
	case strings.HasPrefix(rest, "./"):
		rest = rest[len("./"):]
	}
	return p.descend(rest)
}

func parseData(p path, name string) (path, string) {
	for strings.HasPrefix(name, "../") {
		p.up++
		name = name[len("../"):]
	}
	word, rest, deeper := strings.Cut(strings.ReplaceAll(name, "/", "."), ".")
	switch p.data = word; {
	case word == "root" && p.up == 0 && deeper:
		return p.descend(rest)
	case word == "root" && p.up == 0:
		return p, ""
	case (word == "index" || word == "key" || word == "first" || word == "last") && !deeper:
		return p, limitPath(p)
	}
	return p, "There is no @" + name + ": use @index, @key, @first, @last or @root."
}

// descend reads the names of a path, which dots or slashes separate.
func (p path) descend(rest string) (path, string) {
	for more := true; more; {
		var name string
		if inside, ok := strings.CutPrefix(rest, "["); ok {
			end := strings.IndexByte(inside, ']')
			if end < 0 {
				return p, "The bracket in " + p.text + " is not closed."
			}
			name, rest = inside[:end], inside[end+1:]
			if rest != "" && rest[0] != '.' && rest[0] != '/' {
				return p, badPath(p.text)
			}
		} else {
			end := strings.IndexAny(rest, "./")
			if end < 0 {
				end = len(rest)
			}
			name, rest = rest[:end], rest[end:]
			if name == "" || name == "this" || strings.ContainsAny(name, notInNames) {
				return p, badPath(p.text)
			}
		}
		if more = rest != ""; more {
			rest = rest[1:]
		}
		if p.segments = append(p.segments, name); len(name) > maxSegment {
			return p, "A name in the path is too long."
		}
		if problem := limitPath(p); problem != "" {
			return p, problem
		}
	}
	return p, ""
}

func limitPath(p path) string {
	if len(p.segments) > maxSegments || p.up > maxDepth {
		return "The path is too long."
	}
	return ""
}

func badPath(text string) string {
	if strings.ContainsAny(text, " \t\r\n(") {
		return "Only names can stand between braces; there are no helpers to call: " + shorten(text) + "."
	}
	return "This is not a name: " + shorten(text) + "."
}

// shorten keeps a message readable, whatever the author wrote.
func shorten(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
