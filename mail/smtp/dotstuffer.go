package smtp

import "bytes"

// lineWindow is how far ahead the end of a line is looked for at once: nearly all lines are shorter, and text that is all
// CR and no LF costs no more than a window for each.
const lineWindow = 1 << 10

// dotStuffer makes any bytes the text of a message on the wire: every line ends in CRLF, whether it ended in CRLF, CR or LF,
// and a line that starts with a dot gets a second one (RFC 5321 §4.5.2). Nothing it puts out, followed by its end, can be
// read as two messages by any server, however lax.
type dotStuffer struct {
	lineStart bool // the next byte starts a line
	afterCR   bool // the last byte was a CR, already put out as CRLF, so an LF is swallowed
}

// append appends the wire form of a beginning of text to b, until b holds about limit bytes, and returns how much of text
// it used. The result may exceed the limit by the three bytes of one line's start and end.
func (d *dotStuffer) append(b, text []byte, limit int) (out []byte, used int) {
	for used < len(text) && len(b) < limit {
		rest := text[used:]
		if d.afterCR {
			d.afterCR = false
			if rest[0] == '\n' {
				used++
				continue
			}
		}
		if d.lineStart && rest[0] == '.' {
			b = append(b, '.')
		}
		line := rest[:min(len(rest), limit-len(b)+1, lineWindow)]
		end := lineEnd(line)
		if end < 0 {
			b = append(b, line...)
			used += len(line)
			d.lineStart = false
			continue
		}
		b = append(b, line[:end]...)
		b = append(b, '\r', '\n')
		d.lineStart, d.afterCR = true, line[end] == '\r'
		used += end + 1
	}
	return b, used
}

// lineEnd returns where the first CR or LF is, or -1.
func lineEnd(text []byte) int {
	if lf := bytes.IndexByte(text, '\n'); lf >= 0 {
		text = text[:lf+1]
	}
	if cr := bytes.IndexByte(text, '\r'); cr >= 0 {
		return cr
	}
	if len(text) > 0 && text[len(text)-1] == '\n' {
		return len(text) - 1
	}
	return -1
}

// appendEnd completes the last line and ends the message.
func (d *dotStuffer) appendEnd(b []byte) []byte {
	if !d.lineStart {
		b = append(b, '\r', '\n')
	}
	return append(b, ".\r\n"...)
}
