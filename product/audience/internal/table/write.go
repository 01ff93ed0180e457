package table

import (
	"encoding/csv"
	"io"
	"strings"
)

// Writer writes the rows of a table.
type Writer struct{ csv *csv.Writer }

// NewWriter returns a writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{csv.NewWriter(out)} }

// Write writes a row. Cells that a spreadsheet would take for a formula get an apostrophe in front, which makes them text; those that
// are Plain stay as they are.
func (w *Writer) Write(cells ...any) error {
	row := make([]string, len(cells))
	for i, cell := range cells {
		switch c := cell.(type) {
		case PlainCell:
			row[i] = string(c)
		case string:
			row[i] = Defuse(c)
		}
	}
	return w.csv.Write(row)
}

// PlainCell is a cell that we wrote ourselves, such as a number.
type PlainCell string

// Flush sends what is buffered and returns the first error of all writes.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// Defuse returns a text that no spreadsheet runs.
func Defuse(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
