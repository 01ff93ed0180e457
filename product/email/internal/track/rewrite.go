// Package track prepares pages for tracking, and tells the programs that look at mail from the people who read it. It is pure: it
// knows neither who reads, nor where that is written down.
package track

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// maxLinks is how many links of a page are changed; those that follow stay as they are. Newsletters have a few hundred.
const maxLinks = 10_000

// Plan says what becomes of a page.
type Plan struct {
	// Link returns the address that takes the place of a target, made of characters that need no escape in HTML. Nil leaves all
	// links as they are.
	Link func(target string) string
	// Keep tells which targets stay as they are; nil means none.
	Keep func(target string) bool
	// Pixel is the address of a picture that is loaded when the page is shown; empty adds none.
	Pixel string
}

// edit puts text in the place of a piece of the page.
type edit struct {
	start, end int
	text       string
}

// Rewrite returns the page with the targets of its links replaced and the pixel at its end. Every other byte stays as it is:
// comments, among them those that only Outlook reads, entities, the order and quotes of attributes, broken tags.
func (p Plan) Rewrite(page string) string {
	edits, end := p.look(page)
	if p.Pixel != "" && !strings.Contains(page, p.Pixel) {
		pixel := edit{end, end, fmt.Sprintf(`<img src="%s" alt="" width="1" height="1" style="border:0;height:1px;width:1px">`, p.Pixel)}
		at := 0
		for at < len(edits) && edits[at].start < end {
			at++
		}
		edits = append(edits[:at], append([]edit{pixel}, edits[at:]...)...)
	}
	if len(edits) == 0 {
		return page
	}
	return apply(page, edits)
}

func apply(page string, edits []edit) string {
	size := len(page)
	for _, e := range edits {
		size += len(e.text)
	}
	var out strings.Builder
	out.Grow(size)
	done := 0
	for _, e := range edits {
		out.WriteString(page[done:e.start])
		out.WriteString(e.text)
		done = e.end
	}
	out.WriteString(page[done:])
	return out.String()
}

// look finds the links to replace, in their order, and the place where the body of the page ends.
func (p Plan) look(page string) (edits []edit, end int) {
	tokens := html.NewTokenizer(strings.NewReader(page))
	body, document, at := -1, -1, 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		tag := page[at : at+len(tokens.Raw())]
		switch kind {
		case html.CommentToken:
			if !strings.HasSuffix(tag, ">") {
				return edits, first(body, document, at) // it never ends
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if e, ok := p.replace(tokens, tag); ok && len(edits) < maxLinks {
				edits = append(edits, edit{at + e.start, at + e.end, e.text})
			}
		case html.EndTagToken:
			switch name, _ := tokens.TagName(); string(name) {
			case "body":
				body = at
			case "html":
				document = at
			}
		}
		at += len(tag)
	}
	return edits, first(body, document, at) // a tag that never ends may follow
}

// first returns the first place there is.
func first(places ...int) int {
	for _, at := range places {
		if at >= 0 {
			return at
		}
	}
	return 0
}

// replace returns the change of a tag, if it is a link to change.
func (p Plan) replace(tokens *html.Tokenizer, tag string) (edit, bool) {
	name, more := tokens.TagName()
	if p.Link == nil || !more || string(name) != "a" && string(name) != "area" {
		return edit{}, false
	}
	href, ok := decodedHref(tokens)
	if !ok {
		return edit{}, false
	}
	start, end, ok := findHref(tag)
	if !ok || !strings.ContainsAny(tag[start:end], "&\r") && tag[start:end] != href {
		return edit{}, false // two readers of one tag disagree; let it be
	}
	target, ok := Target(href)
	if !ok || p.Keep != nil && p.Keep(target) {
		return edit{}, false
	}
	return edit{start, end, p.Link(target)}, true
}

func decodedHref(tokens *html.Tokenizer) (string, bool) {
	for {
		key, value, more := tokens.TagAttr()
		if string(key) == "href" {
			return string(value), true
		}
		if !more {
			return "", false
		}
	}
}
