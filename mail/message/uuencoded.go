package message

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"io"
	"strings"
)

// maxTextLine is how much of a line is looked at: twice of what SMTP allows, and many times of what uuencode makes.
const maxTextLine = 2000

// WalkText visits the files that stand in the middle of a text, uuencoded, as programs sent them before there were parts. Some still show
// them as attachments, so whoever judges a message must see them. What only looks like the beginning of one is passed over. The text is
// read to its end, unless a visit or r fails; a content is good until its visit ends and need not be read. A name that no line holds ends it
// with ErrAmbiguous, because nobody can tell what is left of it where.
func WalkText(r io.Reader, visit func(name string, content io.Reader) error) error {
	lines := &textLines{in: bufio.NewReaderSize(&plainEnds{in: r}, maxTextLine)}
	for lines.next() {
		name, decode := beginning(lines.line, lines.cut)
		if decode == nil {
			continue
		}
		endless := lines.cut
		content := &textFile{lines: lines, decode: decode}
		if content.fill(); len(content.out) == 0 {
			continue
		}
		if endless {
			return ErrAmbiguous
		}
		if err := visit(name, content); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			return err
		}
	}
	return lines.err
}

// plainEnds makes one LF of every line end there is. A text may have any, and all are lines to some program.
type plainEnds struct {
	in      io.Reader
	afterCR bool
}

func (p *plainEnds) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	kept := 0
	for rest := b[:n]; len(rest) > 0; {
		if p.afterCR && rest[0] == '\n' {
			rest = rest[1:]
		}
		line, after, ended := bytes.Cut(rest, []byte("\r"))
		kept += copy(b[kept:], line)
		if p.afterCR = ended; ended {
			b[kept] = '\n'
			kept++
		}
		rest = after
	}
	return kept, err
}

// textLines are the lines of a text without their ends. Of a very long one only the beginning is kept.
type textLines struct {
	in    *bufio.Reader
	line  []byte
	cut   bool // the line goes on
	again bool // the line is to be looked at once more
	err   error
}

func (t *textLines) next() bool {
	if t.again {
		t.again = false
		return true
	}
	if t.err != nil {
		return false
	}
	line, err := t.in.ReadSlice('\n')
	t.line = append(t.line[:0], bytes.TrimRight(line, "\n")...)
	t.cut = errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = t.in.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
		return false
	}
	return err == nil || len(t.line) > 0
}

// decodeLine returns what a line stands for, or that the file has ended with it.
type decodeLine func(line []byte) (content []byte, ended bool)

// beginning reads the line before a file: begin, its mode in octal digits, and its name. Of a line that was cut there may be blanks only.
func beginning(line []byte, cut bool) (name string, decode decodeLine) {
	if !bytes.HasPrefix(line, []byte("begin")) {
		return "", nil
	}
	word, rest, _ := strings.Cut(string(line), " ")
	mode, name, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	blank := cut && mode == ""
	if !blank && (len(mode) < 3 || len(mode) > 4) || strings.Trim(mode, "01234567") != "" {
		return "", nil
	}
	switch word {
	case "begin":
		return strings.TrimSpace(name), decodeUU
	case "begin-base64":
		return strings.TrimSpace(name), decodeBase64Line
	}
	return "", nil
}

const (
	uuZero = ' ' // stands for 0; so does uuTick, which no program cuts off the end of a line
	uuTick = '`'
)

// decodeUU reads a line of uuencode: the number of its bytes, then four characters for every three of them, and maybe one for their sum.
// Blanks that were cut off its end are put back. Programs take other characters for those with the same last six bits, so a line of the
// right length may have any.
func decodeUU(line []byte) (content []byte, ended bool) {
	if len(line) == 0 || (line[0]-uuZero)&63 == 0 {
		return nil, true
	}
	count := int(line[0]-uuZero) & 63
	line = line[1:]
	surplus := len(line) - (count+2)/3*4
	usual := !bytes.ContainsFunc(line, func(r rune) bool { return r < uuZero || r > uuTick })
	if !usual && surplus != 0 && surplus != 1 {
		return nil, true
	}
	for len(content) < count {
		var group [4]byte
		line = line[copy(group[:], line):]
		for i, c := range group {
			if c != 0 {
				group[i] = (c - uuZero) & 63
			}
		}
		content = append(content, group[0]<<2|group[1]>>4, group[1]<<4|group[2]>>2, group[2]<<6|group[3])
	}
	return content[:count], false
}

func decodeBase64Line(line []byte) (content []byte, ended bool) {
	content, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(line)))
	return content, err != nil
}

// textFile is the content of a file in a text. It ends before the first line that is not part of it.
type textFile struct {
	lines  *textLines
	decode decodeLine
	out    []byte
	ended  bool
}

func (f *textFile) fill() {
	if !f.lines.next() {
		f.ended = true
		return
	}
	if f.out, f.ended = f.decode(f.lines.line); f.ended {
		f.lines.again = true // it may begin another
	}
}

func (f *textFile) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.ended {
			return 0, cmp.Or(f.lines.err, io.EOF)
		}
		f.fill()
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}
