package render

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// escape returns how a value is written at this place so that it stays there. The reason is empty unless the value was
// replaced.
func (p place) escape(value string) (string, Reason) {
	switch p.state {
	case inDouble, inSingle, inBare, beforeValue:
		return p.escapeValue(value)
	case inRaw, inRawLess:
		return p.escapeRaw(value)
	case inTagOpen, inTagName, inTag, inName, afterName:
		return p.escapeName(value)
	}
	return escapeHTML.Replace(value), ""
}

var (
	digits = regexp.MustCompile(`^[0-9]+$`)
	// harmlessName can name an attribute, but none that runs programs.
	harmlessName = regexp.MustCompile(`^(?i:[a-np-z][a-z0-9-]*|o[a-mo-z0-9-][a-z0-9-]*)$`)
)

// escapeName is for values within a tag: the 2 of h2, or an attribute such as nowrap.
func (p place) escapeName(value string) (string, Reason) {
	name := strings.ToLower(value)
	switch p.state {
	case inTagOpen, inTagName:
		if len(name) <= maxSegment && digits.MatchString(name) {
			return value, ""
		}
		return "", UnsafeName
	case inName:
		name = p.word + name
	}
	if len(name) > maxSegment || !harmlessName.MatchString(name) || urlAttributes[name] || name == "style" || name == "srcdoc" {
		return "", UnsafeName
	}
	return value, ""
}

var (
	escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;", "`", "&#x60;")
	// escapeBare also keeps a value without quotes in one piece.
	escapeBare = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;", "`", "&#x60;",
		" ", "&#32;", "\t", "&#9;", "\n", "&#10;", "\f", "&#12;", "\r", "&#13;", "=", "&#x3D;")
	// escapeScript is for the inside of a string in JavaScript or JSON.
	escapeScript = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "'", `\u0027`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "`", `\u0060`,
		"\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`, "\u2028", `\u2028`, "\u2029", `\u2029`)
)

func (p place) escapeValue(value string) (escaped string, reason Reason) {
	first := p.state == beforeValue
	if first {
		p.beginValue(' ')
	}
	switch p.meaning {
	case urlValue:
		if p.harmful(value) {
			value, reason = "#", UnsafeURL
		}
	case styleValue:
		if !harmlessStyle(value) {
			value, reason = "", UnsafeStyle
		}
	case scriptValue:
		value = escapeScript.Replace(value)
	case pageValue: // it is read twice, first as an attribute and then as a page
		value = escapeHTML.Replace(value)
	}
	if p.state != inBare {
		return escapeHTML.Replace(value), reason
	}
	if first && value == "" { // what follows would be taken for the value
		return `""`, reason
	}
	return escapeBare.Replace(value), reason
}

// escapeRaw is for the inside of elements where no entity is read.
func (p place) escapeRaw(value string) (string, Reason) {
	switch p.raw {
	case "script":
		return escapeScript.Replace(value), ""
	case "style":
		if !harmlessStyle(value) {
			return "", UnsafeStyle
		}
		return value, ""
	}
	return escapeHTML.Replace(value), "" // a title or a text area does read entities
}

// checkRaw looks at a value that the author wants as it is. Links are the one thing that is looked at even so: authors who use
// three braces everywhere do not mean to let others choose what a click runs.
func (p place) checkRaw(value string) (string, Reason) {
	at := p
	if at.state == beforeValue {
		unquoted := strings.TrimLeft(value, htmlSpace)
		if unquoted == "" {
			return value, ""
		}
		at.beginValue(unquoted[0])
		value = unquoted
	}
	if at.meaning == urlValue && at.state >= inDouble && at.state <= inBare && at.harmful(html.UnescapeString(strings.Trim(value, `"'`))) {
		return "#", UnsafeURL
	}
	return value, ""
}

// harmful tells whether a value at this place in a URL makes it run a program.
func (p place) harmful(value string) bool {
	if p.scheme == schemeOpen {
		_, p.scheme = readScheme(p.word, value)
	}
	return p.scheme == schemeHarmful
}

// programs are the schemes that run or read something on the reader's machine. Others stay: an app may have its own.
var programs = map[string]bool{"javascript": true, "vbscript": true, "livescript": true, "mocha": true, "data": true, "file": true,
	"blob": true, "filesystem": true, "view-source": true, "jar": true}

// harmlessData is a picture inside a URL.
var harmlessData = regexp.MustCompile(`^data:image/(png|gif|jpe?g|webp)[;,]`)

// readScheme reads on in a URL whose scheme is not known yet. Readers skip control characters and space, so they do not count.
func readScheme(word, more string) (string, scheme) {
	for i, c := range more {
		switch {
		case c <= ' ' || c == 0x7f || unicode.IsSpace(c) || unicode.Is(unicode.Cf, c):
			continue
		case c == ':' && programs[word]:
			if rest := word + more[i:min(len(more), i+maxWord)]; harmlessData.MatchString(strings.ToLower(rest)) {
				return "", schemeHarmless
			}
			return "", schemeHarmful
		case c == ':' || c == '/' || c == '?' || c == '#' || len(word) >= maxWord:
			return "", schemeHarmless
		}
		word += strings.ToLower(string(c))
	}
	return word, schemeOpen
}

// maxStyle is longer than the address of any picture.
const maxStyle = 2048

var (
	styleWord = regexp.MustCompile(`^[\pL\pN #%.,_+()!-]*$`)
	// styleURL has none of the characters that could end a url() or a string.
	styleURL = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&*+,=%\[\]-]+$`)
	styleRun = regexp.MustCompile(`(?i)expression|url\s*\(`)
)

// harmlessStyle tells whether a value can only be a value in a style sheet: a colour, a size, a font, the address of a picture.
func harmlessStyle(value string) bool {
	return len(value) <= maxStyle && (styleURL.MatchString(value) || styleWord.MatchString(value) && !styleRun.MatchString(value))
}
