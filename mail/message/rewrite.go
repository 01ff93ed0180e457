package message

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

const (
	// maxRewriteDepth is how deep a page may stand in multiparts: mixed, related, alternative, and some to spare.
	maxRewriteDepth = 8
	// maxRewriteLine is the longest line of a message, without its end (RFC 5322 §2.1.1).
	maxRewriteLine = 998
)

// RewriteHTML changes the page of a message that came ready made and leaves every other byte of it as it is. It returns the message
// unchanged if there is no page, or none that may be changed: whatever is signed or encrypted by its sender stays as it came, and so
// does a page in a character set in which an ASCII character may be a part of another.
func RewriteHTML(raw []byte, change func(page string) string) []byte {
	fields, _, err := ReadHeader(raw)
	if err != nil || slices.ContainsFunc(fields, func(f Field) bool { return f.Is("DKIM-Signature") }) {
		return raw
	}
	page, ok := findPage(raw, span{0, len(raw)}, 0)
	if !ok {
		return raw
	}
	before := page.text(raw)
	after := change(before)
	if after == before {
		return raw
	}
	changed := page.replace(raw, after)
	if read, ok := findPage(changed, span{0, len(changed)}, 0); !ok || !sameLines(read.text(changed), after) {
		return raw // the page holds what looks like a boundary, once it is encoded otherwise
	}
	return changed
}

// sameLines compares texts by what they say: an encoding for text may change how a line ends.
func sameLines(a, b string) bool {
	ends := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	return ends.Replace(a) == ends.Replace(b)
}

// span is a piece of a message.
type span struct{ start, end int }

// page is a part that is there to be shown.
type page struct {
	fields []Field
	head   span // its header, with the blank line
	body   span
}

func (p page) text(raw []byte) string {
	text, _ := io.ReadAll(decodeTransfer(bytes.NewReader(raw[p.body.start:p.body.end]), p.fields)) // bytes in memory are always read
	return string(text)
}

// findPage returns the first page of an entity that may be changed.
func findPage(raw []byte, at span, depth int) (page, bool) {
	entity := raw[at.start:at.end:at.end]
	fields, body, err := ReadHeader(entity)
	if err != nil {
		return page{}, false
	}
	head := span{at.start, at.end - len(body)}
	kind := readContentType(fields, "text/plain")
	switch {
	case kind.name == "text/html":
		found := page{fields: fields, head: head, body: span{head.end, at.end}}
		return found, !newPart(fields, kind, "").Attached && isASCIIBased(kind.params["charset"])
	case kind.name == "multipart/signed" || kind.name == "multipart/encrypted" || !strings.HasPrefix(kind.name, "multipart/"):
		return page{}, false
	}
	edge := kind.params["boundary"]
	if edge == "" || len(edge) > maxBoundary || depth == maxRewriteDepth {
		return page{}, false
	}
	for _, part := range splitParts(raw, span{head.end, at.end}, edge) {
		if found, ok := findPage(raw, part, depth+1); ok {
			return found, true
		}
	}
	return page{}, false
}

// splitParts cuts the body of a multipart at its boundary. The line end before a boundary belongs to the boundary (RFC 2046 §5.1.1).
func splitParts(raw []byte, body span, edge string) []span {
	var parts []span
	start := -1
	for at := body.start; at < body.end && len(parts) < maxParts; {
		line, _ := nextLine(raw[at:body.end])
		rest, ok := bytes.CutPrefix(line, []byte("--"+edge))
		rest = bytes.TrimRight(rest, " \t\r\n")
		if last := string(rest) == "--"; ok && (last || len(rest) == 0) {
			if start >= 0 {
				text, _ := cutLineEnd(raw[start:max(at, start)])
				parts = append(parts, span{start, start + len(text)})
			}
			if start = at + len(line); last {
				return parts
			}
		}
		at += len(line)
	}
	if start >= 0 && start <= body.end && len(parts) < maxParts {
		parts = append(parts, span{start, body.end})
	}
	return parts
}

// isASCIIBased tells whether every byte below 128 is a character of its own.
func isASCIIBased(set string) bool {
	set = strings.ToLower(strings.Trim(set, " "))
	return set == "" || set == "utf-8" || set == "us-ascii" || strings.HasPrefix(set, "iso-8859-") || strings.HasPrefix(set, "windows-125")
}

// replace puts another text into the place of the page, in the transfer encoding of the page. One that was sent as it is, and has
// too long a line now, becomes quoted-printable.
func (p page) replace(raw []byte, text string) []byte {
	head := raw[p.head.start:p.head.end]
	c := &composer{}
	encoding, _, _ := strings.Cut(fieldValue(p.fields, "Content-Transfer-Encoding"), ";")
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); {
	case encoding == "base64":
		c.base64Lines([]byte(text))
		if bytes.HasSuffix(raw[p.body.start:p.body.end], []byte("\n")) {
			c.write("\r\n")
		}
	case encoding == "quoted-printable":
		c.quotedPrintable(text)
	case longestLine(text) > maxRewriteLine:
		head = p.quotedHead()
		c.quotedPrintable(text)
	default:
		c.write(text)
	}
	out := make([]byte, 0, len(raw)-(p.body.end-p.head.start)+len(head)+len(c.buf))
	out = append(out, raw[:p.head.start]...)
	out = append(out, head...)
	out = append(out, c.buf...)
	return append(out, raw[p.body.end:]...)
}

func longestLine(text string) (longest int) {
	for line := range strings.Lines(text) {
		longest = max(longest, len(strings.TrimRight(line, "\r\n")))
	}
	return longest
}

// quotedHead is the header of the page with another transfer encoding; every other field stays as it is.
func (p page) quotedHead() []byte {
	var head []byte
	for _, f := range p.fields {
		if !f.Is("Content-Transfer-Encoding") {
			head = append(head, f.Raw...)
		}
	}
	return append(head, "Content-Transfer-Encoding: quoted-printable\r\n\r\n"...)
}
