package render

import "strings"

type nodeKind int

const (
	textNode nodeKind = iota
	outputNode
	ifNode
	unlessNode
	eachNode
	withNode
	sectionNode
)

var blocks = map[string]nodeKind{"if": ifNode, "unless": unlessNode, "each": eachNode, "with": withNode}

// node is a piece of a program.
type node struct {
	kind nodeKind
	at   int
	text string // of a text
	// before and after are where in a page the text most likely begins, and where it then ends.
	before, after place

	path        path
	raw         bool
	fallback    string
	hasFallback bool

	body, otherwise []node
}

type parser struct {
	source string
	tokens []token
	next   int
	depth  int
	// scopes tells of each context, from the outermost, whether its names are variables of the template.
	scopes []bool
	names  []string
	seen   map[string]bool
}

func (p *parser) refuse(at int, format string, args ...any) error {
	return syntaxError(p.source, at, format, args...)
}

// all reads the whole source.
func (p *parser) all() ([]node, error) {
	nodes, err := p.sequence()
	if err != nil {
		return nil, err
	}
	if p.next < len(p.tokens) {
		t := p.tokens[p.next]
		if t.kind == elseToken {
			return nil, p.refuse(t.at, "{{else}} is not inside a block.")
		}
		return nil, p.refuse(t.at, "{{/%s}} closes a block that was not opened.", shorten(t.text))
	}
	return nodes, nil
}

// sequence reads nodes up to an else or the end of a block, which it leaves.
func (p *parser) sequence() ([]node, error) {
	var nodes []node
	for ; p.next < len(p.tokens); p.next++ {
		t := p.tokens[p.next]
		switch t.kind {
		case textToken:
			if t.text != "" {
				nodes = append(nodes, node{kind: textNode, at: t.at, text: t.text})
			}
		case outputToken, rawToken:
			n, err := p.output(t)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		case openToken, inverseToken:
			n, err := p.block(t)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, n)
		case elseToken, closeToken:
			return nodes, nil
		}
	}
	return nodes, nil
}

func (p *parser) output(t token) (node, error) {
	n := node{kind: outputNode, at: t.at, raw: t.kind == rawToken}
	name, fallback, found := strings.Cut(t.text, "|")
	if found {
		n.hasFallback, n.fallback = true, unquote(strings.TrimSpace(fallback))
	}
	var problem string
	if n.path, problem = parsePath(strings.TrimSpace(name)); problem != "" {
		return n, p.refuse(t.at, "%s", problem)
	}
	p.mention(n.path)
	return n, nil
}

// unquote takes quotes away that enclose a fallback.
func unquote(text string) string {
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

// block reads a block with its end. The token of its beginning is the current one; the one of its end will be.
func (p *parser) block(open token) (node, error) {
	n, name, err := p.opened(open)
	if err != nil {
		return n, err
	}
	if p.next == len(p.tokens) {
		return n, p.refuse(open.at, "The block %s is never closed: {{/%s}} is missing.", shorten(name), shorten(name))
	}
	end := p.tokens[p.next]
	if end.kind == elseToken {
		return n, p.refuse(end.at, "The block %s has more than one {{else}}.", shorten(name))
	}
	if end.text != name {
		return n, p.refuse(end.at, "{{/%s}} stands where {{/%s}} is expected.", shorten(end.text), shorten(name))
	}
	return n, nil
}

// opened reads a block up to its end, which it leaves. name is what its end must say.
func (p *parser) opened(open token) (n node, name string, err error) {
	if p.depth++; p.depth > maxDepth {
		return n, "", p.refuse(open.at, "Blocks are nested more than %d deep.", maxDepth)
	}
	defer func() { p.depth-- }()
	if n, name, err = p.head(open); err != nil {
		return n, name, err
	}
	p.next++
	enters := n.kind == eachNode || (n.kind == withNode || n.kind == sectionNode) && !n.path.isThis()
	if enters && open.kind == openToken {
		p.scopes = append(p.scopes, false)
	}
	n.body, err = p.sequence()
	if enters && open.kind == openToken {
		p.scopes = p.scopes[:len(p.scopes)-1]
	}
	if err != nil {
		return n, name, err
	}
	if p.next < len(p.tokens) && p.tokens[p.next].kind == elseToken {
		if n.otherwise, err = p.alternative(p.tokens[p.next]); err != nil {
			return n, name, err
		}
	}
	if open.kind == inverseToken {
		n.body, n.otherwise = n.otherwise, n.body
	}
	return n, name, nil
}

// alternative reads what follows an else; else if begins a block that ends where the one around it does.
func (p *parser) alternative(t token) ([]node, error) {
	if t.text != "" {
		t.kind = openToken
		n, _, err := p.opened(t)
		return []node{n}, err
	}
	p.next++
	return p.sequence()
}

// head reads what a block is and what it is about.
func (p *parser) head(open token) (n node, name string, err error) {
	name, argument := cutSpace(open.text)
	kind, known := blocks[name]
	switch {
	case known && argument == "":
		return n, name, p.refuse(open.at, "%s needs a name: {{#%s name}}.", name, name)
	case !known && argument != "":
		return n, name, p.refuse(open.at, "There is no block %s: use if, unless, each or with.", shorten(name))
	case !known:
		kind, argument = sectionNode, name
	}
	n = node{kind: kind, at: open.at}
	var problem string
	if n.path, problem = parsePath(argument); problem != "" {
		return n, name, p.refuse(open.at, "%s", problem)
	}
	if yes := argument == "true"; known && (yes || argument == "false") {
		n.path.literal = &yes
		return n, name, nil
	}
	p.mention(n.path)
	return n, name, nil
}

// mention notes the variable that a path begins with, if it begins with one.
func (p *parser) mention(at path) {
	scope := len(p.scopes) - 1 - at.up
	if at.data == "root" {
		scope = 0
	} else if at.data != "" {
		return
	}
	if scope < 0 || !p.scopes[scope] || len(at.segments) == 0 || p.seen[at.segments[0]] {
		return
	}
	p.seen[at.segments[0]] = true
	p.names = append(p.names, at.segments[0])
}
