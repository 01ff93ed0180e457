// Package page knows what mail programs make of HTML: what they cut, ignore or show first. It is pure.
package page

import (
	"strings"

	"golang.org/x/net/html"
)

// filler follows a preview text, so that mail programs do not show the first words of the page after it: something invisible that
// takes room, over and over.
const (
	filler     = "&#847;&zwnj;&nbsp;"
	fillerRoom = 100
)

// WithPreheader returns the page with a preview text at its beginning, where mail programs find it and people do not see it.
func WithPreheader(page, preview string) string {
	if page == "" || preview == "" {
		return page
	}
	hidden := `<div style="display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all">` + html.EscapeString(preview) +
		strings.Repeat(filler, max(0, fillerRoom-len([]rune(preview)))) + "</div>"
	at := afterBody(page)
	return page[:at] + hidden + page[at:]
}

// afterBody returns where the content of a page begins: after its body tag, or after whatever comes before one.
func afterBody(page string) int {
	tokens := html.NewTokenizer(strings.NewReader(page))
	at, begin := 0, 0
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return begin
		}
		at += len(tokens.Raw())
		switch kind {
		case html.DoctypeToken:
			begin = at
		case html.StartTagToken, html.EndTagToken:
			name, _ := tokens.TagName()
			switch ends := kind == html.EndTagToken; {
			case string(name) == "body" && !ends:
				return at
			case string(name) == "html" && !ends, string(name) == "head" && ends:
				begin = at
			}
		}
	}
}
