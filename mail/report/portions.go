package report

import (
	"bufio"
	"errors"
)

var errBoundless = errors.New("an element has no end")

// portions is a text of which only so much may be read at a time; left is how much still may.
type portions struct {
	from *bufio.Reader
	left int
}

// ReadByte is how a decoder reads.
func (p *portions) ReadByte() (byte, error) {
	if p.left <= 0 {
		return 0, errBoundless
	}
	p.left--
	return p.from.ReadByte()
}

// Read is how a converter between character sets reads.
func (p *portions) Read(into []byte) (int, error) {
	if p.left <= 0 {
		return 0, errBoundless
	}
	n, err := p.from.Read(into[:min(len(into), p.left)])
	p.left -= n
	return n, err
}
