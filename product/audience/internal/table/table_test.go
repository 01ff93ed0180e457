package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

// all reads the rows of a file from an offset.
func all(t *testing.T, content string, offset int64) (header []string, rows [][]string, offsets []int64) {
	t.Helper()
	r, err := NewReader(strings.NewReader(content), offset)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, rows, offsets
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, offsets = append(rows, slices.Clone(row)), append(offsets, r.Offset())
	}
}

func TestReadingGoesOnAfterAnyRow(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"a,b\n1,2\n3,4\n", "\n\na;b\r\n1;\"2\r\n;\"\r\n3;4", "a\tb\n\"x\"\"y\"\t2\n\n5\t6\n", "\"a\nb\",c\n1,2\n3\n4,5,6\n", "a,b\n", "a", " a , b \n1, 2 \n",
	} {
		header, rows, offsets := all(t, content, 0)
		for i, offset := range offsets {
			again, rest, _ := all(t, content, offset)
			if fmt.Sprint(again) != fmt.Sprint(header) || fmt.Sprint(rest) != fmt.Sprint(rows[i+1:]) {
				t.Errorf("%q after row %d: %v %v, want %v", content, i, again, rest, rows[i+1:])
			}
		}
	}
}

func TestAMarkInTheMiddleOfAHeaderIsNoQuote(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"email,screen 15\"\na,x\nb,y\n":   `["email" "screen 15\""] [["a" "x"] ["b" "y"]]`,
		"email;5\"\"\na;\"x\"\nb;y\n":     `["email" "5\"\""] [["a" "x"] ["b" "y"]]`,
		"\"a \"\"b\"\"\",\"c\nd\"\n1,2\n": `["a \"b\"" "c\nd"] [["1" "2"]]`,
		"\"\"\"a\"\"\",b\n1,2\n":          `["\"a\"" "b"] [["1" "2"]]`,
	} {
		header, rows, _ := all(t, content, 0)
		if got := fmt.Sprintf("%q %q", header, rows); got != want {
			t.Errorf("%q: %s, want %s", content, got, want)
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`[^=+\-@\t\r\n\x00][^\r\x00]{0,20}|x`)
		width := rapid.IntRange(1, 5).Draw(t, "width")
		var file bytes.Buffer
		w := NewWriter(&file)
		var want [][]string
		for i := range rapid.IntRange(0, 8).Draw(t, "rows") + 1 {
			row, cells := make([]string, width), make([]any, width)
			for k := range row {
				row[k] = cell.Draw(t, "cell")
				if i == 0 {
					row[k] = fmt.Sprintf("column %d", k)
				}
				cells[k] = row[k]
			}
			if err := w.Write(cells...); err != nil {
				t.Fatal(err)
			}
			want = append(want, row)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(bytes.NewReader(file.Bytes()), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := [][]string{r.Header}
		for {
			row, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, slices.Clone(row))
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

func TestRowsThatAreTooLongEndTheFile(t *testing.T) {
	t.Parallel()
	for title, content := range map[string]string{
		"columns of the header": "a" + strings.Repeat(",a", MaxColumns) + "\n",
		"length of the header":  strings.Repeat("a", MaxRow+1),
		"columns of a row":      "a,b\n1" + strings.Repeat(",1", MaxColumns) + "\n",
		"length of a row":       "a,b\n" + strings.Repeat("1", MaxRow+10_000) + "\n",
		"open quote":            "a,b\n\"" + strings.Repeat("1,2\n", MaxRow),
	} {
		r, err := NewReader(strings.NewReader(content), 0)
		if err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, ErrRow) {
			t.Errorf("%s: %v", title, err)
		}
	}
	if _, err := NewReader(strings.NewReader(" \n\r\n"), 0); !errors.Is(err, ErrEmpty) {
		t.Errorf("blank: %v", err)
	}
}

func TestEveryEncodingBecomesTheSameText(t *testing.T) {
	t.Parallel()
	const text = "email,name\nzoë@example.net,Jürgen “der Große” €\n"
	little, _ := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	big, _ := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(text)
	windows, _ := charmap.Windows1252.NewEncoder().String(text)
	for title, content := range map[string]string{"UTF-8": text, "UTF-8 with a mark": "\ufeff" + text, "UTF-16LE": little, "UTF-16BE": big, "Windows-1252": windows, "": ""} {
		plain, err := Plain(func() (io.Reader, error) { return strings.NewReader(content), nil })
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(plain)
		if want := text; err != nil || string(got) != want && title != "" {
			t.Errorf("%s: %q, %v", title, got, err)
		}
	}
}

func TestFormulasBecomeText(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "'\t=1", "\r=1": "'\r=1", "a=1": "a=1", "": "", "'=1": "'=1"} {
		if got := Defuse(cell); got != want {
			t.Errorf("%q became %q, want %q", cell, got, want)
		}
	}
}

func FuzzReaderNeverFailsBadly(f *testing.F) {
	f.Add("a,b\n1,2\n", int64(0))
	f.Add("\"a\n", int64(3))
	f.Fuzz(func(t *testing.T, content string, offset int64) {
		r, err := NewReader(strings.NewReader(content), max(0, offset%1000))
		if err != nil {
			return
		}
		for range 100 {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	})
}
