package smtp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reply is one answer of a server.
type Reply struct {
	// Code is the three-digit code; zero means that there was no answer.
	Code int
	// Enhanced is the status code of RFC 3463 ("5.1.1"), or empty.
	Enhanced string
	// Lines is the text, without codes.
	Lines []string
}

// NewReply returns a reply of one line.
func NewReply(code int, enhanced, text string) *Reply {
	return &Reply{Code: code, Enhanced: enhanced, Lines: []string{text}}
}

// Positive reports whether the server did what it was asked (2xx).
func (r Reply) Positive() bool { return r.Code/100 == 2 }

// Temporary reports whether the same request may succeed later (4xx).
func (r Reply) Temporary() bool { return r.Code/100 == 4 }

// Permanent reports whether the same request will fail again (5xx).
func (r Reply) Permanent() bool { return r.Code/100 == 5 }

// Text returns the lines joined by spaces, without codes.
func (r Reply) Text() string { return strings.Join(r.Lines, " ") }

// String returns the reply as one line: code, enhanced code, text.
func (r Reply) String() string {
	s := strconv.Itoa(r.Code)
	if r.Enhanced != "" {
		s += " " + r.Enhanced
	}
	if text := r.Text(); text != "" {
		s += " " + text
	}
	return s
}

// maxReplyText keeps a line of a reply within the 512 octets of RFC 5321 §4.5.3.1.5, codes and CRLF included.
const maxReplyText = 490

// appendWire appends the reply as it goes over the wire.
func (r Reply) appendWire(b []byte) []byte {
	for i := range max(len(r.Lines), 1) {
		text := ""
		if i < len(r.Lines) {
			text = r.Lines[i]
		}
		b = strconv.AppendInt(b, int64(r.Code), 10)
		if i+1 < len(r.Lines) {
			b = append(b, '-')
		} else {
			b = append(b, ' ')
		}
		if r.Enhanced != "" {
			b = append(b, r.Enhanced...)
			b = append(b, ' ')
		}
		b = appendPlain(b, text)
		b = append(b, '\r', '\n')
	}
	return b
}

// appendPlain appends text as printable ASCII: what a session says may contain what a peer said, and must not become a
// second line of the reply.
func appendPlain(b []byte, text string) []byte {
	for i := range min(len(text), maxReplyText) {
		if c := text[i]; c >= ' ' && c < 0x7f {
			b = append(b, c)
		} else {
			b = append(b, '?')
		}
	}
	return b
}

// plainText makes what a remote server said safe to store and to log as one line.
func plainText(raw []byte) string {
	clean := utf8.Valid(raw)
	for i := 0; clean && i < len(raw); i++ {
		clean = raw[i] >= ' ' && raw[i] < 0x7f
	}
	if clean {
		return string(raw)
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(raw))
}

// cutEnhanced splits text into a leading status code of RFC 3463 §2 whose class fits the reply code, and the rest.
func cutEnhanced(code int, text string) (enhanced, rest string) {
	end := strings.IndexByte(text, ' ')
	word := text
	if end >= 0 {
		word, rest = text[:end], text[end+1:]
	}
	class, details, found := strings.Cut(word, ".")
	subject, detail, found2 := strings.Cut(details, ".")
	if !found || !found2 || class != strconv.Itoa(code/100) || !isShortNumber(subject) || !isShortNumber(detail) {
		return "", text
	}
	return word, rest
}

func isShortNumber(s string) bool {
	if len(s) == 0 || len(s) > 3 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
