package dkim

import (
	"bytes"
	"crypto/sha256"
)

// hashChunk is how much canonical body is gathered before it is hashed.
const hashChunk = 16 << 10

// hashBody returns the SHA-256 of the body in relaxed form: runs of blanks are one space, blanks at the end of lines and empty
// lines at the end of the body are gone, and a body that is left ends with a line end (RFC 6376 §3.4.4).
func hashBody(body []byte) ([]byte, error) {
	hash := sha256.New()
	buf := make([]byte, 0, hashChunk+1<<10)
	empty := 0 // lines that count only if another follows
	for len(body) > 0 {
		line, rest, err := cutLine(body)
		if err != nil {
			return nil, err
		}
		body = rest
		if line = trimBlanks(line); len(line) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			buf = append(buf, "\r\n"...)
			if len(buf) >= hashChunk { // a body may be a million empty lines and a word
				hash.Write(buf)
				buf = buf[:0]
			}
		}
		buf = appendCollapsed(buf, line)
		buf = append(buf, "\r\n"...)
		if len(buf) >= hashChunk {
			hash.Write(buf)
			buf = buf[:0]
		}
	}
	hash.Write(buf)
	return hash.Sum(nil), nil
}

// cutLine splits off the first line. The last one may lack its line end, which the canonical form adds.
func cutLine(b []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	switch {
	case i < 0:
		line = b
	case i == 0 || b[i-1] != '\r':
		return nil, nil, ErrLineEnds
	default:
		line, rest = b[:i-1], b[i+1:]
	}
	if bytes.IndexByte(line, '\r') >= 0 {
		return nil, nil, ErrLineEnds
	}
	return line, rest, nil
}

// appendRelaxed appends a header field in relaxed form, without its line end: the name in lower case, the value on one line
// with single spaces and none around it (RFC 6376 §3.4.2).
func appendRelaxed(dst, field []byte) []byte {
	name, value, _ := bytes.Cut(field, []byte(":"))
	for _, c := range trimBlanks(name) {
		dst = append(dst, lower(c))
	}
	dst = append(dst, ':')
	start := len(dst)
	for len(value) > 0 {
		line, rest, found := bytes.Cut(value, []byte("\r\n"))
		dst = appendCollapsed(dst, line)
		if value = rest; found && len(dst) > start && dst[len(dst)-1] == ' ' && len(rest) > 0 {
			dst = dst[:len(dst)-1] // the next line begins with a blank of its own
		}
	}
	trimmed := bytes.Trim(dst[start:], " ")
	return append(dst[:start], trimmed...)
}

// appendCollapsed appends a line with each run of blanks as one space.
func appendCollapsed(dst, line []byte) []byte {
	if bytes.IndexByte(line, '\t') < 0 && !bytes.Contains(line, []byte("  ")) {
		return append(dst, line...) // most lines
	}
	start := 0 // of what is not yet appended
	for i := 0; i < len(line); i++ {
		if !isBlank(line[i]) {
			continue
		}
		end := i + 1
		for end < len(line) && isBlank(line[end]) {
			end++
		}
		if end == i+1 && line[i] == ' ' {
			continue
		}
		dst = append(dst, line[start:i]...)
		dst = append(dst, ' ')
		start, i = end, end-1
	}
	return append(dst, line[start:]...)
}

func trimBlanks(line []byte) []byte {
	for len(line) > 0 && isBlank(line[len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
