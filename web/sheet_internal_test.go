package web

import (
	"fmt"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

func TestSheetsOfEverySpreadsheetAreReadAlike(t *testing.T) {
	t.Parallel()
	const table = "email;name\r\nada@example.net;Ada Björk\r\nx;\"two\r\nlines\"\r\n"
	windows, err := charmap.Windows1252.NewEncoder().String(table)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(table)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"plain": table, "with a mark": "\xef\xbb\xbf" + table, "windows": windows, "utf-16": wide, "after empty lines": "\r\n\n" + table} {
		s, err := readSheet([]byte(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprintf("%q %q %d", s.Header, s.Sample, s.Rows); got != `["email" "name"] [["ada@example.net" "Ada Björk"] ["x" "two lines"]] 2` {
			t.Errorf("%s: %s", name, got)
		}
		if got := s.check(0); got != (addressCheck{Good: 1, Wrong: 1, Example: "x"}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, nothing := range []string{"", "\n\n", ";;\n1;2;3", "a,b\x00c\n"} {
		if _, err := readSheet([]byte(nothing)); err == nil {
			t.Errorf("%q is a table", nothing)
		}
	}
}

func TestColumnsThatAreLeftOutMeanNothingToTheAPI(t *testing.T) {
	t.Parallel()
	s, err := readSheet([]byte("E-Mail,Given Name,Plan,unsubscribed\na@example.net,Ada,pro,no\n"))
	if err != nil {
		t.Fatal(err)
	}
	guess := s.guess([]propertyRecord{{Key: "plan"}})
	if got := fmt.Sprint(guess); got != "[email first_name plan unsubscribed]" {
		t.Errorf("guessed %s", got)
	}
	if got := string(s.withColumns([]string{"email", "", "plan", ""})); got != "email,(2),plan,(4)\na@example.net,Ada,pro,no\n" {
		t.Errorf("sends %q", got)
	}
}

func TestFilesTravelWithTheForm(t *testing.T) {
	t.Parallel()
	file := []byte("email\nada@example.net\n")
	back, err := unpack(pack(file))
	if err != nil || string(back) != string(file) {
		t.Errorf("%q, %v", back, err)
	}
	for _, broken := range []string{"", "!", pack(file)[:20]} {
		if _, err := unpack(broken); err == nil {
			t.Errorf("%q is a file", broken)
		}
	}
}

func TestAddressesThatRepeatAreCountedOnce(t *testing.T) {
	t.Parallel()
	s, err := readSheet([]byte("email\nada@example.net\nAda@Example.net\nshort\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.check(0); got != (addressCheck{Good: 1, Wrong: 1, Twice: 1, Example: "short"}) {
		t.Errorf("%+v", got)
	}
}
