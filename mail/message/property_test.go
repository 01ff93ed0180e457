package message_test

import (
	"net/mail"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postrider/mail/address"
	"postrider/mail/message"
)

// texts draws what people and machines put into mails: any Unicode, and the strings that mail software trips over.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"\n", "\r", "\r\n", " ", "\t", ".", "\n.\n", "From ", "\nFrom ", "=", "=\n", "=?utf-8?q?x?=", "--=_", "\x00", "é", "€", "😀",
			"\u2028", strings.Repeat("x", 80), strings.Repeat("x", 1100), strings.Repeat("word ", 30), " \n", "\t\n", "\n\n\n",
		}),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
	})
}

func TestAnyBodySurvives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := letter()
		m.Text = "t" + texts().Draw(t, "text")
		m.HTML = "h" + texts().Draw(t, "html")
		file := rapid.SliceOf(rapid.Byte()).Draw(t, "file")
		m.Attachments = []message.Attachment{{Filename: "f", Content: file}}

		raw := compose(t, m)

		for reader, parts := range map[string][]part{"go-message": readGoMessage(t, raw), "net/mail": second(readStdlib(t, raw)), "walk": readWalk(t, raw)} {
			if len(parts) != 3 {
				t.Fatalf("%s sees %d parts:\n%s", reader, len(parts), raw)
			}
			if parts[0].Content != normal(m.Text) || parts[1].Content != normal(m.HTML) || parts[2].Content != string(file) {
				t.Fatalf("%s reads\n%q\n%q\n%q\nof\n%q\n%q\n%q", reader, parts[0].Content, parts[1].Content, parts[2].Content, m.Text, m.HTML, file)
			}
		}
		for line := range strings.SplitSeq(string(raw), "\r\n") {
			if len(line) > 78 || strings.HasPrefix(line, "From ") {
				t.Fatalf("line %q", line)
			}
		}
	})
}

func TestAnySubjectNameAndFilenameSurviveOnOneLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := letter()
		m.Subject = texts().Draw(t, "subject")
		m.From.Name = texts().Draw(t, "name")
		m.To[0].Name = rapid.String().Draw(t, "other name")
		m.Attachments = []message.Attachment{{Filename: "f" + texts().Draw(t, "filename"), Content: []byte("x")}}

		raw := compose(t, m)

		header, parts := readStdlib(t, raw)
		checkHeaderNames(t, header)
		// net/mail makes one space of the blanks at a fold.
		if got, want := blanks(decodeHeader(t, header.Get("Subject"))), blanks(strings.TrimSpace(visible(m.Subject))); got != want {
			t.Fatalf("subject %q, want %q", got, want)
		}
		from, err := header.AddressList("From")
		if err != nil || len(from) != 1 || from[0].Address != m.From.Addr() {
			t.Fatalf("from %v (%v) in\n%s", from, err, raw)
		}
		if want := blanks(visible(m.From.Name)); blanks(from[0].Name) != want {
			t.Fatalf("name %q, want %q", from[0].Name, want)
		}
		if len(parts) != 2 || len(parts[1].Filename) > 255 || !strings.HasPrefix(parts[1].Filename, "f") {
			t.Fatalf("parts %+v", parts)
		}
		// go-message decodes words in parameters, which RFC 2047 §5 forbids.
		if theirs := readGoMessage(t, raw); theirs[1].Filename != parts[1].Filename && !strings.Contains(parts[1].Filename, "=?") {
			t.Fatalf("file name %q and %q", theirs[1].Filename, parts[1].Filename)
		}
	})
}

func TestValidCustomHeadersSurviveAndInvalidOnesAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := message.Header{Name: rapid.StringMatching(`X-[A-Za-z0-9_]{1,40}`).Draw(t, "name"), Value: texts().Draw(t, "value")}
		m := letter()
		m.Headers = []message.Header{h}
		if !message.ValidHeaderValue(h.Value) {
			if _, err := m.Bytes(); err == nil {
				t.Fatalf("composed with header %q", h)
			}
			return
		}
		header, _ := readStdlib(t, compose(t, m))
		got := decodeHeader(t, header.Get(h.Name))
		want := strings.Trim(h.Value, " \t")
		if strings.Contains(want, "=?") { // encoded by the sender, or by us on top of that
			return
		}
		if blanks(got) != blanks(want) {
			t.Fatalf("value %q, want %q", got, want)
		}
	})
}

func TestNothingCanAddAHeaderOrEndTheHeader(t *testing.T) {
	t.Parallel()
	for _, lineEnd := range []string{"\r\n", "\n", "\r", "\u2028", "\u0085", "\x00", "%0d%0a", "\v", "\f"} {
		evil := "x" + lineEnd + "Bcc: evil@x.test" + lineEnd + lineEnd + "body"
		for field, poison := range map[string]func(*message.Message){
			"subject":      func(m *message.Message) { m.Subject = evil },
			"from name":    func(m *message.Message) { m.From.Name = evil },
			"to name":      func(m *message.Message) { m.To[0].Name = evil },
			"reply local":  func(m *message.Message) { m.ReplyTo = []address.Address{{Local: evil, Domain: "x.test"}} },
			"cc domain":    func(m *message.Message) { m.Cc = []address.Address{{Local: "x", Domain: evil}} },
			"header value": func(m *message.Message) { m.Headers = []message.Header{{Name: "X-A", Value: evil}} },
			"header name":  func(m *message.Message) { m.Headers = []message.Header{{Name: evil, Value: "x"}} },
			"message id":   func(m *message.Message) { m.MessageID = "<" + evil + "@x.test>" },
			"file name":    func(m *message.Message) { m.Attachments = []message.Attachment{{Filename: evil}} },
			"content type": func(m *message.Message) { m.Attachments = []message.Attachment{{ContentType: "a/b; c=" + evil}} },
			"content id":   func(m *message.Message) { m.Attachments = []message.Attachment{{ContentID: evil}} },
			"seed":         func(m *message.Message) { m.Seed, m.HTML = evil, "x" },
		} {
			m := letter()
			poison(&m)
			raw, err := m.Bytes()
			if err != nil {
				continue
			}
			header, parts := readStdlib(t, raw)
			checkHeaderNames(t, header)
			if len(parts) == 0 || strings.TrimSpace(parts[0].Content) != strings.TrimSpace(normal(m.Text)) {
				t.Errorf("%s with %q changed the body:\n%s", field, lineEnd, raw)
			}
			for line := range strings.SplitSeq(string(raw), "\n") {
				if strings.HasPrefix(line, "Bcc:") {
					t.Errorf("%s with %q added a line:\n%s", field, lineEnd, raw)
				}
			}
		}
	}
}

// checkHeaderNames knows every header that a letter may have.
func checkHeaderNames(t fataler, header mail.Header) {
	t.Helper()
	for name, values := range header {
		switch name {
		case "Date", "From", "To", "Subject", "Message-Id", "Mime-Version", "Content-Type", "Content-Transfer-Encoding", "Reply-To", "Cc", "X-A":
			if len(values) != 1 {
				t.Fatalf("%d times %s", len(values), name)
			}
		default:
			t.Fatalf("header %s: %q appeared", name, values)
		}
	}
}

// visible is a text with a space for each character that has no place in a header.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// blanks is a text with its blanks as folding and phrases leave them.
func blanks(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' }), " ")
}

func second(_ mail.Header, parts []part) []part { return parts }
