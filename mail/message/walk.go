package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

const (
	// maxDepth is how deep multiparts are opened. Mail programs nest five deep; deeper ones are handed out closed.
	maxDepth = 20
	// maxParts bounds how many parts a message may have; an album of a thousand pictures still passes.
	maxParts = 2000
	// maxBoundary is the longest boundary there may be (RFC 2046 §5.1.1), with some mercy.
	maxBoundary = 200
	// maxPreamble is how much is shown of a multipart without parts.
	maxPreamble = 64 << 10
	// walkBuffer is how much of a line is looked at at once.
	walkBuffer = 16 << 10
)

// ErrTooManyParts means a message has more parts than any honest one.
var ErrTooManyParts = errors.New("message has too many parts")

// Part is a piece of a message that holds no others: a text, a picture, a file, a message enclosed.
type Part struct {
	// Fields is the header of the part; for a message without multiparts that of the message.
	Fields []Field
	// Type is the media type in lower case, text/plain if none is given.
	Type string
	// Charset is that of a text, in lower case, or empty.
	Charset string
	// Names are all the file names the part is given anywhere in its header. Programs disagree about which of them counts.
	Names []string
	// ContentID is without its brackets.
	ContentID string
	// Attached tells that the part is a file by its own account, rather than something to read.
	Attached bool
	// Parent is the media type of the multipart around the part, or empty.
	Parent string
	// Body is the content with its transfer encoding undone. It is good until the visit ends and need not be read.
	Body io.Reader
}

// Filename is the name to call a file by, or empty.
func (p *Part) Filename() string {
	if len(p.Names) == 0 {
		return ""
	}
	return cleanFilename(p.Names[0])
}

// Walk visits the parts of a message in their order. It reads the message once, line by line, in time and memory that do not
// depend on how it is nested, and makes the best of messages that break the rules. It ends early with the error of a visit, of r,
// ErrHeaderTooLarge or ErrTooManyParts.
func Walk(r io.Reader, visit func(*Part) error) error {
	return newWalker(r, visit, leniently).walk()
}

// walker reads a message by lines. Boundaries of all open multiparts are looked for at once, so depth costs nothing.
type walker struct {
	in          *bufio.Reader
	visit       func(*Part) error
	manner      manner
	boundaries  [][]byte
	parts       int
	atLineStart bool
}

// manner is what becomes of a message that programs read differently.
type manner int

const (
	leniently manner = iota
	strictly
)

func newWalker(r io.Reader, visit func(*Part) error, m manner) *walker {
	return &walker{in: bufio.NewReaderSize(r, walkBuffer), visit: visit, manner: m, atLineStart: true}
}

