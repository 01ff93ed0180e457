package message

import (
	"strings"
	"time"
	"unicode/utf8"

	"postrider/mail/address"
)

const (
	// foldAt is the line length that every reader is comfortable with (RFC 5322 §2.1.1).
	foldAt = 78
	// maxLine is the longest line that is legal, without its CRLF (RFC 5322 §2.1.1).
	maxLine = 998
	// maxFieldWord is the longest run without a space that may stand in a header; with its name it stays below maxLine.
	maxFieldWord = 900
	// maxFieldName keeps a name and its colon on a comfortable line.
	maxFieldName = 76
	// maxFieldValue bounds one header value; a References field of a very long thread has about half of it.
	maxFieldValue = 8 << 10
)

// ValidHeaderName tells whether a name may stand before the colon of a header field (RFC 5322 §2.2).
func ValidHeaderName(name string) bool {
	if name == "" || len(name) > maxFieldName {
		return false
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' || name[i] == ':' {
			return false
		}
	}
	return true
}

// ValidHeaderValue tells whether a value stays the value of one header field: UTF-8 without line ends or other control
// characters, and not so long that no line could hold it.
func ValidHeaderValue(value string) bool {
	if len(value) > maxFieldValue || !utf8.ValidString(value) {
		return false
	}
	var run foldRun
	for _, r := range value {
		if r < ' ' && r != '\t' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' || !run.add(r) {
			return false
		}
	}
	return true
}

// foldRun counts the bytes that have to stand on one line, because a line can be broken before the first of several blanks only.
type foldRun struct {
	bytes int
	blank bool
}

// add tells whether a line can still hold the run with one more character.
func (f *foldRun) add(r rune) bool {
	blank := r == ' ' || r == '\t'
	if blank && !f.blank {
		f.bytes = 0
	}
	f.bytes, f.blank = f.bytes+utf8.RuneLen(r), blank
	return f.bytes <= maxFieldWord
}

// Reserved tells whether a header belongs to the service: who speaks to whom, how the body is built, and the traces of the
// journey. Senders may not set it.
func Reserved(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "from", "to", "cc", "bcc", "subject", "date", "message-id", "mime-version",
		"sender", "return-path", "received", "dkim-signature", "domainkey-signature", "authentication-results":
		return true
	default:
		return strings.HasPrefix(lower, "content-") || strings.HasPrefix(lower, "resent-") || strings.HasPrefix(lower, "arc-")
	}
}

func (c *composer) dateField(at time.Time) {
	c.write("Date: ")
	c.buf = at.UTC().AppendFormat(c.buf, "Mon, 02 Jan 2006 15:04:05 -0700")
	c.write("\r\n")
}

// addressField writes a list of addresses, or nothing for an empty list.
func (c *composer) addressField(name string, list []address.Address) {
	if len(list) > 0 {
		c.field(name, writtenList(list))
	}
}

func writtenList(list []address.Address) string {
	if len(list) == 1 {
		return list[0].Header()
	}
	var b strings.Builder
	for i, a := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.Header())
	}
	return b.String()
}

// textField writes free text, encoded if it has to be.
func (c *composer) textField(name, value string) {
	value = strings.TrimSpace(oneLine(value))
	if !isPlainText(value) || strings.Contains(value, "=?") {
		value = address.EncodeWords(value)
	}
	c.field(name, value)
}

// customField writes a sender's own header.
func (c *composer) customField(h Header) {
	if !ValidHeaderName(h.Name) || Reserved(h.Name) {
		c.fail(ErrHeader)
		return
	}
	value, problem := writtenValue(h.Name, h.Value)
	if problem != "" {
		c.fail(ErrHeader)
		return
	}
	c.field(h.Name, value)
}

// field writes a header field and folds it at spaces. It is the only way into a header, so here is where a line end inside a
// value is stopped, wherever it came from.
func (c *composer) field(name, value string) {
	if strings.ContainsAny(value, "\r\n\x00") {
		c.fail(ErrHeader)
		return
	}
	c.write(name)
	c.write(": ")
	used := len(name) + 2
	for used+len(value) > foldAt {
		at := foldPoint(value, foldAt-used)
		if at < 0 || used+at > maxLine {
			break
		}
		c.write(value[:at])
		c.write("\r\n")
		value, used = value[at:], 0
	}
	if used+len(value) > maxLine {
		c.fail(ErrHeader)
	}
	c.write(value)
	c.write("\r\n")
}

// AppendField appends a header field with its line end to a header that is not composed here, folded as all fields are. Its error is
// ErrHeader, for a value that would not stay one field.
func AppendField(header []byte, name, value string) ([]byte, error) {
	c := composer{buf: header}
	c.field(name, value)
	return c.buf, c.err
}

// foldPoint returns the last space that leaves at most room bytes before it, or the first one after that, or -1. A space that
// follows a space is no choice: the rest of a line must not be all blank (RFC 5322 §3.2.2).
func foldPoint(value string, room int) int {
	best := -1
	for i := 1; i < len(value)-1; i++ {
		if value[i] != ' ' && value[i] != '\t' || value[i-1] == ' ' || value[i-1] == '\t' {
			continue
		}
		if i > room {
			if best < 0 {
				best = i
			}
			break
		}
		best = i
	}
	return best
}

// isPlainText tells whether free text can stand in a header as it is.
func isPlainText(s string) bool {
	var run foldRun
	for _, r := range s {
		if r < ' ' && r != '\t' || r > '~' || !run.add(r) {
			return false
		}
	}
	return true
}

// oneLine turns line ends and other control characters into spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// ValidMessageID tells whether an id has the form <left@right>, in ASCII and without blanks.
func ValidMessageID(id string) bool {
	left, right, found := strings.Cut(id, "@")
	if !found || len(id) > maxFieldWord || len(left) < 2 || len(right) < 2 || left[0] != '<' || right[len(right)-1] != '>' {
		return false
	}
	for i := 1; i < len(id)-1; i++ {
		if id[i] <= ' ' || id[i] > '~' || id[i] == '<' || id[i] == '>' {
			return false
		}
	}
	return !strings.Contains(right, "@")
}
