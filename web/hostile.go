package web

import (
	"html"
	"net/http"
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
	if body == "" {
		body = `<!doctype html><meta name="color-scheme" content="light"><pre style="white-space:pre-wrap;font:14px/1.5 system-ui,sans-serif">` + html.EscapeString(text) + `</pre>`
	}
	v.writeGzipped(http.StatusOK, []byte(body))
	return nil
}
