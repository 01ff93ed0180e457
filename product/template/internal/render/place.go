package render

import (
	"html"
	"strings"
)

// state is what a byte of a page would be part of.
type state uint8

const (
	inText        state = iota
	inTagOpen           // after <
	inTagName           // after <x or </x
	inTag               // between attributes
	inName              // of an attribute
	afterName           // before a = that may come
	beforeValue         // after =
	inDouble            // "value"
	inSingle            // 'value'
	inBare              // value without quotes
	inDeclaration       // after <!
	inBogus             // up to the next >
	inComment
	inRaw     // script, style, title, textarea: up to their end tag
	inRawLess // after a < in there
)

// meaning is what the value of an attribute is used for.
type meaning uint8

const (
	plainValue meaning = iota
	urlValue
	styleValue
	scriptValue
	pageValue // a page within the page: srcdoc
)

// scheme is what is known of how a URL begins.
type scheme uint8

const (
	schemeOpen scheme = iota
	schemeHarmless
	schemeHarmful
)

// place is where in a page the output stands. It follows the tokenizer of HTML closely enough to know which characters end the
// current piece. What Outlook reads in conditional comments counts as page.
type place struct {
	state   state
	meaning meaning
	scheme  scheme
	closing bool // the tag is an end tag
	// raw is the element whose content is not markup.
	raw string
	// word is what has been read of a name, of a declaration, of the end of a comment or of a URL without its scheme.
	word string
}

// maxWord is longer than every name that matters.
const maxWord = 32

var urlAttributes = map[string]bool{"href": true, "src": true, "action": true, "formaction": true, "background": true, "data": true,
	"poster": true, "cite": true, "longdesc": true, "xlink:href": true, "lowsrc": true, "dynsrc": true, "ping": true, "manifest": true,
	"codebase": true, "classid": true, "usemap": true, "profile": true}

var rawElements = map[string]bool{"script": true, "style": true, "title": true, "textarea": true}

// foresee notes with every text where it stands if all that comes before it is there, so that most texts need be read only once.
func foresee(nodes []node, at place) place {
	for i := range nodes {
		n := &nodes[i]
		switch n.kind {
		case textNode:
			n.before, n.after = at, at.advance(n.text)
			at = n.after
		case outputNode:
			at = at.advance("x") // any word will do
		default:
			foresee(n.otherwise, at)
			at = foresee(n.body, at)
		}
	}
	return at
}

// advance returns the place after some more of the page.
func (p place) advance(s string) place {
	for s != "" {
		s = p.consume(s)
	}
	return p
}

const htmlSpace = " \t\n\f\r"

// consume reads one piece of s and returns the rest.
func (p *place) consume(s string) string {
	switch p.state {
	case inText:
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return ""
		}
		*p = place{state: inTagOpen}
		return s[i+1:]
	case inTagOpen:
		return p.tagOpen(s)
	case inTagName:
		i := p.readWord(s, htmlSpace+"/>")
		if i < len(s) {
			p.raw = ""
			if !p.closing && rawElements[p.word] {
				p.raw = p.word
			}
			p.state = inTag
		}
		return s[i:]
	case inTag, inName, afterName, beforeValue:
		return p.attribute(s)
	case inDouble:
		return p.value(s, "\"")
	case inSingle:
		return p.value(s, "'")
	case inBare:
		return p.value(s, htmlSpace+">")
	case inDeclaration, inBogus, inComment:
		return p.declaration(s)
	}
	return p.rawText(s)
}

func (p *place) tagOpen(s string) string {
	switch c := s[0]; {
	case c == '!':
		p.state = inDeclaration
	case c == '?':
		p.state = inBogus
	case c == '/' && !p.closing:
		p.closing = true
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		p.state, p.word = inTagName, ""
		return s
	case p.closing:
		p.state = inBogus
		return s
	default:
		p.state = inText
		return s
	}
	return s[1:]
}

// readWord reads up to one of the ends and returns where that is.
func (p *place) readWord(s, ends string) int {
	i := strings.IndexAny(s, ends)
	if i < 0 {
		i = len(s)
	}
	if room := maxWord - len(p.word); room > 0 {
		p.word += strings.ToLower(s[:min(i, room)])
	}
	return i
}

