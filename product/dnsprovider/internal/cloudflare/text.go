package cloudflare

import (
	"strings"
)

// maxString is the longest string inside a TXT record; a longer text is several of them (RFC 1035 §3.3).
const maxString = 255

// WriteText returns the content of a TXT record that means text: quoted strings of at most 255 bytes.
func WriteText(text string) string {
	var content strings.Builder
	for first := true; first || text != ""; first = false {
		if !first {
			content.WriteByte(' ')
		}
		n := min(len(text), maxString)
		content.WriteByte('"')
		for _, c := range []byte(text[:n]) {
			if c == '"' || c == '\\' {
				content.WriteByte('\\')
			}
			content.WriteByte(c)
		}
		content.WriteByte('"')
		text = text[n:]
	}
	return content.String()
}

// ReadText returns what the content of a TXT record means: its strings without their quotes, joined as their readers join them.
// Content without quotes, as older records have it, means itself.
func ReadText(content string) string {
	content = strings.TrimSpace(content)
	if !strings.HasPrefix(content, `"`) {
		return content
	}
	var text strings.Builder
	inside := false
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '"':
			inside = !inside
		case !inside: // blanks between two strings
		case c == '\\' && i+1 < len(content):
			i += writeEscaped(&text, content[i+1:])
		default:
			text.WriteByte(c)
		}
	}
	return text.String()
}

// writeEscaped writes the byte that an escape stands for, \DDD or \X (RFC 1035 §5.1), and returns how long its name was.
func writeEscaped(text *strings.Builder, name string) int {
	if len(name) >= 3 && isDigit(name[0]) && isDigit(name[1]) && isDigit(name[2]) {
		if value := int(name[0]-'0')*100 + int(name[1]-'0')*10 + int(name[2]-'0'); value <= 255 {
			text.WriteByte(byte(value))
			return 3
		}
	}
	text.WriteByte(name[0])
	return 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
