// Package table reads and writes tables as files of comma-separated values. It reads what spreadsheets write, in any of their
// encodings, in bounded memory; and it writes what a spreadsheet shows and never runs.
//
// Pure: no clock, no network, no state.
package table

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Plain returns the text of a file as UTF-8 without a byte order mark. open is called up to three times, each time for the file from
// its beginning. The encodings are UTF-8, UTF-16 with a byte order mark, and what Windows calls ANSI in the west: any file that is
// nothing else is taken for that.
func Plain(open func() (io.Reader, error)) (io.Reader, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	start := make([]byte, 3)
	n, err := io.ReadFull(r, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	whole, err := open()
	if err != nil {
		return nil, err
	}
	switch start = start[:n]; {
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return transform.NewReader(whole, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), nil
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		return transform.NewReader(whole, unicode.UTF8BOM.NewDecoder()), nil
	}
	_, err = io.Copy(io.Discard, transform.NewReader(whole, encoding.UTF8Validator))
	if err != nil && !errors.Is(err, encoding.ErrInvalidUTF8) {
		return nil, err
	}
	again, openErr := open()
	if err == nil || openErr != nil {
		return again, openErr
	}
	return transform.NewReader(again, charmap.Windows1252.NewDecoder()), nil
}
