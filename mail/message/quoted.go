package message

import "strings"

// quotedLine is the longest line of quoted-printable, its soft line break included (RFC 2045 §6.7 (5)).
const quotedLine = 76

// isQuotedPlain are the bytes that quoted-printable carries as they are; blanks at the end of a line are seen to apart.
var isQuotedPlain = quotedPlainTable()

func quotedPlainTable() (table [256]bool) {
	for c := ' '; c <= '~'; c++ {
		table[c] = c != '='
	}
	table['\t'] = true
	return table
}

// quotedPrintable writes text line by line.
func (c *composer) quotedPrintable(s string) {
	for s != "" && c.err == nil {
		line, rest, ended := cutLine(s)
		c.quotedPrintableLine(line)
		if ended {
			c.write("\r\n")
		}
		s = rest
		if len(c.buf) >= flushAt {
			c.settle()
		}
	}
}

func (c *composer) quotedPrintableLine(line string) {
	const hex = "0123456789ABCDEF"
	buf := c.buf
	const whole = quotedLine - 1 // the last column is for the "=" of a soft break
	room := whole
	for i := 0; i < len(line); {
		if room == whole && strings.HasPrefix(line[i:], "From ") {
			buf = append(buf, "=46"...)
			room -= 3
			i++
		}
		run := i
		for run < len(line) && isQuotedPlain[line[run]] && run-i < room {
			run++
		}
		if run == len(line) && (line[run-1] == ' ' || line[run-1] == '\t') {
			run-- // a blank at the end would be lost on the way
		}
		buf = append(buf, line[i:run]...)
		room -= run - i
		i = run
		if i == len(line) {
			break
		}
		escape := !isQuotedPlain[line[i]] || i == len(line)-1 && (line[i] == ' ' || line[i] == '\t')
		if room < 1 || escape && room < 3 {
			buf = append(buf, "=\r\n"...)
			room = whole
		}
		if escape {
			buf = append(buf, '=', hex[line[i]>>4], hex[line[i]&15])
			room -= 3
			i++
		}
	}
	c.buf = buf
}
