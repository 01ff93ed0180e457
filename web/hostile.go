package web

import (
	"html"
	"net/http"
	"regexp"
	"strings"
)

// hostilePolicy lets a message show its own styles and the pictures it brings along, and nothing else: no scripts, no forms, no
// requests, and an origin of its own.
const hostilePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

// showHostile answers with the body of a message for a frame. Whatever is in it, it gets nothing but pixels.
func (v *visit) showHostile(body, text string) error {
	header := v.w.Header()
	header.Set("Content-Security-Policy", hostilePolicy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("X-DNS-Prefetch-Control", "off")
	if body == "" {
		body = `<!doctype html><meta name="color-scheme" content="light"><pre style="white-space:pre-wrap;font:14px/1.5 system-ui,sans-serif">` + html.EscapeString(text) + `</pre>`
	}
	v.writeGzipped(http.StatusOK, []byte(disconnected(body)))
	return nil
}

// connecting are the elements for which browsers open connections before they ask the policy, which is enough to tell a sender that
// somebody reads. A tag begins with its name wherever it stands and however the rest is written, so the names are all that is looked at.
var connecting = regexp.MustCompile(`(?i)<(/?)(link|iframe|object|embed|frame|portal|fencedframe)`)

// standIns behave as the elements do whose place they take: void, unseen, or a shell around what is shown instead.
var standIns = map[string]string{"iframe": "template", "fencedframe": "template", "portal": "template", "object": "span"}

// disconnected returns a page without elements that connect. The policy would show none of them.
func disconnected(body string) string {
	return connecting.ReplaceAllStringFunc(body, func(tag string) string {
		name := strings.TrimLeft(tag, "</")
		standIn, known := standIns[strings.ToLower(name)]
		if !known {
			standIn = "meta"
		}
		return strings.TrimSuffix(tag, name) + standIn
	})
}
