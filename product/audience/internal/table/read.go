package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// MaxRow is the longest row in bytes. A contact with a hundred properties is far shorter.
	MaxRow = 256 << 10
	// MaxColumns is how many columns a table may have.
	MaxColumns = 500
)

var (
	// ErrRow means that a row is too long or has too many columns. What follows cannot be told apart from it.
	ErrRow = fmt.Errorf("a row must have at most %d columns and %d KB", MaxColumns, MaxRow>>10)
	// ErrEmpty means that there is no header.
	ErrEmpty = errors.New("the file is empty")
)

// Reader reads the rows of a table.
type Reader struct {
	// Header is the first row, without the spaces around its names.
	Header []string

	csv    *csv.Reader
	source *budget
	begin  int64 // where in the file the rows of csv begin
}

// NewReader reads the header of a table and goes on after the row that ended at an offset; 0 means the header.
func NewReader(plain io.Reader, offset int64) (*Reader, error) {
	source := &budget{r: bufio.NewReaderSize(plain, 64<<10), left: MaxRow}
	first, err := readHeader(source)
	if err != nil {
		return nil, err
	}
	separator := separatorOf(first)
	header := newCSV(bytes.NewReader(first), separator)
	names, err := header.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, ErrEmpty
	case err != nil:
		return nil, err
	case len(names) > MaxColumns:
		return nil, ErrRow
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if strings.Join(names, "") == "" {
		return nil, ErrEmpty
	}
	r := &Reader{Header: names, source: source, begin: int64(len(first))}
	if offset > r.begin {
		source.left = int(min(offset-r.begin, 1<<62))
		if _, err := io.CopyN(io.Discard, source, offset-r.begin); err != nil {
			return nil, err
		}
		r.begin = offset
	}
	source.left = MaxRow
	r.csv = newCSV(source, separator)
	return r, nil
}

func newCSV(r io.Reader, separator rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma, c.FieldsPerRecord, c.LazyQuotes, c.ReuseRecord = separator, -1, true, true
	return c
}

// readHeader reads the bytes of the first row that is not blank. A line break inside quotes does not end it; a quotation mark in the middle of
// a column is none, as in screen 15".
func readHeader(source *budget) ([]byte, error) {
	var line []byte
	quoted, begins := false, true
	for {
		b, err := source.ReadByte()
		if errors.Is(err, io.EOF) {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		line = append(line, b)
		switch {
		case b == '"' && (quoted || begins):
			quoted, begins = !quoted, quoted // one that follows the end is a mark inside, and goes on
			continue
		case b == '\n' && !quoted && len(bytes.TrimSpace(line)) > 0:
			return line, nil
		}
		begins = strings.IndexByte(",;\t\n", b) >= 0
	}
}

// separatorOf is what stands between most columns: spreadsheets write semicolons where a comma is part of numbers.
func separatorOf(header []byte) rune {
	best := ','
	for _, candidate := range []rune{';', '\t'} {
		if bytes.Count(header, []byte(string(candidate))) > bytes.Count(header, []byte(string(best))) {
			best = candidate
		}
	}
	return best
}

// Next returns the next row, which is good until the one after; io.EOF follows the last.
func (r *Reader) Next() ([]string, error) {
	r.source.left = MaxRow
	row, err := r.csv.Read()
	if err == nil && len(row) > MaxColumns {
		return nil, ErrRow
	}
	var wrong *csv.ParseError
	if errors.As(err, &wrong) && errors.Is(wrong.Err, ErrRow) {
		err = ErrRow
	}
	return row, err
}

// Offset returns where in the file the row that was read last ends.
func (r *Reader) Offset() int64 { return r.begin + r.csv.InputOffset() }

// budget fails when more is read than one row may have. What the reader of rows has buffered ahead is a small part of that.
type budget struct {
	r    *bufio.Reader
	left int
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrRow
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// ReadByte reads a single byte.
func (b *budget) ReadByte() (byte, error) {
	if b.left--; b.left < 0 {
		return 0, ErrRow
	}
	return b.r.ReadByte()
}