func (w *walker) walk() error {
	_, err := w.entity("", "text/plain")
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// boundaryAt tells which boundary a line is.
type boundaryAt struct {
	level int // index into boundaries; -1 for the end of the message
	last  bool
}

var endOfMessage = boundaryAt{level: -1}

// next returns the next line, or the next piece of a very long one, or the boundary it is. At the end of the message both are
// empty and the boundary is endOfMessage.
func (w *walker) next() (line []byte, at *boundaryAt, err error) {
	line, err = w.in.ReadSlice('\n')
	cut := errors.Is(err, bufio.ErrBufferFull)
	switch {
	case len(line) == 0 && errors.Is(err, io.EOF):
		return nil, &endOfMessage, nil
	case err != nil && !cut && !errors.Is(err, io.EOF):
		return nil, nil, err
	}
	started := w.atLineStart
	w.atLineStart = line[len(line)-1] == '\n'
	if !started || len(line) <= 2 || line[0] != '-' || line[1] != '-' {
		return line, nil, nil
	}
	found, ok := w.boundary(line[2:])
	switch {
	case ok && !cut:
		return nil, &found, nil
	case w.manner == strictly && w.begins(line[2:]): // some look no further (RFC 2046 §5.1.1), and a rest need not fit any buffer
		return nil, nil, ErrAmbiguous
	}
	return line, nil, nil
}

// boundary finds the innermost open multipart that a line belongs to.
func (w *walker) boundary(line []byte) (boundaryAt, bool) {
	line = bytes.TrimRight(line, " \t\r\n")
	for level := len(w.boundaries) - 1; level >= 0; level-- {
		rest, ok := bytes.CutPrefix(line, w.boundaries[level])
		switch {
		case ok && len(rest) == 0:
			return boundaryAt{level: level}, true
		case ok && string(rest) == "--":
			return boundaryAt{level: level, last: true}, true
		}
	}
	return boundaryAt{}, false
}

// begins tells whether a line begins like one that belongs to an open multipart.
func (w *walker) begins(line []byte) bool {
	return slices.ContainsFunc(w.boundaries, func(edge []byte) bool { return bytes.HasPrefix(line, edge) })
}

// entity reads a header and what follows it, up to a boundary of a multipart around it, which it returns.
func (w *walker) entity(parent, usual string) (boundaryAt, error) {
	header, ended, err := w.header()
	if err != nil {
		return boundaryAt{}, err
	}
	fields, _, err := ReadHeader(header)
	if err != nil {
		return boundaryAt{}, err
	}
	if w.manner == strictly && isAmbiguous(fields) {
		return boundaryAt{}, ErrAmbiguous
	}
	kind := readContentType(fields, usual)
	if ended == nil && strings.HasPrefix(kind.name, "multipart/") {
		if edge := kind.params["boundary"]; edge != "" && len(edge) <= maxBoundary && len(w.boundaries) < maxDepth {
			return w.multipart(fields, kind, parent, edge)
		}
		if w.manner == strictly { // somebody may open what stays closed here
			return boundaryAt{}, ErrAmbiguous
		}
	}
	return w.leaf(fields, kind, parent, ended)
}

// header reads up to the blank line. A boundary inside a header ends the part, which then has no body.
func (w *walker) header() (raw []byte, ended *boundaryAt, err error) {
	for {
		whole := w.atLineStart
		line, at, err := w.next()
		if err != nil || at != nil {
			return raw, at, err
		}
		if whole && len(bytes.TrimRight(line, "\r\n")) == 0 {
			return raw, nil, nil
		}
		if raw = append(raw, line...); len(raw) > maxHeaderBytes {
			return nil, nil, ErrHeaderTooLarge
		}
	}
}

func (w *walker) multipart(fields []Field, kind contentKind, parent, edge string) (boundaryAt, error) {
	level := len(w.boundaries)
	w.boundaries = append(w.boundaries, []byte(edge))
	usual := "text/plain"
	if kind.name == "multipart/digest" {
		usual = "message/rfc822"
	}
	preamble, at, err := w.preamble()
	if empty := at.level != level || at.last; err == nil && empty {
		err = w.unparted(fields, kind, parent, preamble)
	}
	for err == nil && at.level == level && !at.last {
		at, err = w.entity(kind.name, usual)
	}
	w.boundaries = w.boundaries[:level]
	if err == nil && at.level == level {
		at, err = w.epilogue(edge)
	}
	return at, err
}

// preamble reads up to the first boundary. What is before it is meant for nobody, unless there is nothing else.
func (w *walker) preamble() (text []byte, at boundaryAt, err error) {
	for {
		line, found, err := w.next()
		if err != nil {
			return nil, boundaryAt{}, err
		}
		if found != nil {
			return text, *found, nil
		}
		text = append(text, line[:min(len(line), maxPreamble-len(text))]...)
	}
}

// unparted visits the text of a multipart whose boundary never comes. Some programs show it and others do not; whoever judges a message
// must see it.
func (w *walker) unparted(fields []Field, kind contentKind, parent string, text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if w.parts++; w.parts > maxParts {
		return ErrTooManyParts
	}
	kind.name = "text/plain"
	p := newPart(fields, kind, parent)
	p.Body = decodeTransfer(bytes.NewReader(text), fields)
	return w.visit(p)
}

// epilogue reads what follows a multipart, up to the next boundary. Some programs go on there if its own boundary comes again.
func (w *walker) epilogue(edge string) (boundaryAt, error) {
	for {
		started := w.atLineStart
		line, at, err := w.next()
		if err != nil {
			return boundaryAt{}, err
		}
		if at != nil {
			return *at, nil
		}
		if rest, again := bytes.CutPrefix(line, []byte("--"+edge)); again && started && len(bytes.TrimSpace(rest)) == 0 && w.manner == strictly {
			return boundaryAt{}, ErrAmbiguous
		}
	}
}

func (w *walker) leaf(fields []Field, kind contentKind, parent string, ended *boundaryAt) (at boundaryAt, err error) {
	if w.parts++; w.parts > maxParts {
		return boundaryAt{}, ErrTooManyParts
	}
	p := newPart(fields, kind, parent)
	body := &leafReader{w: w, ended: ended}
	p.Body = decodeTransfer(body, fields)
	if w.manner == strictly {
		if p.Body, err = strictBody(body, fields, kind.name); err != nil {
			return boundaryAt{}, err
		}
	}
	if err := w.visit(p); err != nil {
		return boundaryAt{}, err
	}
	for body.ended == nil && body.err == nil { // an error that the visit took no notice of is still one
		body.fill()
	}
	if body.err != nil {
		return boundaryAt{}, body.err
	}
	return *body.ended, nil
}

// leafReader is the raw body of one part. The line end before a boundary belongs to the boundary, so each is held back until the
// next line is known.
type leafReader struct {
	w      *walker
	before []byte // the line end that was held back
	line   []byte // what follows it; a part of the walker's buffer
	held   []byte
	ended  *boundaryAt
	err    error
}

func (r *leafReader) Read(p []byte) (int, error) {
	for len(r.before)+len(r.line) == 0 {
		switch {
		case r.err != nil:
			return 0, r.err
		case r.ended != nil:
			return 0, io.EOF
		}
		r.fill()
	}
	n := copy(p, r.before)
	r.before = r.before[n:]
	if len(r.before) == 0 {
		copied := copy(p[n:], r.line)
		r.line = r.line[copied:]
		n += copied
	}
	return n, nil
}

// fill takes the next line.
func (r *leafReader) fill() {
	var line []byte
	line, r.ended, r.err = r.w.next()
	switch {
	case r.err != nil:
	case r.ended == nil:
		r.before = r.held
		r.line, r.held = cutLineEnd(line)
	case *r.ended == endOfMessage:
		r.before = r.held
	}
}

func cutLineEnd(line []byte) (text, end []byte) {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	if !ended {
		return line, nil
	}
	if text, ended = bytes.CutSuffix(text, []byte("\r")); ended {
		return text, []byte("\r\n")
	}
	return text, []byte("\n")
}
