package address

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

const (
	wordOpenB = "=?utf-8?B?"
	wordOpenQ = "=?utf-8?Q?"
	wordClose = "?="
	// maxWordText keeps an encoded word at 62 characters at most, so that "Reply-To: " and a first word stay within the 76 of
	// RFC 2047 §2 on one line. A multiple of four, to fill base64.
	maxWordText = 48
)

// EncodeWords returns text as RFC 2047 encoded words separated by single spaces, in whichever of the two encodings is shorter.
// The result is valid in a name as well as in free text such as a subject, and a line may be broken at each of its spaces.
func EncodeWords(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	quoted := 0
	for i := range len(text) {
		quoted += quotedLen(text[i])
	}
	if quoted <= base64.StdEncoding.EncodedLen(len(text)) {
		return encodeQ(text)
	}
	return encodeB(text)
}

// quotedLen returns how many characters the Q encoding needs for a byte.
func quotedLen(c byte) int {
	if isPlainQ(c) || c == ' ' {
		return 1
	}
	return 3
}

// isPlainQ is the set that RFC 2047 §5 (3) allows even inside a name.
func isPlainQ(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!*+-/", c) >= 0
}

func encodeQ(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(text)*2 + len(wordOpenQ) + len(wordClose))
	b.WriteString(wordOpenQ)
	used := 0
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		need := 0
		for _, c := range []byte(text[i : i+size]) {
			need += quotedLen(c)
		}
		if used+need > maxWordText { // never inside a character (RFC 2047 §5)
			b.WriteString(wordClose + " " + wordOpenQ)
			used = 0
		}
		used += need
		for _, c := range []byte(text[i : i+size]) {
			switch {
			case c == ' ':
				b.WriteByte('_')
			case isPlainQ(c):
				b.WriteByte(c)
			default:
				b.Write([]byte{'=', hex[c>>4], hex[c&15]})
			}
		}
		i += size
	}
	b.WriteString(wordClose)
	return b.String()
}

func encodeB(text string) string {
	const maxRaw = maxWordText / 4 * 3
	var b strings.Builder
	b.Grow(len(text)*2 + len(wordOpenB) + len(wordClose))
	for len(text) > 0 {
		n := min(maxRaw, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(wordOpenB)
		b.WriteString(base64.StdEncoding.EncodeToString([]byte(text[:n])))
		b.WriteString(wordClose)
		text = text[n:]
	}
	return b.String()
}
