package track

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// MaxTarget is the longest target that is replaced. The link that stands for it must stay below 2,000 characters, which is as much as
// all mail programs and browsers follow.
const MaxTarget = 1400

// lineBreaks are not part of an address: an href may go on in the next line of the source.
var lineBreaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// Target reads the value of an href as a browser does. It returns the address in the form in which it may stand in a header, or
// false if the link is none that may be replaced: not on the web, with a password in it, filled in by somebody else later, or of a
// form that programs read in different ways.
func Target(href string) (string, bool) {
	text := lineBreaks.Replace(strings.TrimFunc(href, func(r rune) bool { return r <= ' ' }))
	scheme, rest, ok := cutScheme(text)
	if !ok || len(text) > MaxTarget || !utf8.ValidString(text) || unfilled(text) || strings.ContainsFunc(text, suspicious) {
		return "", false
	}
	slash := strings.IndexAny(rest, "/?#")
	if slash < 0 {
		slash = len(rest)
	}
	host, ok := cleanHost(rest[:slash])
	if !ok {
		return "", false
	}
	target := scheme + host + escape(rest[slash:])
	return target, len(target) <= MaxTarget
}

func cutScheme(text string) (scheme, rest string, ok bool) {
	for _, scheme := range []string{"https://", "http://"} {
		if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return text[:len(scheme)], text[len(scheme):], true
		}
	}
	return "", "", false
}

// placeholders are marks of template languages: whoever fills them in comes after us, or has forgotten to.
var placeholders = []string{"{{", "}}", "{%", "%}", "<%", "%>", "*|", "|*", "${"}

func unfilled(text string) bool {
	for _, mark := range placeholders {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// suspicious characters are left out by some programs and taken for others by the next: a backslash is a slash to browsers.
func suspicious(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }

// cleanHost takes a host with or without a port, and no user name or password.
func cleanHost(host string) (string, bool) {
	name, port := host, ""
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		name, port = host[:colon], host[colon:]
	}
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return "", false
		}
		name = ascii
	}
	for _, c := range []byte(name) {
		if !isLetterOrDigit(c) && strings.IndexByte("-._:[]", c) < 0 {
			return "", false
		}
	}
	for _, c := range []byte(strings.TrimPrefix(port, ":")) {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return name + port, name != ""
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// escape writes what browsers escape anyway before they ask for a page, and leaves the rest as it is.
func escape(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || escaped(byte(r)) }) < 0 {
		return text
	}
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for _, c := range []byte(text) {
		if !escaped(c) {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(hex[c>>4])
		out.WriteByte(hex[c&15])
	}
	return out.String()
}

func escaped(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' }
