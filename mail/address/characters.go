package address

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atextSpecials are the characters besides letters and digits that an atom may hold (RFC 5322 §3.2.3).
const atextSpecials = "!#$%&'*+-/=?^_`{|}~"

func isAtext(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(atextSpecials, c) >= 0
}

// isPhraseByte allows dots in a bare name, as everyone writes them ("John Q. Public"), and every byte of UTF-8.
func isPhraseByte(c byte) bool { return isAtext(c) || c == '.' || c >= utf8.RuneSelf }

// isPhrase tells whether a name can be written without quotes and read back unchanged.
func isPhrase(name string) bool {
	for i := range len(name) {
		if !isPhraseByte(name[i]) && name[i] != ' ' {
			return false
		}
	}
	return !strings.Contains(name, "=?")
}

// isControl finds whatever could end a line or vanish from view in a log: C0, DEL, C1 and the Unicode line breaks.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
