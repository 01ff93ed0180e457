package render

import "strings"

type tokenKind int

const (
	textToken    tokenKind = iota
	outputToken            // {{x}}
	rawToken               // {{{x}}} and {{&x}}
	openToken              // {{#x}}
	inverseToken           // {{^x}}
	elseToken              // {{else}}, {{else if x}} and {{^}}
	closeToken             // {{/x}}
	commentToken           // {{! x}}
)

// token is a piece of a source: text, or what stands between braces.
type token struct {
	kind tokenKind
	text string
	at   int
	// trimBefore and trimAfter tell that the author has asked for no space there.
	trimBefore, trimAfter bool
}

// tokenize cuts a source into text and tags.
func tokenize(source string) ([]token, error) {
	var tokens []token
	text := func(from, to int) {
		if from < to {
			tokens = append(tokens, token{kind: textToken, text: source[from:to], at: from})
		}
	}
	for at := 0; at < len(source); {
		open := strings.Index(source[at:], "{{")
		if open < 0 {
			text(at, len(source))
			break
		}
		open += at
		if len(tokens) > maxTags {
			return nil, syntaxError(source, open, "The source has more than %d tags.", maxTags/2)
		}
		if open > at && source[open-1] == '\\' {
			text(at, open-1)
			if open-1 == at || source[open-2] != '\\' { // \{{ is two braces, \\{{ a backslash before a tag
				text(open, open+2)
				at = open + 2
				continue
			}
		} else {
			text(at, open)
		}
		tag, end, err := readTag(source, open)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, tag)
		at = end
	}
	trim(tokens)
	return tokens, nil
}

// readTag reads the tag that begins at open, and tells where it ends.
func readTag(source string, open int) (t token, end int, err error) {
	t.at = open
	rest := source[open+2:]
	if strings.HasPrefix(rest, "~") {
		t.trimBefore, rest = true, rest[1:]
	}
	opening, closing := "", "}}"
	switch {
	case strings.HasPrefix(rest, "{{"):
		return t, 0, syntaxError(source, open, "Blocks in four braces are not supported.")
	case strings.HasPrefix(rest, "{"):
		opening, closing = "{", "}"
	case strings.HasPrefix(rest, "!--"):
		opening, closing = "!--", "--"
	}
	inside, after, closed := strings.Cut(rest[len(opening):], closing)
	if opening != "" && closed {
		if strings.HasPrefix(after, "~") {
			t.trimAfter, after = true, after[1:]
		}
		after, closed = strings.CutPrefix(after, "}}")
		if !closed && opening == "!--" {
			return readLongComment(source, t, rest)
		}
	}
	if !closed {
		missing := map[string]string{"": "}}", "{": "}}}", "!--": "--}}"}[opening]
		return t, 0, syntaxError(source, open, "The tag is not closed: %s is missing.", missing)
	}
	end = len(source) - len(after)
	if opening == "" && strings.HasSuffix(inside, "~") {
		t.trimAfter, inside = true, inside[:len(inside)-1]
	}
	if opening == "!--" || strings.HasPrefix(inside, "!") && opening == "" {
		t.kind = commentToken
		return t, end, nil
	}
	if len(inside) > maxTag {
		return t, 0, syntaxError(source, open, "The tag has more than %d characters.", maxTag)
	}
	if opening == "{" {
		t.kind, t.text = rawToken, strings.TrimSpace(inside)
		return t, end, nil
	}
	return classify(source, t, strings.TrimSpace(inside), end)
}

// readLongComment goes on where a comment has two dashes of its own.
func readLongComment(source string, t token, rest string) (token, int, error) {
	t.kind = commentToken
	for at := 0; ; {
		dashes := strings.Index(rest[at:], "--")
		if dashes < 0 {
			return t, 0, syntaxError(source, t.at, "The tag is not closed: --}} is missing.")
		}
		at += dashes + 1
		after := rest[at+1:]
		if after, t.trimAfter = strings.CutPrefix(after, "~"); strings.HasPrefix(after, "}}") {
			return t, len(source) - len(after) + 2, nil
		}
	}
}

// classify finds out what a tag in two braces is.
func classify(source string, t token, inside string, end int) (token, int, error) {
	refuse := func(format string, args ...any) (token, int, error) {
		return t, 0, syntaxError(source, t.at, format, args...)
	}
	if inside == "" {
		return refuse("The tag is empty.")
	}
	t.text = strings.TrimSpace(inside[1:])
	switch inside[0] {
	case '#':
		t.kind = openToken
	case '^':
		t.kind = inverseToken
		if t.text == "" {
			t.kind = elseToken
		}
	case '/':
		t.kind = closeToken
	case '&':
		t.kind = rawToken
	case '>':
		return refuse("Partials are not supported.")
	case '*':
		return refuse("Decorators are not supported.")
	default:
		t.kind, t.text = outputToken, inside
		if word, more := cutSpace(inside); word == "else" {
			t.kind, t.text = elseToken, more
		}
	}
	return t, end, nil
}

func cutSpace(text string) (first, rest string) {
	i := strings.IndexAny(text, " \t\r\n")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

const space = " \t\r\n"

// trim takes away the space that authors do not mean: where they say so with ~, and the rest of a line on which a block begins
// or ends alone. All lines are looked at before any is cut.
func trim(tokens []token) {
	type cut struct{ before, after bool }
	alone := make([]cut, len(tokens))
	for i, t := range tokens {
		if t.kind < openToken || !startsLine(tokens, i) || !endsLine(tokens, i) {
			continue
		}
		alone[i] = cut{true, true}
	}
	for i, t := range tokens {
		if t.kind == textToken {
			continue
		}
		if i > 0 && tokens[i-1].kind == textToken {
			before := &tokens[i-1].text
			if alone[i].before {
				*before = strings.TrimRight(*before, " \t")
			}
			if t.trimBefore {
				*before = strings.TrimRight(*before, space)
			}
		}
		if i+1 < len(tokens) && tokens[i+1].kind == textToken {
			after := &tokens[i+1].text
			if alone[i].after {
				*after = strings.TrimLeft(*after, " \t")
				*after = strings.TrimPrefix(strings.TrimPrefix(*after, "\r"), "\n")
			}
			if t.trimAfter {
				*after = strings.TrimLeft(*after, space)
			}
		}
	}
}

func startsLine(tokens []token, i int) bool {
	if i == 0 {
		return true
	}
	if tokens[i-1].kind != textToken {
		return false
	}
	rest := strings.TrimRight(tokens[i-1].text, " \t")
	return strings.HasSuffix(rest, "\n") || rest == "" && i == 1
}

func endsLine(tokens []token, i int) bool {
	if i == len(tokens)-1 {
		return true
	}
	if tokens[i+1].kind != textToken {
		return false
	}
	rest := strings.TrimLeft(tokens[i+1].text, " \t")
	return strings.HasPrefix(strings.TrimPrefix(rest, "\r"), "\n") || rest == "" && i == len(tokens)-2
}
