package message

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// base64Line is how many bytes make a line of 76 characters (RFC 2045 §6.8).
const base64Line = 57

// text writes a text part in the plainest encoding that carries it unharmed.
func (c *composer) text(subtype, s string) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	c.write("Content-Type: text/")
	c.write(subtype)
	c.write("; charset=utf-8\r\nContent-Transfer-Encoding: ")
	switch chooseEncoding(s) {
	case plain:
		c.write("7bit\r\n\r\n")
		c.plainText(s)
	case quotedPrintable:
		c.write("quoted-printable\r\n\r\n")
		c.quotedPrintable(s)
	default:
		c.write("base64\r\n\r\n")
		c.base64Text(s)
	}
	c.settle()
}

type encoding int

const (
	plain encoding = iota
	quotedPrintable
	inBase64
)

// chooseEncoding looks at a text once. Plain is for text that no relay has a reason to touch: short lines of printable ASCII,
// none of which looks like the start of a message to an old mailbox file. Base64 wins where quoted-printable would be longer.
func chooseEncoding(s string) encoding {
	escapes, line, longest := 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			longest = max(longest, line)
			line = 0
			continue
		case c >= utf8.RuneSelf || c < ' ' && c != '\t' || c == 0x7f:
			escapes++
		}
		line++
	}
	longest = max(longest, line)
	switch {
	case escapes == 0 && longest <= foldAt && !strings.Contains(s, boundaryMark) && !hasFromLine(s):
		return plain
	case 2*escapes > len(s)*3/8: // two more bytes per escape against 3/8 more for everything
		return inBase64
	}
	return quotedPrintable
}

// hasFromLine finds lines that mailbox files would change to ">From ", which breaks a signature.
func hasFromLine(s string) bool {
	return strings.HasPrefix(s, "From ") || strings.Contains(s, "\nFrom ") || strings.Contains(s, "\rFrom ")
}

func (c *composer) plainText(s string) {
	for s != "" {
		line, rest, ended := cutLine(s)
		c.write(line)
		if ended {
			c.write("\r\n")
		}
		s = rest
	}
}

// cutLine splits a text at its first line end of whatever kind.
func cutLine(s string) (line, rest string, ended bool) {
	i := strings.IndexByte(s, '\n')
	first := s
	if i >= 0 {
		first = s[:i]
	}
	if j := strings.IndexByte(first, '\r'); j >= 0 && j != i-1 {
		return s[:j], s[j+1:], true // a lone CR
	}
	switch {
	case i < 0:
		return s, "", false
	case i > 0 && s[i-1] == '\r':
		return s[:i-1], s[i+1:], true
	}
	return s[:i], s[i+1:], true
}

func (c *composer) base64Text(s string) {
	var normal strings.Builder
	normal.Grow(len(s) + len(s)/32)
	for s != "" {
		line, rest, ended := cutLine(s)
		normal.WriteString(line)
		if ended {
			normal.WriteString("\r\n")
		}
		s = rest
	}
	c.base64Lines([]byte(normal.String()))
}

// base64Lines writes data in lines of 76, without a line end after the last.
func (c *composer) base64Lines(data []byte) {
	for len(data) > base64Line {
		c.buf = base64.StdEncoding.AppendEncode(c.buf, data[:base64Line])
		c.write("\r\n")
		data = data[base64Line:]
	}
	c.buf = base64.StdEncoding.AppendEncode(c.buf, data)
}
