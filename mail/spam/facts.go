package spam

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"postrider/mail/address"
	"postrider/mail/message"
)

const (
	// maxLine bounds the subject, the sender and each header value that is looked at; honest ones have a tenth of it.
	maxLine = 4 << 10
	// maxHeaders bounds how many header fields are looked at.
	maxHeaders = 500
)

// facts is all that the rules know about a message.
type facts struct {
	Message
	// sender is the parsed From; it is the zero value if From is not an address.
	sender address.Address
	// replyTo is the first address of Reply-To, if there is one.
	replyTo address.Address
	// headers are by names in lower case.
	headers map[string]string
	// fields are those of the raw message.
	fields []message.Field

	page    page
	subject prose
	// body is what readers see: the text of the page, or the plain text if there is no page.
	body prose
	// text is the plain text.
	text prose
	// said sums up the phrases of subject and body; saidInSubject only those of the subject.
	said, saidInSubject [topics]float64

	links []link
	// linkCount counts all links of the page, or of the text if there is no page.
	linkCount int
}

// gather reads everything off a message once.
func gather(m Message) *facts {
	m.Subject = cut(m.Subject, maxLine)
	m.From = cut(m.From, maxLine)
	m.Text = cut(m.Text, maxPage)
	f := &facts{Message: m, page: readPage(m.HTML), subject: readProse(m.Subject), text: readProse(m.Text)}
	f.body = f.text
	if m.HTML != "" {
		f.body = readProse(f.page.visible)
	}
	f.sender, _ = address.Parse(m.From)
	f.readHeaders()
	f.readLinks()
	f.said = weights(f.subject.said, f.body.said, f.text.said)
	f.saidInSubject = weights(f.subject.said)
	return f
}

// cut shortens a text and leaves no half of a character at its end.
func cut(s string, length int) string {
	if len(s) <= length {
		return s
	}
	for end := length; end > length-utf8.UTFMax; end-- {
		if utf8.RuneStart(s[end]) {
			return s[:end]
		}
	}
	return s[:length] // it is no UTF-8
}

func (f *facts) readHeaders() {
	f.headers = map[string]string{}
	f.fields, _, _ = message.ReadHeader(f.Raw) // one that is too large has no fields; the rules on missing ones then speak
	for _, field := range f.fields[:min(len(f.fields), maxHeaders)] {
		if name := strings.ToLower(field.Name); f.headers[name] == "" {
			f.headers[name] = cut(field.Value, maxLine)
		}
	}
	names := slices.Sorted(maps.Keys(f.Headers)) // of two spellings of one name always the same wins
	for _, name := range names[:min(len(names), maxHeaders)] {
		f.headers[strings.ToLower(name)] = cut(f.Headers[name], maxLine)
	}
	if list, err := address.ParseList(f.headers["reply-to"]); err == nil {
		f.replyTo = list[0]
	}
}

func (f *facts) readLinks() {
	inText, count := findAddresses(f.Text)
	f.linkCount = count
	if f.HTML != "" {
		f.linkCount = f.page.anchorCount
	}
	anchors := append(f.page.anchors, inText...)
	f.links = make([]link, len(anchors))
	for i, a := range anchors {
		f.links[i] = readLink(a)
	}
}

// header returns a header field by its name in lower case.
func (f *facts) header(name string) string { return strings.TrimSpace(f.headers[name]) }

// anyLink tells whether the claim is true of a link.
func (f *facts) anyLink(claim func(link) bool) bool {
	for _, l := range f.links {
		if claim(l) {
			return true
		}
	}
	return false
}
