package message_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postrider/mail/address"
	"postrider/mail/message"
)

var update = flag.Bool("update", false, "rewrite the golden messages")

func TestNestingHasOnlyTheLevelsItNeeds(t *testing.T) {
	t.Parallel()
	text := part{Type: "text/plain", Content: "Hello"}
	page := part{Type: "text/html", Content: "<p>Hello</p>"}
	logo := part{Type: "image/png", Disposition: "inline", Filename: "logo.png", ContentID: "logo", Content: "\x89PNG\r\n\x00"}
	bill := part{Type: "application/pdf", Disposition: "attachment", Filename: "Rechnung März.pdf", Content: strings.Repeat("%PDF\x00\xff", 20_000)}
	at := func(path string, p part) part { p.Path = path; return p }
	for name, c := range map[string]struct {
		text, html      string
		inline, outside bool
		want            []part
	}{
		"text":                      {text: "Hello", want: []part{text}},
		"html":                      {html: page.Content, want: []part{page}},
		"nothing":                   {want: []part{{Type: "text/plain"}}},
		"both":                      {text: "Hello", html: page.Content, want: []part{at("/alternative", text), at("/alternative", page)}},
		"html inline":               {html: page.Content, inline: true, want: []part{at("/related", page), at("/related", logo)}},
		"text inline":               {text: "Hello", inline: true, want: []part{at("/mixed", text), at("/mixed", logo)}},
		"text attached":             {text: "Hello", outside: true, want: []part{at("/mixed", text), at("/mixed", bill)}},
		"both attached":             {text: "Hello", html: page.Content, outside: true, want: []part{at("/mixed/alternative", text), at("/mixed/alternative", page), at("/mixed", bill)}},
		"html inline and attached":  {html: page.Content, inline: true, outside: true, want: []part{at("/mixed/related", page), at("/mixed/related", logo), at("/mixed", bill)}},
		"both, inline and attached": {text: "Hello", html: page.Content, inline: true, outside: true, want: []part{at("/mixed/related/alternative", text), at("/mixed/related/alternative", page), at("/mixed/related", logo), at("/mixed", bill)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := letter()
			m.Text, m.HTML = c.text, c.html
			if c.outside {
				m.Attachments = append(m.Attachments, message.Attachment{Filename: bill.Filename, ContentType: bill.Type,
					Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(bill.Content)), nil }})
			}
			if c.inline {
				m.Attachments = append(m.Attachments, message.Attachment{Filename: logo.Filename, ContentType: logo.Type,
					ContentID: logo.ContentID, Inline: true, Content: []byte(logo.Content)})
			}

			raw := compose(t, m)

			_, got := readStdlib(t, raw)
			for i := range got {
				if got[i].Path == "" { // the message itself ends with a line end
					got[i].Content = strings.TrimSuffix(got[i].Content, "\r\n")
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the standard library reads it otherwise:\n%s", diff)
			}
			theirs := readGoMessage(t, raw)
			for i := range theirs {
				if theirs[i].Path == "" {
					theirs[i].Content = strings.TrimSuffix(theirs[i].Content, "\r\n")
				}
			}
			if diff := cmp.Diff(c.want, theirs); diff != "" {
				t.Errorf("go-message reads it otherwise:\n%s", diff)
			}
		})
	}
}

func TestGoldenMessagesDoNotChange(t *testing.T) {
	t.Parallel()
	full := letter()
	full.Text = "Grüße aus Köln,\nFrom us to you.\n\nTrailing blank \n" + strings.Repeat("long ", 40)
	full.HTML = "<p>Gr&uuml;&szlig;e <img src=\"cid:logo\"></p>\n" + strings.Repeat("=", 90)
	full.Cc = []address.Address{{Name: "Zoë", Local: "zoe", Domain: "xn--bcher-kva.test"}, {Name: "Doe, Jane", Local: "jane", Domain: "example.test"}}
	full.ReplyTo = []address.Address{{Local: "reply", Domain: "example.test"}}
	full.Subject = "Ihre Bestellung über 3 Bücher wurde verschickt und kommt übermorgen an ✈"
	full.Headers = []message.Header{
		{Name: "X-Campaign", Value: "spring"},
		{Name: "References", Value: strings.Repeat("<0193a1ef0d5c7c338e0a2b7c1d9e4f00@example.test> ", 3)},
	}
	full.Attachments = []message.Attachment{
		{Filename: "logo.png", ContentType: "image/png", ContentID: "logo", Inline: true, Content: []byte("\x89PNG")},
		{Filename: "Übersicht über sämtliche Vermögensgegenstände der Gesellschaft 2026.csv", ContentType: "text/csv; charset=utf-8", Content: []byte("a;b\n")},
	}
	japanese := letter()
	japanese.From.Name = "株式会社ポストライダー"
	japanese.Subject = "ご注文ありがとうございます。商品は明日お届けの予定です。"
	japanese.Text = "ご注文ありがとうございます。\n商品は明日お届けの予定です。\n"
	for name, m := range map[string]message.Message{"plain": letter(), "full": full, "japanese": japanese} {
		raw := compose(t, m)
		path := filepath.Join("testdata", name+".eml")
		if *update {
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(raw)); diff != "" {
			t.Errorf("%s changed:\n%s", path, diff)
		}
	}
}

