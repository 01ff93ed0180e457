package message_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	gomessage "github.com/emersion/go-message"

	"postrider/mail/message"
)

// part is a leaf of a message as another library sees it.
type part struct {
	Path        string // the multiparts around it, outermost first
	Type        string
	Disposition string
	Filename    string
	ContentID   string
	Content     string
}

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// compose returns the bytes of a message after checking what must hold for every message.
func compose(t fataler, m message.Message) []byte {
	t.Helper()
	raw, err := m.Bytes()
	if err != nil {
		t.Fatalf("compose: %v", err)
	}
	var streamed bytes.Buffer
	n, err := m.WriteTo(&streamed)
	if err != nil || n != int64(len(raw)) || !bytes.Equal(streamed.Bytes(), raw) {
		t.Fatalf("WriteTo gave %d bytes (%v) that differ from Bytes", n, err)
	}
	rest := raw
	for len(rest) > 0 {
		line, after, found := bytes.Cut(rest, []byte("\r\n"))
		if !found || len(line) > 998 || bytes.ContainsAny(line, "\r\n\x00") {
			t.Fatalf("line %q is not a line of a message", line)
		}
		rest = after
	}
	if i := bytes.IndexFunc(raw, func(r rune) bool { return r > '~' }); i >= 0 {
		t.Fatalf("message is not ASCII at %q", raw[i:min(i+20, len(raw))])
	}
	return raw
}

// readStdlib reads a message with net/mail and mime/multipart.
func readStdlib(t fataler, raw []byte) (mail.Header, []part) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("net/mail: %v\n%s", err, raw)
	}
	return m.Header, walkStdlib(t, "", m.Header.Get, m.Body)
}

func walkStdlib(t fataler, path string, header func(string) string, body io.Reader) []part {
	t.Helper()
	kind, params, err := mime.ParseMediaType(header("Content-Type"))
	if err != nil {
		t.Fatalf("content type %q: %v", header("Content-Type"), err)
	}
	if strings.HasPrefix(kind, "multipart/") {
		var parts []part
		for r := multipart.NewReader(body, params["boundary"]); ; {
			p, err := r.NextRawPart()
			if err == io.EOF {
				return parts
			}
			if err != nil {
				t.Fatalf("mime/multipart: %v", err)
			}
			parts = append(parts, walkStdlib(t, path+"/"+strings.TrimPrefix(kind, "multipart/"), p.Header.Get, p)...)
		}
	}
	switch header("Content-Transfer-Encoding") {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("read %s: %v", kind, err)
	}
	leaf := part{Path: path, Type: kind, ContentID: strings.Trim(header("Content-ID"), "<>"), Content: string(content)}
	if d := header("Content-Disposition"); d != "" {
		disposition, params, err := mime.ParseMediaType(d)
		if err != nil {
			t.Fatalf("disposition %q: %v", d, err)
		}
		leaf.Disposition, leaf.Filename = disposition, params["filename"]
	}
	return []part{leaf}
}

// readGoMessage reads a message with emersion/go-message.
func readGoMessage(t fataler, raw []byte) []part {
	t.Helper()
	entity, err := gomessage.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("go-message: %v", err)
	}
	var parts []part
	var walk func(path string, e *gomessage.Entity) error
	walk = func(path string, e *gomessage.Entity) error {
		kind, _, err := e.Header.ContentType()
		if err != nil {
			return err
		}
		r := e.MultipartReader()
		if r == nil {
			content, err := io.ReadAll(e.Body)
			disposition, params, _ := e.Header.ContentDisposition()
			parts = append(parts, part{Path: path, Type: kind, Disposition: disposition, Filename: params["filename"],
				ContentID: strings.Trim(e.Header.Get("Content-Id"), "<>"), Content: string(content)})
			return err
		}
		for {
			child, err := r.NextPart()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := walk(path+"/"+strings.TrimPrefix(kind, "multipart/"), child); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if err := walk("", entity); err != nil {
		t.Fatalf("go-message: %v\n%s", err, raw)
	}
	return parts
}

// normal is a text with the line ends that mail has.
func normal(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.ReplaceAll(s, "\n", "\r\n")
}

func decodeHeader(t fataler, value string) string {
	t.Helper()
	decoded, err := new(mime.WordDecoder).DecodeHeader(value)
	if err != nil {
		t.Fatalf("decode %q: %v", value, err)
	}
	return decoded
}

var _ fataler = (*testing.T)(nil)
