package message_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/message"
)

// readWalk reads a message with our own reader.
func readWalk(t fataler, raw []byte) (parts []part) {
	t.Helper()
	err := message.Walk(iotest.HalfReader(bytes.NewReader(raw)), func(p *message.Part) error {
		content, err := io.ReadAll(p.Body)
		parts = append(parts, part{Type: p.Type, Filename: p.Filename(), ContentID: p.ContentID, Content: string(content)})
		return err
	})
	if err != nil {
		t.Fatalf("walk: %v\n%s", err, raw)
	}
	return parts
}

func lines(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

func TestWalkMakesTheBestOfBrokenMessages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want []part
	}{
		"empty":     {"", []part{{Type: "text/plain"}}},
		"no header": {"\nbody\n", []part{{Type: "text/plain", Content: "body\r\n"}}},
		"no body":   {"Subject: x\n", []part{{Type: "text/plain"}}},
		"boundary in quotes, preamble, epilogue": {
			"Content-Type: multipart/mixed; boundary=\"a b\"\n\npreamble\n--a b\n\none\n--a b  \nContent-Type: TEXT/HTML\n\n<p>\n\n--a b--\nepilogue\n",
			[]part{{Type: "text/plain", Content: "one"}, {Type: "text/html", Content: "<p>\r\n"}}},
		"never closed": {"Content-Type: multipart/mixed; boundary=x\n\n--x\n\none\n--x\n\ntwo\n",
			[]part{{Type: "text/plain", Content: "one"}, {Type: "text/plain", Content: "two\r\n"}}},
		"inner one never closed": {
			"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\none\n--x\n\ntwo\n--x--\n",
			[]part{{Type: "text/plain", Content: "one"}, {Type: "text/plain", Content: "two"}}},
		"boundary that begins like the outer one": {
			"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/mixed; boundary=xx\n\n--xx\n\none\n--xx--\n--x\n\ntwo\n--x--\n",
			[]part{{Type: "text/plain", Content: "one"}, {Type: "text/plain", Content: "two"}}},
		"header line without colon": {"Content-Type: multipart/mixed; boundary=x\n\n--x\ngarbage\nContent-Type: text/html\n\none\n--x--\n",
			[]part{{Type: "text/html", Content: "one"}}},
		"boundary inside a header": {"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\n--x\n\ntwo\n--x--\n",
			[]part{{Type: "text/html"}, {Type: "text/plain", Content: "two"}}},
		"multipart without boundary": {"Content-Type: multipart/mixed\n\n--x\n\none\n", []part{{Type: "multipart/mixed", Content: "--x\r\n\r\none\r\n"}}},
		"boundary that never comes": {"Content-Type: multipart/mixed; boundary=x\nContent-Transfer-Encoding: quoted-printable\n\nh=C3=A9\n--y\n",
			[]part{{Type: "text/plain", Content: "hé\r\n--y\r\n"}}},
		"last boundary and no other": {"Content-Type: multipart/mixed; boundary=x\n\nhello\n--x--\nepilogue\n", []part{{Type: "text/plain", Content: "hello\r\n"}}},
		"inner boundary that never comes": {
			"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; boundary=y\n\none\n--x\n\ntwo\n--x--\n",
			[]part{{Type: "text/plain", Content: "one\r\n"}, {Type: "text/plain", Content: "two"}}},
		"boundary that goes on": {
			"Content-Type: multipart/mixed; boundary=x\n\n--x\n\none\n--x--" + wide + "!\n--x\n\ntwo\n--x--\n",
			[]part{{Type: "text/plain", Content: "one\r\n--x--" + wide + "!"}, {Type: "text/plain", Content: "two"}}},
		"boundary in the middle of a line": {
			"Content-Type: multipart/mixed; boundary=x\n\n--x\n\n" + wide + "--x--\n--x--\n",
			[]part{{Type: "text/plain", Content: wide + "--x--"}}},
		"multipart of nothing": {"Content-Type: multipart/mixed; boundary=x\n\n\n--x--\n", nil},
		"type that is none":    {"Content-Type: attachment; filename=a.bin\n\nx", []part{{Type: "text/plain", Filename: "a.bin", Content: "x"}}},
		"comments in a type": {"Content-Type: multipart(a)/mixed (b;c); boundary=x\n\n--x\nContent-Type: (a\\)) text / html\n\none\n--x--\n",
			[]part{{Type: "text/html", Content: "one"}}},
		"type without semicolon": {"Content-Type: multipart/mixed boundary=x\n\n--x\nContent-Type: text/html charset=utf-8\n\none\n--x--\n",
			[]part{{Type: "text/html", Content: "one"}}},
		"boundary in pieces":          {"Content-Type: multipart/mixed; boundary*0=x; boundary*1*=%79\n\n--xy\n\none\n--xy--\n", []part{{Type: "text/plain", Content: "one"}}},
		"boundary that ends in space": {"Content-Type: multipart/mixed; boundary=\"x \"\n\n--x \n\none\n--x--\n", []part{{Type: "text/plain", Content: "one"}}},
		"boundary like an encoded word": {"Content-Type: multipart/mixed; boundary=\"=?utf-8?q?x?=\"\n\n--=?utf-8?q?x?=\n\none\n",
			[]part{{Type: "text/plain", Content: "one\r\n"}}},
		"encoding with a comment": {"Content-Transfer-Encoding: (a) \"base64\" (b)\n\naGVsbG8=\n", []part{{Type: "text/plain", Content: "hello"}}},
		"digest": {"Content-Type: multipart/digest; boundary=x\n\n--x\n\nSubject: in\n\nbody\n--x--\n",
			[]part{{Type: "message/rfc822", Content: "Subject: in\r\n\r\nbody"}}},
		"base64 with dirt": {"Content-Transfer-Encoding: BASE64\n\naGVs!bG8=\n IGFn\nYWlu=\nx\n",
			[]part{{Type: "text/plain", Content: "hello again"}}},
		"quoted-printable with dirt": {"Content-Transfer-Encoding: quoted-printable\n\na=3Db=  \nc=zz=\n=c3=A9=4\n",
			[]part{{Type: "text/plain", Content: "a=bc=zzé=4\r\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, readWalk(t, []byte(lines(c.raw)))); diff != "" {
				t.Error(diff)
			}
			for i, p := range readWalk(t, []byte(c.raw)) { // bare line ends make no difference
				if want := strings.ReplaceAll(c.want[i].Content, "\r\n", "\n"); p.Content != want {
					t.Errorf("part %d is %q, want %q", i, p.Content, want)
				}
			}
		})
	}
}