func TestOtherSeedsGiveOtherBoundaries(t *testing.T) {
	t.Parallel()
	m := letter()
	m.HTML = "<p>Hello</p>"
	first := compose(t, m)
	m.Seed = "another"
	if bytes.Equal(first, compose(t, m)) {
		t.Error("the boundary does not depend on the seed")
	}
}

func TestTextThatLooksLikeABoundaryIsNotOne(t *testing.T) {
	t.Parallel()
	m := letter()
	m.HTML = "<p>Hello</p>"
	raw := compose(t, m)
	_, rest, _ := strings.Cut(string(raw), `boundary="`)
	boundary, _, _ := strings.Cut(rest, `"`)
	m.Text = "before\r\n--" + boundary + "\r\nContent-Type: text/html\r\n\r\nevil\r\n--" + boundary + "--\r\n"

	_, parts := readStdlib(t, compose(t, m))

	if len(parts) != 2 || parts[0].Content != m.Text {
		t.Errorf("parts %+v", parts)
	}
}

func TestMailToNobodyVisibleSaysSo(t *testing.T) {
	t.Parallel()
	m := letter()
	m.To = nil
	header, _ := readStdlib(t, compose(t, m))
	if header.Get("To") != "undisclosed-recipients:;" {
		t.Errorf("To: %q", header.Get("To"))
	}
}

func TestReplyToIsSaidOnce(t *testing.T) {
	t.Parallel()
	m := letter()
	m.Headers = []message.Header{{Name: "reply-to", Value: "custom@example.test"}}
	header, _ := readStdlib(t, compose(t, m))
	if got := header["Reply-To"]; len(got) != 1 || got[0] != "custom@example.test" {
		t.Errorf("Reply-To: %q", got)
	}
	m.ReplyTo = []address.Address{{Local: "field", Domain: "example.test"}}
	header, _ = readStdlib(t, compose(t, m))
	if got := header["Reply-To"]; len(got) != 1 || got[0] != "field@example.test" {
		t.Errorf("Reply-To: %q", got)
	}
}

func TestComposedTypesAreSafeToEncode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "application/octet-stream",
		"image/png":                      "image/png",
		"IMAGE/PNG; name=x":              "image/png",
		`application/pdf; name="a"; x y`: "application/pdf",
		"text/csv; charset=iso-8859-1":   "text/csv",
		"message/rfc822":                 "application/octet-stream",
		"multipart/mixed; boundary=x":    "application/octet-stream",
		"text/plain\r\nX: y":             "application/octet-stream",
		"nonsense":                       "application/octet-stream",
	} {
		m := letter()
		m.Attachments = []message.Attachment{{Filename: "f", ContentType: in, Content: []byte("x")}}
		_, parts := readStdlib(t, compose(t, m))
		if len(parts) != 2 || parts[1].Type != want {
			t.Errorf("type %q became %+v, want %q", in, parts, want)
		}
	}
}

func TestATypeKeepsWhatItSaysOfTheFile(t *testing.T) {
	t.Parallel()
	m := letter()
	m.Attachments = []message.Attachment{{Filename: "invite.ics", ContentType: "text/calendar; name=x; method=REQUEST; charset=utf-8", Content: []byte("x")}}
	if raw := compose(t, m); !bytes.Contains(raw, []byte("Content-Type: text/calendar; charset=utf-8; method=REQUEST\r\n")) {
		t.Errorf("%s", raw)
	}
}

