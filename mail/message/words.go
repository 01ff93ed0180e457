package message

import (
	"regexp"
	"strings"
)

// encodedWord is a word of a header that is not ASCII (RFC 2047 §2), as programs write it: with blanks in it, and without its padding.
var encodedWord = regexp.MustCompile(`(?s)=\?([^?\s]*)\?([bBqQ])\?(.*?)\?=`)

// DecodeHeader undoes the encoded words (RFC 2047) of a header's value, those that break the rules too, as far as they can be read. What is
// none stays as it is; the result is always UTF-8.
func DecodeHeader(value string) string {
	found := encodedWord.FindAllStringSubmatchIndex(value, -1)
	if found == nil {
		return toUTF8([]byte(value), "")
	}
	var b strings.Builder
	var words wordDecoder
	end := 0
	for _, at := range found {
		between := value[end:at[0]]
		if end == 0 || strings.Trim(between, " \t\r\n") != "" { // blanks between two words are part of none (RFC 2047 §6.2)
			b.WriteString(words.take())
			b.WriteString(toUTF8([]byte(between), ""))
		}
		set, _, _ := strings.Cut(strings.ToLower(value[at[2]:at[3]]), "*") // a language may follow (RFC 2231 §5)
		if set != words.set {
			b.WriteString(words.take())
		}
		words.set = set
		words.add(value[at[4]:at[5]], value[at[6]:at[7]])
		end = at[1]
	}
	b.WriteString(words.take())
	b.WriteString(toUTF8([]byte(value[end:]), ""))
	return b.String()
}

// wordDecoder puts words of one character set together: some programs cut a character in two.
type wordDecoder struct {
	set    string
	bytes  []byte
	base64 base64Reader
}

func (d *wordDecoder) add(encoding, text string) {
	if strings.EqualFold(encoding, "b") {
		d.base64.out = d.base64.out[:0]
		for i := range len(text) {
			d.base64.add(text[i])
		}
		d.base64.flush()
		d.bytes = append(d.bytes, d.base64.out...)
		return
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '_':
			d.bytes = append(d.bytes, ' ')
		case c == '=' && i+2 < len(text) && unhex(text[i+1]) >= 0 && unhex(text[i+2]) >= 0:
			d.bytes = append(d.bytes, byte(unhex(text[i+1])<<4|unhex(text[i+2])))
			i += 2
		default:
			d.bytes = append(d.bytes, c)
		}
	}
}

// take returns what was decoded and begins anew.
func (d *wordDecoder) take() string {
	text := toUTF8(d.bytes, d.set)
	d.bytes = d.bytes[:0]
	return text
}
