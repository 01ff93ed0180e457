package message_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"postrider/mail/message"
)

// found is what WalkText finds, a line a file.
func found(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	err := message.WalkText(iotest.OneByteReader(strings.NewReader(text)), func(name string, content io.Reader) error {
		raw, err := io.ReadAll(content)
		fmt.Fprintf(&b, "%s: %s\n", name, raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFilesThatStandInATextAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"one", "Hello\r\nbegin 644 cat.txt\r\n#0V%T\r\n`\r\nend\r\nBye\r\n", "cat.txt: Cat\n"},
		{"a name with blanks", "begin 0644 my cat.txt\n#0V%T\n`\nend\n", "my cat.txt: Cat\n"},
		{"base64", "begin-base64 644 cat.txt\nQ2F0\n====\n", "cat.txt: Cat\n"},
		{"several lines", "begin 644 a\n#0V%T\n#0V%T\n \nend\n", "a: CatCat\n"},
		{"without an end", "begin 644 a\n#0V%T", "a: Cat\n"},
		{"two, one ending the other", "begin 644 a\n#0V%T\nbegin 644 b\n#0V%T\n`\nend\n", "a: Cat\nb: Cat\n"},
		{"after one that only began", "begin 644 a\nbegin 644 b\n#0V%T\n`\nend\n", "b: Cat\n"},
		{"blanks cut off", "begin 644 a\n&0V%T\n`\n", "a: Cat\x00\x00\x00\n"},
		{"a sentence", "begin 644 times\nand never end\n", ""},
		{"no mode", "begin the work\n#0V%T\n", ""},
		{"quoted", "> begin 644 a\n> #0V%T\n", ""},
		{"after a long line", strings.Repeat("x", 5000) + "\nbegin 644 a\n#0V%T\n", "a: Cat\n"},
		{"lines of another kind", "Hello\rbegin 644 cat.txt\r#0V%T\r`\rend\r", "cat.txt: Cat\n"},
		{"lines of two kinds", "Hello\n\rbegin 644 cat.txt\n#0V%T\r\n#0V%T\r`\n", "cat.txt: CatCat\n"},
		{"unusual characters", "begin 644 cat.txt\n#pV%T\n`\nend\n", "cat.txt: Cat\n"},
		{"a sum at the end", "begin 644 cat.txt\n#pV%Tk\n`\nend\n", "cat.txt: Cat\n"},
		{"in a long line", strings.Repeat("x", 2000) + "begin 644 a\n#0V%T\n", ""},
	} {
		if got := found(t, c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAFileWhoseNameHasNoEndIsNoneThatAnybodyCouldJudge(t *testing.T) {
	t.Parallel()
	for begin, want := range map[string]error{
		"begin 644 " + strings.Repeat("x", 5000) + ".exe":        message.ErrAmbiguous,
		"begin 644" + strings.Repeat(" ", 5000) + "x.exe":        message.ErrAmbiguous,
		"begin" + strings.Repeat(" ", 5000) + "644 x.exe":        message.ErrAmbiguous,
		"begin-base64 644 " + strings.Repeat("x", 5000) + ".exe": message.ErrAmbiguous,
		"begin " + strings.Repeat("with a long story, ", 500):    nil,
	} {
		content := "\n#0V%T\n`\nend\n"
		if strings.HasPrefix(begin, "begin-base64") {
			content = "\nQ2F0\n====\n"
		}
		err := message.WalkText(strings.NewReader("Hello\n"+begin+content), func(string, io.Reader) error { return nil })
		if !errors.Is(err, want) {
			t.Errorf("%.20q: %v, want %v", begin, err, want)
		}
		text := "Hello\n" + begin + "\n\nand so on\n"
		if err := message.WalkText(strings.NewReader(text), func(string, io.Reader) error { return nil }); err != nil {
			t.Errorf("%.20q before a text: %v", begin, err)
		}
	}
}

func TestWhatTheWellKnownProgramEncodesIsReadBack(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	const encode = `import binascii, sys
data = sys.stdin.buffer.read()
print("Hello\nbegin 644 data.bin")
for i in range(0, len(data), 45): sys.stdout.write(binascii.b2a_uu(data[i:i+45]).decode())
print(" \nend\nBye")`
	content := make([]byte, 1000)
	for i := range content {
		content[i] = byte(i * 7)
	}
	program := exec.Command(python, "-c", encode)
	program.Stdin = bytes.NewReader(content)
	text, err := program.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, string(text)); got != "data.bin: "+string(content)+"\n" {
		t.Errorf("%q", got)
	}
}

func TestEveryContentIsFoundAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "content")
		text := "begin-base64 600 x\n"
		for line := range bytes.Lines(append(bytes.ReplaceAll(content, []byte("\n"), []byte("n\n")), '\n')) {
			text += base64.StdEncoding.EncodeToString(line) + "\n"
		}
		var got []byte
		err := message.WalkText(strings.NewReader(text+"====\n"), func(_ string, r io.Reader) (err error) {
			got, err = io.ReadAll(r)
			return err
		})
		if want := append(bytes.ReplaceAll(content, []byte("\n"), []byte("n\n")), '\n'); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q, want %q (%v)", got, want, err)
		}
	})
}

func TestATextThatBreaksOffIsNotTakenForWhole(t *testing.T) {
	t.Parallel()
	lost := errors.New("connection lost")
	for _, text := range []string{"Hello\n", "begin 644 a\n", "begin 644 a\n#0V%T\n"} {
		err := message.WalkText(io.MultiReader(strings.NewReader(text), iotest.ErrReader(lost)), func(string, io.Reader) error { return nil })
		if !errors.Is(err, lost) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzWalkText(f *testing.F) {
	f.Add("begin 644 cat.txt\n#0V%T\n`\nend\n")
	f.Add("begin-base64 644 cat.txt\nQ2F0\n====\n")
	f.Add("begin 644 a\nM\nbegin 644 b\n")
	f.Fuzz(func(t *testing.T, text string) {
		total := 0
		err := message.WalkText(strings.NewReader(text), func(name string, content io.Reader) error {
			n, err := io.Copy(io.Discard, content)
			total += int(n)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if total > 63*len(text) {
			t.Fatalf("%d bytes out of %d", total, len(text))
		}
	})
}
