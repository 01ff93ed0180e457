package smtp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// RefusedError is what reading a message ends with when the server will not take it: it is too large, or holds a bare CR,
// a bare LF, a NUL or an endless line. The server tells the client so, whatever the session says.
type RefusedError struct{ Reply *Reply }

func (e *RefusedError) Error() string { return "message refused: " + e.Reply.String() }

var errDrainedEnough = errors.New("end of refused message not found")

// maxDrainBytes is how much of a refused message is read to find its end, so that a client that merely sends too much sees
// the reply instead of a reset.
const maxDrainBytes = 64 << 20

// dataReader reads a message after DATA: it undoes dot-stuffing and ends at CRLF.CRLF and nowhere else. Lines that end
// otherwise are how one message is made to look like two to the next server, so they refuse the whole message.
type dataReader struct {
	in       *bufio.Reader
	maxBytes int64
	maxLine  int

	rest      []byte // what Read has not handed out of the current piece; a part of in's buffer
	afterCRLF bool   // the next piece starts a line
	afterCR   bool   // the last piece was cut off after a CR, whose LF may follow
	lineBytes int
	size      int64
	drained   int64

	ended   bool   // CRLF.CRLF was read
	refusal *Reply // why the message will not be taken
	failure error  // the connection failed, or the end was not found
}

// Read returns the next bytes of the message, io.EOF at its end, a RefusedError when it will not be taken.
func (d *dataReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(d.rest) == 0 {
			if n > 0 && d.in.Buffered() == 0 {
				break
			}
			if err := d.next(); err != nil {
				if n > 0 {
					break // the same error comes again
				}
				return 0, err
			}
		}
		copied := copy(p[n:], d.rest)
		d.rest = d.rest[copied:]
		n += copied
	}
	return n, nil
}

// drain reads to the end of the message, whatever it holds.
func (d *dataReader) drain() {
	for !d.ended && d.failure == nil {
		d.piece()
	}
	d.rest = nil
}

// next fetches the piece that Read hands out.
func (d *dataReader) next() error {
	if d.refusal == nil && d.failure == nil && !d.ended {
		d.rest = d.piece()
	}
	switch {
	case d.refusal != nil:
		d.rest = nil
		return &RefusedError{d.refusal}
	case d.failure != nil:
		return d.failure
	case d.ended:
		return io.EOF
	}
	return nil
}

// piece reads one line, or as much of it as fits the buffer, and returns what of it belongs to the message.
func (d *dataReader) piece() []byte {
	raw, err := d.in.ReadSlice('\n')
	whole := err == nil
	if !whole && err != bufio.ErrBufferFull {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		d.failure = err
		return nil
	}
	if d.afterCRLF && string(raw) == ".\r\n" {
		d.ended = true
		return nil
	}
	text := raw
	if d.afterCRLF && raw[0] == '.' {
		text = raw[1:]
	}
	d.checkEnding(raw, whole)
	d.checkLimits(text, whole)
	return text
}

// checkEnding refuses a bare CR or LF and remembers how this piece ended for the next.
func (d *dataReader) checkEnding(raw []byte, whole bool) {
	cr := bytes.IndexByte(raw, '\r')
	endsCRLF := whole && (cr >= 0 && cr == len(raw)-2 || d.afterCR && len(raw) == 1)
	endsCR := !whole && cr == len(raw)-1
	bareCR := d.afterCR && raw[0] != '\n' || cr >= 0 && !endsCR && !endsCRLF
	if bareCR || whole && !endsCRLF {
		d.refuse(replyBareEnding)
	}
	// After a bare CR the rest of the line may still end in CRLF; only what precedes the LF counts for the end of data.
	d.afterCRLF = endsCRLF || whole && bytes.HasSuffix(raw, []byte("\r\n"))
	d.afterCR = !whole && raw[len(raw)-1] == '\r'
}

// checkLimits refuses what is too large, and gives up the search for the end of what was refused.
func (d *dataReader) checkLimits(text []byte, whole bool) {
	d.size += int64(len(text))
	d.lineBytes += len(text)
	switch {
	case d.size > d.maxBytes:
		d.refuse(replyTooLarge)
	case d.lineBytes > d.maxLine:
		d.refuse(replyLongText)
	case bytes.IndexByte(text, 0) >= 0:
		d.refuse(replyNUL)
	}
	if whole {
		d.lineBytes = 0
	}
	if d.refusal == nil {
		return
	}
	if d.drained += int64(len(text)); d.drained > maxDrainBytes {
		d.failure = errDrainedEnough
	}
}

func (d *dataReader) refuse(r *Reply) {
	if d.refusal == nil {
		d.refusal = r
	}
}
