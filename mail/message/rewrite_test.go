package message_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postrider/mail/message"
)

func shout(page string) string { return strings.ReplaceAll(page, "link", "LINK") }

func TestThePageOfAMessageIsRewrittenAndNothingElse(t *testing.T) {
	t.Parallel()
	const head, alternative = "From: a@b.test\nSubject: link\n", "Content-Type: multipart/alternative; boundary=x\n\npreamble link\n--x\n\nlink\n--x\n"
	for name, c := range map[string]struct{ raw, want string }{
		"alone":              {head + "Content-Type: text/html\n\n<p>link</p>\n", head + "Content-Type: text/html\n\n<p>LINK</p>\n"},
		"alternative":        {head + alternative + "Content-Type: text/html\n\nlink\n--x--\nlink\n", head + alternative + "Content-Type: text/html\n\nLINK\n--x--\nlink\n"},
		"never closed":       {head + alternative + "Content-Type: text/html\n\nlink\n", head + alternative + "Content-Type: text/html\n\nLINK\n"},
		"quoted-printable":   {head + "Content-Type: text/html\nContent-Transfer-Encoding: Quoted-Printable\n\n=3Clin=\nk>\n", head + "Content-Type: text/html\nContent-Transfer-Encoding: Quoted-Printable\n\n<LINK>\n"},
		"base64":             {head + "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nbGluaw==\n", head + "Content-Type: text/html\nContent-Transfer-Encoding: base64\n\nTElOSw==\n"},
		"the first page":     {head + alternative + "Content-Type: text/html\n\nlink\n--x\nContent-Type: text/html\n\nlink\n--x--\n", head + alternative + "Content-Type: text/html\n\nLINK\n--x\nContent-Type: text/html\n\nlink\n--x--\n"},
		"after an enclosure": {head + alternative + "Content-Type: text/html\nContent-Disposition: attachment\n\nlink\n--x\nContent-Type: text/html\n\nlink\n--x--\n", head + alternative + "Content-Type: text/html\nContent-Disposition: attachment\n\nlink\n--x\nContent-Type: text/html\n\nLINK\n--x--\n"},
	} {
		if got := string(message.RewriteHTML([]byte(lines(c.raw)), shout)); got != lines(c.want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestWhatIsSignedOrUnreadableStaysAsItCame(t *testing.T) {
	t.Parallel()
	const html = "Content-Type: text/html\n\nlink\n"
	for name, raw := range map[string]string{
		"empty":            "",
		"text":             "Subject: x\n\nlink\n",
		"signed":           "Content-Type: multipart/signed; boundary=x\n\n--x\n" + html + "--x\nContent-Type: application/pgp-signature\n\n?\n--x--\n",
		"signed inside":    "Content-Type: multipart/mixed; boundary=y\n\n--y\nContent-Type: multipart/signed; boundary=x\n\n--x\n" + html + "--x--\n--y--\n",
		"encrypted":        "Content-Type: multipart/encrypted; boundary=x\n\n--x\n" + html + "--x--\n",
		"signed by domain": "DKIM-Signature: v=1\n" + html,
		"enclosed":         "Content-Type: message/rfc822\n\n" + html,
		"a file":           "Content-Type: text/html; name=a.html\n\nlink\n",
		"other characters": "Content-Type: text/html; charset=iso-2022-jp\n\nlink\n",
		"no boundary":      "Content-Type: multipart/mixed\n\n--x\n" + html,
		"too deep":         nested(12) + html,
		"a hidden boundary": "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n" +
			"link\n=2D-x\nrest\n--x--\n",
	} {
		if got := message.RewriteHTML([]byte(lines(raw)), shout); string(got) != lines(raw) {
			t.Errorf("%s was changed to\n%s", name, got)
		}
	}
}

// nested is the beginning of so many multiparts inside each other.
func nested(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=x%dx\n\n--x%dx\n", i, i)
	}
	return b.String()
}

func TestALineThatGrewTooLongIsQuoted(t *testing.T) {
	t.Parallel()
	raw := lines("Subject: x\nContent-Type: text/html\nContent-Transfer-Encoding: 8bit\nX-Last: y\n\nlink é\n")
	got := message.RewriteHTML([]byte(raw), func(page string) string { return strings.ReplaceAll(page, "link", strings.Repeat("link ", 250)) })
	if !strings.HasPrefix(string(got), lines("Subject: x\nContent-Type: text/html\nX-Last: y\nContent-Transfer-Encoding: quoted-printable\n\nlink link ")) {
		t.Fatalf("%s", got)
	}
	if parts := readWalk(t, got); len(parts) != 1 || parts[0].Content != strings.Repeat("link ", 250)+" é\r\n" {
		t.Errorf("%+v", parts)
	}
}

func TestAnyMessageIsOnlyChangedInItsPage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := letter()
		m.Text = "t" + texts().Draw(t, "text")
		m.HTML = "h" + texts().Draw(t, "html")
		file := rapid.SliceOf(rapid.Byte()).Draw(t, "file")
		m.Attachments = []message.Attachment{{Filename: "f", Content: file}}
		raw := compose(t, m)
		before := readWalk(t, raw)
		word := rapid.SampledFrom([]string{"x", "é", base64.StdEncoding.EncodeToString(file)}).Draw(t, "word")

		got := message.RewriteHTML(raw, func(page string) string { return page + "<" + word + ">" })

		after := readWalk(t, got)
		if len(after) != len(before) || after[0] != before[0] || after[2] != before[2] || after[1].Content != before[1].Content+"<"+word+">" {
			t.Fatalf("read as\n%q\nbefore\n%q", after, before)
		}
		at := bytes.Index(raw, []byte("text/html"))
		if !bytes.HasPrefix(got, raw[:at]) || !bytes.HasSuffix(got, raw[bytes.LastIndex(raw, []byte("\r\n--=_")):]) {
			t.Fatalf("changed beside the page:\n%s\n%s", raw, got)
		}
	})
}

func FuzzRewriteHTML(f *testing.F) {
	f.Add([]byte(lines("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\nlink\n--x--\n")))
	f.Add([]byte("Content-Type: text/html\r\n\r\n<a href=link>"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		got := message.RewriteHTML(raw, func(page string) string { return page + "<img>" })
		if !bytes.Equal(raw, before) {
			t.Fatal("the message itself was written to")
		}
		if len(got) > 3*len(raw)+2000 {
			t.Fatalf("%d bytes became %d", len(raw), len(got))
		}
	})
}
