package httpout

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Hider cuts secrets out of answers: servers like to repeat what they got. It knows them as they are, and as addresses and JSON spell them.
func Hider(instead string, secrets ...string) *strings.Replacer {
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		forms = append(forms, url.QueryEscape(secret), url.PathEscape(secret))
		for _, form := range append(jsonForms(secret), secret) {
			forms = append(forms, form, strings.ReplaceAll(form, "/", `\/`))
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // or a part of one would be cut out, and the rest stay
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, instead)
	}
	return strings.NewReplacer(pairs...)
}

// jsonForms returns a text as encoders of JSON write it: with no more escapes than there must be, safe for pages as Go does, in ASCII as
// Python and PHP do, and both as .NET does.
func jsonForms(text string) []string {
	foreign := func(r rune) bool { return r > unicode.MaxASCII }
	return []string{
		spellJSON(text, `\u%04x`, func(rune) bool { return false }),
		spellJSON(text, `\u%04x`, func(r rune) bool { return strings.ContainsRune("&<>\u2028\u2029", r) }),
		spellJSON(text, `\u%04x`, foreign),
		spellJSON(text, `\u%04X`, func(r rune) bool { return foreign(r) || strings.ContainsRune("&<>+'\"`", r) }),
	}
}

// shortEscapes are what JSON has for some characters besides their number (RFC 8259 §7).
var shortEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// spellJSON writes a text as it stands between quotes. Numbered are the characters that are written in numbers besides those that must be.
func spellJSON(text, number string, numbered func(rune) bool) string {
	var out strings.Builder
	for _, r := range text {
		short, hasShort := shortEscapes[r]
		switch {
		case !numbered(r) && hasShort:
			out.WriteString(short)
		case numbered(r) || r < ' ':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, number, unit)
			}
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