func TestAFileThatIsCalledLikeAnEncodedWordIsCalledSo(t *testing.T) {
	t.Parallel()
	m := letter()
	m.Attachments = []message.Attachment{{Filename: "=?utf-8?Q?x?=b.txt", Content: []byte("x")}}
	_, parts := readStdlib(t, compose(t, m))
	if len(parts) != 2 || parts[1].Filename != "=?utf-8?Q?x?=b.txt" {
		t.Errorf("%+v", parts)
	}
	if raw := compose(t, m); bytes.Contains(raw, []byte(`filename="=?`)) {
		t.Errorf("%s", raw)
	}
}

// Python takes the first of several names, and so do programs made of it.
func TestAFileHasOneNameInWhateverLetters(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Rechnung für März.pdf", strings.Repeat("請求書", 27) + ".pdf"} {
		m := letter()
		m.Attachments = []message.Attachment{{Filename: name, ContentType: "application/pdf", Content: []byte("x")}}
		raw := compose(t, m)
		_, parts := readStdlib(t, raw)
		if len(parts) != 2 || parts[1].Filename != name || bytes.Contains(raw, []byte("filename=")) {
			t.Errorf("%+v\n%s", parts, raw)
		}
		for line := range bytes.Lines(raw) {
			if len(line) > 90 {
				t.Errorf("a line of %d bytes: %s", len(line), line)
			}
		}
		header := raw[bytes.Index(raw, []byte("application/pdf")):]
		old, err := new(mime.WordDecoder).DecodeHeader(string(unfolded(header)))
		if err != nil || !strings.HasPrefix(old, `application/pdf; name="`+name+`"`) {
			t.Errorf("for old readers %q (%v)", old, err)
		}
	}
}

// unfolded is the first field of a header on one line.
func unfolded(header []byte) []byte {
	field, _, _ := bytes.Cut(bytes.ReplaceAll(header, []byte("\r\n "), []byte(" ")), []byte("\r\n"))
	return field
}

func TestMessagesOverTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	m := letter()
	opened := 0
	m.Attachments = []message.Attachment{{Filename: "zeros", Open: func() (io.ReadCloser, error) {
		opened++
		return io.NopCloser(io.LimitReader(zeros{}, message.MaxBytes)), nil
	}}}
	n, err := m.WriteTo(io.Discard)
	if !errors.Is(err, message.ErrTooLarge) || n > message.MaxBytes {
		t.Errorf("wrote %d bytes, error %v", n, err)
	}
	if opened != 1 {
		t.Errorf("opened %d times", opened)
	}
}

func TestBrokenAttachmentsAndWritersAreReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	m := letter()
	m.Attachments = []message.Attachment{{Open: func() (io.ReadCloser, error) { return nil, broken }}}
	if _, err := m.Bytes(); !errors.Is(err, broken) {
		t.Errorf("error of Open: %v", err)
	}
	m.Attachments = []message.Attachment{{Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader("x"), brokenReader{broken})), nil
	}}}
	if _, err := m.Bytes(); !errors.Is(err, broken) {
		t.Errorf("error of Read: %v", err)
	}
	if _, err := letter().WriteTo(brokenWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("error of Write: %v", err)
	}
}

func TestMessageIDsCarryNoDashes(t *testing.T) {
	t.Parallel()
	got := message.NewMessageID("0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00", "example.test")
	if got != "<0193a1ef0d5c7c338e0a2b7c1d9e4f00@example.test>" {
		t.Error(got)
	}
}

func BenchmarkComposeTextAndHTML(b *testing.B) {
	m := letter()
	m.Text = strings.Repeat("The quick brown fox jumps over the lazy dog. Größe: 12 €.\n", 12)
	m.HTML = strings.Repeat(`<p style="color:#333">The quick brown fox jumps <a href="https://example.test/?a=1&b=2">over</a> the lazy dog.</p>`+"\n", 12)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Bytes(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkComposeAttachment(b *testing.B) {
	m := letter()
	m.Attachments = []message.Attachment{{Filename: "a.bin", Content: bytes.Repeat([]byte("0123456789"), 100_000)}}
	b.SetBytes(1_000_000)
	for b.Loop() {
		if _, err := m.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// letter is the simplest message there is.
func letter() message.Message {
	return message.Message{
		From:      address.Address{Name: "Acme", Local: "hello", Domain: "acme.test"},
		To:        []address.Address{{Local: "ann", Domain: "example.test"}},
		Subject:   "Hello",
		Date:      time.Date(2026, 11, 15, 2, 13, 0, 0, time.UTC),
		MessageID: "<0193a1ef0d5c7c338e0a2b7c1d9e4f00@acme.test>",
		Text:      "Hello Ann,\nhow are you?\n",
		Seed:      "0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00",
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
