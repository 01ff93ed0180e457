// Package authres writes and reads the Authentication-Results field (RFC 8601), in which a server notes for those behind it what it
// found out about a message's origin.
//
// Whoever reads the field trusts the name at its head, so that fields which claim to be ours and are not must go before ours is
// added: Remove does that.
//
// Pure: no clock, no network, no state.
package authres

import (
	"errors"
	"strings"
)

// Limits of a field that is read. Honest ones have a tenth.
const (
	maxBytes   = 32 << 10
	maxResults = 100
	// maxProperties bounds what one result may tell.
	maxProperties = 20
)

// ErrSyntax means a field that cannot be read.
var ErrSyntax = errors.New("authentication results cannot be read")

// Header is what one server found out.
type Header struct {
	// Server is the name under which the server is trusted.
	Server string
	// Results is empty if nothing was checked.
	Results []Result
}

// Result is what one method gave: spf, dkim, dmarc, arc or another.
type Result struct {
	Method string
	Value  string
	// Reason is free text, or empty.
	Reason string
	// Properties are what the result is about, in their order.
	Properties []Property
}

// Property is one thing that a result is about, such as smtp.mailfrom=ann@example.test.
type Property struct {
	// Type is where it was found: smtp, header, body or policy.
	Type  string
	Name  string
	Value string
}

// Get returns the value of the property with the given type and name, as in "header.d", or nothing.
func (r Result) Get(key string) string {
	for _, p := range r.Properties {
		if strings.EqualFold(p.Type+"."+p.Name, key) {
			return p.Value
		}
	}
	return ""
}

// Field returns the header as a field with its line end.
func (h Header) Field() []byte { return []byte("Authentication-Results: " + h.String() + "\r\n") }

// String returns the text of the field, folded: one result on each line. What came from a message is quoted, and can be neither
// a line end nor another result.
func (h Header) String() string {
	var b strings.Builder
	b.WriteString(value(h.Server))
	if len(h.Results) == 0 {
		b.WriteString("; none")
	}
	for _, r := range h.Results {
		b.WriteString(";\r\n " + keyword(r.Method) + "=" + keyword(r.Value))
		used := len(r.Method) + len(r.Value) + len(" =")
		add := func(text string) {
			if used+1+len(text) > foldAt {
				b.WriteString("\r\n ")
				used = 0
			}
			b.WriteString(" " + text)
			used += 1 + len(text)
		}
		if r.Reason != "" {
			add("reason=" + quoted(r.Reason))
		}
		for _, p := range r.Properties {
			add(keyword(p.Type) + "." + keyword(p.Name) + "=" + propertyValue(p.Value))
		}
	}
	return b.String()
}

const (
	// foldAt is where lines are broken, if there is a place (RFC 5322 §2.1.1).
	foldAt = 76
	// maxValueBytes keeps lines within the 998 bytes that SMTP carries.
	maxValueBytes = 400
)

// keyword keeps what may stand in a word of the grammar; all of ours do.
func keyword(s string) string {
	return strings.Map(func(r rune) rune {
		if isToken(r) {
			return r
		}
		return -1
	}, s)
}

// value is a token if it can be, and quoted if not.
func value(s string) string {
	if s != "" && len(s) <= maxValueBytes && strings.IndexFunc(s, func(r rune) bool { return !isToken(r) }) < 0 {
		return s
	}
	return quoted(s)
}

// propertyValue may be an address as it is.
func propertyValue(s string) string {
	local, domain, found := strings.Cut(s, "@")
	if found && len(s) <= maxValueBytes && value(domain) == domain && (local == "" || value(local) == local) {
		return s
	}
	return value(s)
}

// quoted makes a quoted string of any text: control characters become spaces.
func quoted(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxValueBytes)], "?")
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isToken tells whether a character may stand in a token of MIME (RFC 2045 §5.1), and in a dot-atom too.
func isToken(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-^_`{|}~.", r)
}