// wide fills the buffer of a walk, so that what follows it on a line is not seen together with what is before it.
var wide = strings.Repeat(" ", 16<<10)

func TestALineThatMayBeABoundaryIsAmbiguous(t *testing.T) {
	t.Parallel()
	const top = "Content-Type: multipart/mixed; boundary=x\n\n"
	for name, c := range map[string]struct {
		raw       string
		ambiguous bool
	}{
		"last boundary":              {top + "--x\n\none\n--x--" + wide + "!\n--x--\n", true},
		"boundary":                   {top + "--x\n\none\n--x" + wide + "!\n--x--\n", true},
		"nothing but blanks":         {top + "--x\n\none\n--x" + wide + "\n\ntwo\n--x--\n", true},
		"nothing but tabs":           {top + "--x\n\none\n--x--" + strings.Repeat("\t", len(wide)) + "\n--x--\n", true},
		"in a preamble":              {top + "--x" + wide + "!\n--x\n\none\n--x--\n", true},
		"in a header":                {top + "--x\nSubject: one\n--x" + wide + "!\n\none\n--x--\n", true},
		"in an epilogue":             {top + "--x\n\none\n--x--\n--x" + wide + "!\n", true},
		"of the outer multipart":     {top + "--x\nContent-Type: multipart/mixed; boundary=y\n\n--x--" + wide + "!\n--y\n\none\n--y--\n--x--\n", true},
		"in base64":                  {top + "--x\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\nUEsD\n--x" + wide + "!\nBBQA\n--x--\n", true},
		"something after it":         {top + "--x\n\none\n--x--!" + wide + "\n--x--\n", true},
		"a word after it":            {top + "--x\n\none\n--x and more\n\ntwo\n--x--\n", true},
		"a longer one inside":        {top + "--x\nContent-Type: multipart/mixed; boundary=xy\n\n--xy\n\none\n--xy--\n--x--\n", false},
		"short":                      {top + "--x\n\none\n--x   \n\ntwo\n--x--   \n", false},
		"middle of a line":           {top + "--x\n\n" + wide + "--x--\n--x--\n", false},
		"middle of a header":         {top + "--x\nSubject: " + wide[len("Subject: "):] + "--x--\n\none\n--x--\n", false},
		"middle of an epilogue":      {top + "--x\n\none\n--x--\n" + wide + "--x\n", false},
		"line that fills the buffer": {top + "--x\n\n" + wide[1:] + "\n--x--\n", false},
	} {
		for _, raw := range []string{c.raw, lines(c.raw)} {
			careless := func(p *message.Part) error { _, _ = io.Copy(io.Discard, p.Body); return nil }
			if err := message.WalkStrictly(strings.NewReader(raw), careless); errors.Is(err, message.ErrAmbiguous) != c.ambiguous || err != nil != c.ambiguous {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestEveryNameOfAFileIsFound(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][]string{
		`Content-Disposition: attachment; filename="a \"b\".txt"`:                                      {`a "b".txt`},
		`Content-Disposition: attachment; filename=a.txt; filename=b.exe`:                              {"a.txt", "b.exe"},
		`Content-Type: application/x; name=a.exe`:                                                      {"a.exe"},
		"Content-Type: application/x; name=a.txt\r\nContent-Disposition: inline; filename=b.exe":       {"b.exe", "a.txt"},
		`Content-Disposition: attachment; filename*0="x.e"; filename*1="xe"`:                           {"x.exe"},
		`Content-Disposition: attachment; filename*1="xe"; FILENAME*0="x.e"; filename=y.txt`:           {"x.exe", "y.txt"},
		`Content-Disposition: attachment; filename*=utf-8''%e2%82%ac.exe`:                              {"€.exe"},
		`Content-Disposition: attachment; filename*=iso-8859-1'en'%A3.exe`:                             {"£.exe"},
		`Content-Disposition: attachment; filename*0*=utf-8''%e2; filename*1*=%82%ac; filename*2=.exe`: {"€.exe"},
		`Content-Disposition: attachment; filename="=?utf-8?B?eC5leGU=?="`:                             {"x.exe"},
		`Content-Disposition: attachment; filename = "x.exe"`:                                          {"x.exe"},
		`Content-Disposition: attachment; junk; filename=x.exe`:                                        {"x.exe"},
		`Content-Disposition: attachment; filename="x.exe`:                                             {"x.exe"},
		`Content-Disposition: attachment filename=x.exe; size=1`:                                       {"x.exe"},
		`Content-Disposition: attachment; filename=(a)x.exe(b)`:                                        {"(a)x.exe(b)", "x.exe"},
		`Content-Disposition: attachment; filename=my x.exe; size=1`:                                   {"my x.exe", "my"},
		`Content-Disposition: attachment; (a=b;c) filename (d)="x.exe"`:                                {"x.exe"},
		`Content-Disposition: attachment; filename="my (1).exe"`:                                       {"my (1).exe"},
		"Content-Disposition: attachment;\r\n\tfilename=\"my\r\n\tx.exe\"":                             {"my x.exe"},
		"Content-Type: application/x;\n\tname=\"my\n \tx.exe\"":                                        {"my  x.exe"},
		"Content-Disposition: attachment; filename=\"my\tx\r\n\t.exe\"":                                {"my\tx .exe"},
		`Content-Disposition: attachment; filename*0="x.e"; filename*1="xe"; filename*1=".txt"`:        {"x.exe", "x.e.txt", "x.exe.txt"},
		`Content-Disposition: attachment; filename*0="x.exe"; filename*2=".txt"`:                       {"x.exe.txt", "x.exe"},
		"Content-Type:\r\n name =\t\"x.exe\"":                                                          {"x.exe"},
		"Content-Type: name=x.exe; size=1":                                                             {"x.exe"},
		"Content-Disposition: attachment\tfilename=x.exe":                                              {"x.exe"},
		"Content-Disposition: attachment; filename=x.exe\tor so":                                       {"x.exe\tor so", "x.exe"},
		`Content-Disposition: attachment; filename="=?utf-8?B?YS5leGU?="`:                              {"a.exe"},
		`Content-Disposition: attachment; filename="=?utf-8?Q?=C3=A4ä=2Eexe?="`:                        {"ää.exe"},
		"Content-Disposition: attachment; filename*=utf-8''my%09x.exe":                                 {"my\tx.exe"},
		"Content-Disposition: attachment;\r\n\tfilename=\"=?utf-8?q?my=09x.exe?=\"":                    {"my\tx.exe"},
		`Content-Disposition:; filename=x.exe`:                                                         {"x.exe"},
	} {
		var names []string
		err := message.Walk(strings.NewReader(header+"\r\n\r\nbody"), func(p *message.Part) error {
			names = p.Names
			return nil
		})
		if diff := cmp.Diff(want, names); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", header, err, diff)
		}
	}
}

func TestContentIsReadInItsCharacterSet(t *testing.T) {
	t.Parallel()
	raw := lines("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; boundary=y\n\n--y\n" +
		"Content-Type: text/plain; charset=iso-8859-15\n\n\xa4\n--y\nContent-Type: text/html; charset=\"shift_jis\"\n\n\x83\x81\n--y--\n" +
		"--x\nContent-Type: application/pdf; name=a.pdf\n\n%PDF\n--x\n\ncaf\xe9\n--x--\n")
	var files []string
	c, err := message.ReadContent(strings.NewReader(raw), 1000, func(p *message.Part) error {
		files = append(files, p.Filename())
		return nil
	})
	if want := (message.Content{Text: "€\ncafé", HTML: "メ"}); err != nil || c != want {
		t.Errorf("content %+v, %v, want %+v", c, err, want)
	}
	if diff := cmp.Diff([]string{"a.pdf"}, files); diff != "" {
		t.Error(diff)
	}
	if c, err = message.ReadContent(strings.NewReader("\r\n"+strings.Repeat("x", 100)), 10, nil); err != nil || len(c.Text) != 10 || !c.Truncated {
		t.Errorf("content over the limit is %+v, %v", c, err)
	}
}

func TestAMarkOfByteOrderIsReadAndNotShown(t *testing.T) {
	t.Parallel()
	for content, set := range map[string]string{
		"\xff\xfeh\x00\xe9\x00": "utf-16", "\xfe\xff\x00h\x00\xe9": "UTF-16", "h\x00\xe9\x00": "utf-16", "\x00h\x00\xe9": "utf-16be", "\xef\xbb\xbfh\xc3\xa9": "utf-8",
	} {
		raw := lines("Content-Type: text/plain; charset="+set+"\nContent-Transfer-Encoding: base64\n\n") + base64.StdEncoding.EncodeToString([]byte(content))
		if c, err := message.ReadContent(strings.NewReader(raw), 1000, nil); err != nil || c.Text != "hé" {
			t.Errorf("%q in %s is %q, %v", content, set, c.Text, err)
		}
	}
}

func TestBombsAreNotWorthTheirPowder(t *testing.T) {
	t.Parallel()
	var nested strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&nested, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	visits := 0
	count := func(*message.Part) error { visits++; return nil }
	if err := message.Walk(strings.NewReader(nested.String()), count); err != nil || visits != 1 {
		t.Errorf("nested: %d visits, %v", visits, err)
	}
	many := "Content-Type: multipart/mixed; boundary=x\r\n\r\n" + strings.Repeat("--x\r\n\r\n", 100_000)
	if err := message.Walk(strings.NewReader(many), count); !errors.Is(err, message.ErrTooManyParts) {
		t.Errorf("many parts: %v", err)
	}
	if err := message.Walk(strings.NewReader(strings.Repeat("X: y\r\n", 1_000_000)), count); !errors.Is(err, message.ErrHeaderTooLarge) {
		t.Errorf("endless header: %v", err)
	}
	if err := message.Walk(strings.NewReader("Content-Type: multipart/mixed; boundary="+strings.Repeat("b", 100_000)+"\r\n\r\nx"), count); err != nil {
		t.Errorf("endless boundary: %v", err)
	}
	var params strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&params, ";a%d=(;boundary=b%d", i, i)
	}
	for _, walk := range []func(io.Reader, func(*message.Part) error) error{message.Walk, message.WalkStrictly} {
		if err := walk(strings.NewReader("Content-Type: multipart/mixed (x)"+params.String()+"\r\n\r\nx"), count); err != nil && !errors.Is(err, message.ErrAmbiguous) {
			t.Errorf("endless parameters: %v", err)
		}
	}
	broken := errors.New("disk on fire")
	if err := message.Walk(io.MultiReader(strings.NewReader("A: b\r\n\r\nhalf"), iotest.ErrReader(broken)), count); !errors.Is(err, broken) {
		t.Errorf("broken reader: %v", err)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add([]byte(lines("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Transfer-Encoding: base64\n\neA==\n--x--\n")))
	f.Add([]byte(lines("Content-Disposition: a; filename*0*=utf-8''%; name=\n\nx\n")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		total := 0
		err := message.Walk(bytes.NewReader(raw), func(p *message.Part) error {
			n, err := io.Copy(io.Discard, p.Body)
			total += int(n)
			return err
		})
		if err != nil && !errors.Is(err, message.ErrTooManyParts) && !errors.Is(err, message.ErrHeaderTooLarge) {
			t.Fatal(err)
		}
		if total > len(raw) {
			t.Fatalf("%d bytes in the parts of %d", total, len(raw))
		}
	})
}