// attribute reads what stands between the name of a tag and its end.
func (p *place) attribute(s string) string {
	if p.state == inName {
		i := p.readWord(s, htmlSpace+"/>=")
		if i < len(s) {
			p.state = afterName
		}
		return s[i:]
	}
	c := s[0]
	switch {
	case strings.IndexByte(htmlSpace, c) >= 0:
	case c == '>':
		p.endTag()
	case p.state == beforeValue:
		p.beginValue(c)
		if c != '"' && c != '\'' {
			return s
		}
	case c == '/':
		p.state = inTag
	case c == '=' && p.state == afterName:
		p.state = beforeValue
	default:
		p.state, p.word = inName, ""
		if c == '=' { // at its beginning this is part of the name
			p.word = "="
			break
		}
		return s
	}
	return s[1:]
}

func (p *place) endTag() {
	if p.raw != "" {
		*p = place{state: inRaw, raw: p.raw}
		return
	}
	*p = place{}
}

func (p *place) beginValue(quote byte) {
	p.meaning = plainValue
	switch {
	case urlAttributes[p.word]:
		p.meaning = urlValue
	case p.word == "style":
		p.meaning = styleValue
	case p.word == "srcdoc":
		p.meaning = pageValue
	case strings.HasPrefix(p.word, "on"):
		p.meaning = scriptValue
	}
	p.word, p.scheme = "", schemeOpen
	switch quote {
	case '"':
		p.state = inDouble
	case '\'':
		p.state = inSingle
	default:
		p.state = inBare
	}
}

func (p *place) value(s, ends string) string {
	i := strings.IndexAny(s, ends)
	inside := s
	if i >= 0 {
		inside = s[:i]
	}
	if p.meaning == urlValue && p.scheme == schemeOpen {
		p.word, p.scheme = readScheme(p.word, html.UnescapeString(inside))
	}
	if i < 0 {
		return ""
	}
	quoted := s[i] == '"' || s[i] == '\''
	p.state, p.meaning, p.scheme, p.word = inTag, plainValue, schemeOpen, ""
	if quoted {
		i++
	}
	return s[i:]
}

const conditional = "--[if"

// declaration reads what begins with <!. A conditional comment is passed over, because what it encloses is page to Outlook.
func (p *place) declaration(s string) string {
	switch p.state {
	case inBogus:
		i := strings.IndexByte(s, '>')
		if i < 0 {
			return ""
		}
		*p = place{}
		return s[i+1:]
	case inComment:
		return p.comment(s)
	}
	c := s[0]
	if c == '>' {
		*p = place{}
		return s[1:]
	}
	p.word += strings.ToLower(s[:1])
	switch {
	case p.word == conditional:
		p.state, p.word = inBogus, ""
	case strings.HasPrefix(conditional, p.word):
	case strings.HasPrefix(p.word, "--"):
		p.state, p.word = inComment, p.word[len("--"):]
	default:
		p.state, p.word = inBogus, ""
	}
	return s[1:]
}

// comment looks for the end; word holds what may be the beginning of it.
func (p *place) comment(s string) string {
	const end = "-->"
	head := p.word + s[:min(len(s), len(end)-1)]
	if i := strings.Index(head, end); i >= 0 {
		rest := s[i+len(end)-len(p.word):]
		*p = place{}
		return rest
	}
	if i := strings.Index(s, end); i >= 0 {
		*p = place{}
		return s[i+len(end):]
	}
	tail := p.word + s
	p.word = tail[max(0, len(tail)-len(end)+1):]
	return ""
}

// rawText looks for the tag that ends an element without markup.
func (p *place) rawText(s string) string {
	if p.state == inRaw {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			return ""
		}
		p.state, p.word = inRawLess, ""
		return s[i+1:]
	}
	end := "/" + p.raw
	if p.word == end {
		if strings.IndexByte(htmlSpace+"/>", s[0]) >= 0 {
			*p = place{state: inTag, closing: true}
		} else {
			p.state = inRaw
		}
		return s
	}
	if next := p.word + strings.ToLower(s[:1]); strings.HasPrefix(end, next) {
		p.word = next
		return s[1:]
	}
	p.state = inRaw
	return s
}
