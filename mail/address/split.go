package address

import (
	"regexp"
	"strings"
)

// encodedWord is one at the beginning of a text (RFC 2047 §2). Programs leave commas in it that separate nothing.
var encodedWord = regexp.MustCompile(`^=\?[^?\s]+\?[bBqQ]\?[^?\s]*\?=`)

// Split cuts the value of a header field into its addresses, for those who have to read what others wrote: groups are opened, comments
// left out, and semicolons, which some programs write, separate as commas do (RFC 5322 §3.4). The parts are not checked. A value whose
// quotes or brackets do not end is one part.
func Split(value string) []string {
	var parts []string
	var part strings.Builder
	end := func() {
		if text := strings.TrimSpace(part.String()); text != "" {
			parts = append(parts, text)
		}
		part.Reset()
	}
	comments, closing := 0, byte(0) // closing is what ends the quotes or brackets that are open
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\' && i+1 < len(value) && (comments > 0 || closing == '"'):
			if i++; comments == 0 {
				part.WriteString(value[i-1 : i+1])
			}
		case closing != 0:
			if c == closing {
				closing = 0
			}
			part.WriteByte(c)
		case c == '(':
			comments++
		case comments > 0:
			if c == ')' {
				comments--
			}
		case c == '=' && encodedWord.MatchString(value[i:]):
			word := encodedWord.FindString(value[i:])
			part.WriteString(word)
			i += len(word) - 1
		case c == ',' || c == ';':
			end()
		case c == ':':
			part.Reset() // the name of a group
		default:
			closing = closingOf(c)
			part.WriteByte(c)
		}
	}
	if closing != 0 || comments > 0 {
		return []string{strings.TrimSpace(value)}
	}
	end()
	return parts
}

func closingOf(c byte) byte {
	switch c {
	case '"':
		return '"'
	case '<':
		return '>'
	case '[':
		return ']'
	}
	return 0
}
