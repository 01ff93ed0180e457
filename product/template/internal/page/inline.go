package page

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

const (
	// maxMatches bounds how often a rule is held against an element, whatever the page.
	maxMatches = 2_000_000
	// maxInlined is how many bytes styles may add to a page; Gmail cuts it far below.
	maxInlined = 512 << 10
	// maxOpen is how many open elements are remembered.
	maxOpen = 256
)

// InlineStyles returns the page with the rules of its style sheets copied to the elements they are about, because not every mail
// program reads style sheets. The sheets stay, for those that do and for rules that only they can hold. Nothing but style
// attributes is touched, so the page may have the tags of templates anywhere.
func InlineStyles(page string) string {
	masked, tags := mask(page)
	rules := readSheets(masked)
	if len(rules) == 0 {
		return page
	}
	in := inliner{rules: rules, matches: maxMatches, room: maxInlined}
	tokens := html.NewTokenizer(strings.NewReader(masked))
	for {
		kind := tokens.Next()
		raw := string(tokens.Raw())
		switch kind {
		case html.ErrorToken:
			in.out.WriteString(raw)
			return unmask(in.out.String(), tags)
		case html.StartTagToken, html.SelfClosingTagToken:
			raw = in.begin(tokens.Token(), raw)
		case html.EndTagToken:
			name, _ := tokens.TagName()
			in.end(string(name))
		}
		in.out.WriteString(raw)
	}
}

const maskOpen, maskClose = "\ue000", "\ue001"

var (
	anyTag   = regexp.MustCompile(`(?s)\{\{!--.*?--~?\}\}|\{\{~?\{[^{}]*\}~?\}\}|\{\{[^{}]*\}\}|[` + maskOpen + maskClose + `]`)
	maskTag  = regexp.MustCompile(maskOpen + "([0-9]+)" + maskClose)
	blockTag = regexp.MustCompile(`^\{\{~?\s*(#|\^|/|else)`)
)

// mask puts a short word in place of every tag of a template, so that quotes and brackets inside it mean nothing. What such words are made
// of may stand in the page itself, as a sign of a font of icons, and is masked as well.
func mask(page string) (string, []string) {
	var tags []string
	masked := anyTag.ReplaceAllStringFunc(page, func(tag string) string {
		tags = append(tags, tag)
		kind := "0"
		if blockTag.MatchString(tag) {
			kind = "1"
		}
		return maskOpen + kind + strconv.Itoa(len(tags)-1) + maskClose
	})
	return masked, tags
}

// maskedBlock is how a masked tag begins that opens, divides or closes a block.
const maskedBlock = maskOpen + "1"

func unmask(page string, tags []string) string {
	return maskTag.ReplaceAllStringFunc(page, func(word string) string {
		i, err := strconv.Atoi(strings.Trim(word, maskOpen+maskClose)[1:])
		if err != nil || i >= len(tags) {
			return word
		}
		return tags[i]
	})
}

type inliner struct {
	rules   []rule
	open    []element
	out     strings.Builder
	matches int
	room    int
}

// element is what selectors can ask about an element.
type element struct {
	name, id string
	classes  []string
}

// voidElements have no end tag.
var voidElements = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true,
	"input": true, "link": true, "meta": true, "param": true, "source": true, "track": true, "wbr": true}

// invisible elements are never shown, so they need no style.
var invisible = map[string]bool{"html": true, "head": true, "title": true, "style": true, "script": true, "meta": true, "link": true, "base": true}

// begin returns the start tag with the styles that are meant for it.
func (in *inliner) begin(token html.Token, raw string) string {
	e := element{name: token.Data}
	style, styled := "", false
	for _, a := range token.Attr {
		switch a.Key {
		case "id":
			e.id = a.Val
		case "class":
			e.classes = strings.Fields(a.Val)
		case "style":
			style, styled = a.Val, true
		}
	}
	in.open = append(in.open, e)
	if !invisible[e.name] && in.room > 0 && in.matches > 0 {
		raw = in.restyle(raw, style, styled)
	}
	if voidElements[e.name] || token.Type == html.SelfClosingTagToken || len(in.open) > maxOpen {
		in.open = in.open[:len(in.open)-1]
	}
	return raw
}

func (in *inliner) end(name string) {
	for i := len(in.open) - 1; i >= 0; i-- {
		if in.open[i].name == name {
			in.open = in.open[:i]
			return
		}
	}
}

var styleAttribute = regexp.MustCompile(`(?is)\sstyle\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)`)

// restyle writes the style of the innermost open element into its tag.
func (in *inliner) restyle(raw, style string, styled bool) string {
	var normal, important []declaration
	for _, r := range in.rules {
		if !in.matchesRule(r) {
			continue
		}
		for _, d := range r.declarations {
			if d.important {
				important = append(important, d)
			} else {
				normal = append(normal, d)
			}
		}
	}
	if len(normal)+len(important) == 0 || strings.Contains(style, maskedBlock) {
		return raw
	}
	own := readDeclarations(style)
	attribute := ` style="` + quoteStyle(join(slices.Concat(normal, own, important, onlyImportant(own)))) + `"`
	if in.room -= len(attribute); in.room < 0 {
		return raw
	}
	if !styled {
		at := strings.IndexAny(raw, " \t\r\n\f/>"+maskOpen)
		return raw[:at] + attribute + raw[at:]
	}
	place := styleAttribute.FindStringSubmatchIndex(raw)
	if place == nil || html.UnescapeString(strings.Trim(raw[place[2]:place[3]], `"'`)) != style {
		return raw
	}
	return raw[:place[0]] + attribute + raw[place[1]:]
}

var quoteReplacer = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;")

func quoteStyle(style string) string { return quoteReplacer.Replace(style) }

func (in *inliner) matchesRule(r rule) bool {
	return in.fits(r.selector, len(in.open)-1)
}

// fits tells whether the open element at a depth is what the selector ends with, and those around it the rest.
func (in *inliner) fits(s []step, depth int) bool {
	if in.matches--; in.matches < 0 || depth < 0 || !s[len(s)-1].is(in.open[depth]) {
		return false
	}
	rest := s[:len(s)-1]
	if len(rest) == 0 {
		return true
	}
	if s[len(s)-1].child {
		return in.fits(rest, depth-1)
	}
	for outer := depth - 1; outer >= 0; outer-- {
		if in.fits(rest, outer) {
			return true
		}
	}
	return false
}
