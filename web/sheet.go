package web

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"postrider/mail/address"
)

// sheet is a file of contacts as a person looks at it before it is imported.
type sheet struct {
	plain     []byte
	separator rune
	// body is where the rows begin, after the header.
	body   int64
	Header []string
	// Sample are the first rows, each as wide as the header.
	Sample [][]string
	Rows   int64
}

const (
	// sampleRows is how many rows are shown, maxColumns how many columns a file may have.
	sampleRows = 5
	maxColumns = 500
	// maxSheet is the largest file in bytes after it was unpacked; the API takes as much.
	maxSheet = 50 << 20
)

// unreadable says that a file is no table.
func unreadable() error {
	return &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The file is empty, or is not a table with names of columns in its first row."}
}

// readSheet reads a table in any of the forms that spreadsheets write.
func readSheet(raw []byte) (*sheet, error) {
	s := &sheet{plain: plainText(raw)}
	s.plain = bytes.TrimLeft(s.plain, "\r\n")
	first, _, _ := bytes.Cut(s.plain, []byte("\n"))
	s.separator = separatorOf(first)
	rows := s.reader(s.plain)
	header, err := rows.Read()
	if err != nil || strings.TrimSpace(strings.Join(header, "")) == "" || len(header) > maxColumns || bytes.IndexByte(s.plain, 0) >= 0 {
		return nil, unreadable()
	}
	for _, name := range header {
		s.Header = append(s.Header, strings.TrimSpace(name))
	}
	s.body = rows.InputOffset()
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, unreadable()
		}
		if s.Rows++; s.Rows <= sampleRows {
			cells := make([]string, len(s.Header))
			for i := range min(len(cells), len(row)) {
				cells[i] = visible(row[i])
			}
			s.Sample = append(s.Sample, cells)
		}
	}
}

func (s *sheet) reader(of []byte) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(of))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = s.separator, -1, true, true
	return r
}

// plainText is a file as UTF-8: spreadsheets also write UTF-16, and what Windows calls ANSI.
func plainText(raw []byte) []byte {
	decode := func(text []byte, err error) []byte {
		if err != nil {
			return raw
		}
		return text
	}
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return decode(unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(raw))
	case utf8.Valid(raw):
		return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	}
	return decode(charmap.Windows1252.NewDecoder().Bytes(raw))
}

// separatorOf is what stands between most columns.
func separatorOf(header []byte) rune {
	best := ','
	for _, candidate := range ";\t" {
		if bytes.Count(header, []byte(string(candidate))) > bytes.Count(header, []byte(string(best))) {
			best = candidate
		}
	}
	return best
}

// addressCheck is what can be told about the addresses of a file without importing it.
type addressCheck struct {
	Good, Wrong, Twice int64
	// Example is the first cell that is no address.
	Example string
}

// check looks at every cell of a column.
func (s *sheet) check(column int) (c addressCheck) {
	rows, seen := s.reader(s.plain[s.body:]), map[string]bool{}
	for {
		row, err := rows.Read()
		if err != nil {
			return c // the whole file was read before
		}
		cell := ""
		if column < len(row) {
			cell = strings.TrimSpace(row[column])
		}
		to, err := address.Parse(cell)
		switch key := to.Key(); {
		case err != nil:
			if c.Wrong++; c.Wrong == 1 {
				c.Example = visible(cell)
			}
		case seen[key]:
			c.Twice++
		default:
			c.Good++
			seen[key] = true
		}
	}
}

// withColumns returns the file with its columns named after what they hold. Columns that hold nothing get names that mean nothing to
// the API, which otherwise recognises usual names by itself.
func (s *sheet) withColumns(targets []string) []byte {
	names := make([]string, len(s.Header))
	for i := range names {
		if names[i] = fmt.Sprintf("(%d)", i+1); i < len(targets) && targets[i] != "" {
			names[i] = targets[i]
		}
	}
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	w.Comma = s.separator
	_ = w.Write(names) // a buffer takes everything
	w.Flush()
	file.Write(s.plain[s.body:])
	return file.Bytes()
}

// usualColumns are how people call their columns.
var usualColumns = map[string][]string{
	"email": {"email", "e_mail", "email_address", "mail", "address"}, "first_name": {"first_name", "firstname", "given_name", "first"},
	"last_name": {"last_name", "lastname", "surname", "family_name", "last"}, "unsubscribed": {"unsubscribed"},
}

// guess tells what the columns of a file are likely to hold, by their names; nothing is found twice.
func (s *sheet) guess(properties []propertyRecord) []string {
	plain, taken := strings.NewReplacer(" ", "_", "-", "_"), map[string]bool{}
	targets := make([]string, len(s.Header))
	for i, name := range s.Header {
		name = plain.Replace(strings.ToLower(name))
		for target, usual := range usualColumns {
			if slices.Contains(usual, name) && !taken[target] {
				targets[i] = target
			}
		}
		if slices.ContainsFunc(properties, func(p propertyRecord) bool { return p.Key == name }) && targets[i] == "" {
			targets[i] = name
		}
		taken[targets[i]] = true
	}
	return targets
}

// pack writes a file so that a form can carry it from one page to the next: nothing has to be kept on the server meanwhile.
func pack(raw []byte) string { return base64.RawURLEncoding.EncodeToString(compress(raw)) }

func unpack(text string) ([]byte, error) {
	refused := &problem{Status: http.StatusBadRequest, Code: "validation_error", Message: "The file was lost on the way. Choose it again."}
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, refused
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, refused
	}
	raw, err := io.ReadAll(io.LimitReader(reader, maxSheet+1))
	if err != nil || len(raw) > maxSheet {
		return nil, refused
	}
	return raw, nil
}
