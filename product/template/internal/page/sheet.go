package page

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxRules bounds the rules that are copied; a mail with more is a web page.
const maxRules = 1000

// rule says how the elements look that a selector is about.
type rule struct {
	selector     []step
	weight       int
	declarations []declaration
}

// step is one element of a selector.
type step struct {
	element
	// child tells that the element must stand right inside the one before.
	child bool
}

type declaration struct {
	property, value string
	important       bool
}

// is tells whether an element is what the step asks for.
func (s step) is(e element) bool {
	if s.name != "" && s.name != e.name || s.id != "" && s.id != e.id {
		return false
	}
	for _, class := range s.classes {
		if !slices.Contains(e.classes, class) {
			return false
		}
	}
	return true
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// readSheets returns the rules of all style sheets of a page that can be copied, the weakest first. Rules for some screens only,
// and those whose selectors ask for more than names, classes and ids, cannot.
func readSheets(page string) []rule {
	var rules []rule
	tokens := html.NewTokenizer(strings.NewReader(page))
	for inStyle := false; ; {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(a.weight, b.weight) })
			return rules
		case html.TextToken:
			// What a condition chooses cannot be copied: it is not known yet.
			if text := string(tokens.Text()); inStyle && !strings.Contains(text, maskedBlock) {
				rules = readRules(rules, cssComment.ReplaceAllString(text, ""))
			}
		default:
			token := tokens.Token()
			inStyle = kind == html.StartTagToken && token.Data == "style" && !slices.ContainsFunc(token.Attr, func(a html.Attribute) bool {
				return a.Key == "media" && a.Val != "all" && a.Val != "screen"
			})
		}
	}
}

func readRules(rules []rule, css string) []rule {
	for len(rules) < maxRules {
		head, rest, ok := strings.Cut(css, "{")
		if !ok {
			break
		}
		head = strings.TrimSpace(head)
		if i := strings.LastIndexByte(head, ';'); i >= 0 { // an @import or @charset before it
			head = strings.TrimSpace(head[i+1:])
		}
		if strings.HasPrefix(head, "@") {
			css = skipBlock(rest)
			continue
		}
		body, after, closed := strings.Cut(rest, "}")
		if !closed {
			break
		}
		css = after
		declarations := readDeclarations(body)
		for selector := range strings.SplitSeq(head, ",") {
			if steps, weight, ok := readSelector(selector); ok && len(declarations) > 0 {
				rules = append(rules, rule{selector: steps, weight: weight, declarations: declarations})
			}
		}
	}
	return rules
}

// skipBlock returns what follows the block that css is inside of.
func skipBlock(css string) string {
	for depth := 1; depth > 0; {
		i := strings.IndexAny(css, "{}")
		if i < 0 {
			return ""
		}
		if css[i] == '{' {
			depth++
		} else {
			depth--
		}
		css = css[i+1:]
	}
	return css
}

var (
	compound = regexp.MustCompile(`^(\*|[a-zA-Z][a-zA-Z0-9:-]*)?((?:[.#][A-Za-z_-][A-Za-z0-9_-]*)*)$`)
	suffix   = regexp.MustCompile(`[.#][A-Za-z_-][A-Za-z0-9_-]*`)
)

// Weights of selectors (CSS Cascade §6.4.3): an id outweighs any number of classes, a class any number of names.
const (
	idWeight    = 1 << 16
	classWeight = 1 << 8
	maxSteps    = 8
)

func readSelector(text string) (steps []step, weight int, ok bool) {
	child := false
	for _, word := range strings.Fields(strings.ReplaceAll(text, ">", " > ")) {
		if word == ">" {
			if child || len(steps) == 0 {
				return nil, 0, false
			}
			child = true
			continue
		}
		parts := compound.FindStringSubmatch(word)
		if parts == nil || strings.Contains(parts[1], ":") || len(steps) == maxSteps {
			return nil, 0, false
		}
		s := step{child: child}
		child = false
		if parts[1] != "*" && parts[1] != "" {
			s.name = strings.ToLower(parts[1])
			weight++
		}
		for _, name := range suffix.FindAllString(parts[2], -1) {
			if name[0] == '.' {
				s.classes = append(s.classes, name[1:])
				weight += classWeight
				continue
			}
			s.id = name[1:]
			weight += idWeight
		}
		steps = append(steps, s)
	}
	return steps, weight, len(steps) > 0 && !child
}

// readDeclarations reads what stands between the braces of a rule, or in a style attribute.
func readDeclarations(css string) []declaration {
	var list []declaration
	for part := range splitDeclarations(css) {
		property, value, ok := strings.Cut(part, ":")
		property, value = strings.ToLower(strings.TrimSpace(property)), strings.TrimSpace(value)
		if !ok || property == "" || value == "" {
			continue
		}
		list = append(list, declaration{property, value, isImportant(value)})
	}
	return list
}

// splitDeclarations cuts at semicolons, but not inside strings and brackets.
func splitDeclarations(css string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, depth, quote := 0, 0, byte(0)
		for i := range len(css) {
			switch c := css[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '(':
				depth++
			case c == ')':
				depth--
			case c == ';' && depth <= 0:
				if !yield(css[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(css[start:])
	}
}

// isImportant tells whether a value outranks others; there may be space behind the exclamation mark.
func isImportant(value string) bool {
	rest, found := strings.CutSuffix(strings.ToLower(value), "important")
	return found && strings.HasSuffix(strings.TrimRight(rest, " \t\r\n\f"), "!")
}

func onlyImportant(list []declaration) []declaration {
	return slices.DeleteFunc(slices.Clone(list), func(d declaration) bool { return !d.important })
}

// join writes declarations, of each property the last, at the place of the last.
func join(list []declaration) string {
	var parts []string
	seen := map[string]bool{}
	for i := len(list) - 1; i >= 0; i-- {
		if d := list[i]; !seen[d.property] {
			seen[d.property] = true
			parts = append(parts, d.property+":"+d.value)
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, ";")
}
