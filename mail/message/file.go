package message

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"
)

const (
	// fileChunk is a whole number of base64 lines.
	fileChunk = 512 * base64Line
	// maxFilename is what file systems take.
	maxFilename = 255
	// filenamePiece is how much of an encoded file name stands on one line.
	filenamePiece = 60
)

// file writes a part that holds an attachment, always in base64: its bytes are not ours to touch.
func (c *composer) file(a Attachment) {
	if a.ContentID != "" && !validContentID(a.ContentID) {
		c.fail(ErrContentID)
		return
	}
	name := cleanFilename(a.Filename)
	c.field("Content-Type", contentType(a.ContentType)+nameForOldReaders(name))
	c.write("Content-Transfer-Encoding: base64\r\n")
	disposition := "attachment"
	if a.Inline {
		disposition = "inline"
	}
	c.write("Content-Disposition: ")
	c.write(disposition)
	c.filename(name)
	c.write("\r\n")
	if a.ContentID != "" {
		c.field("Content-ID", "<"+a.ContentID+">")
	}
	c.write("\r\n")
	if err := c.content(a); err != nil {
		c.fail(fmt.Errorf("read attachment: %w", err))
	}
}

func (c *composer) content(a Attachment) error {
	r, err := a.open()
	if err != nil {
		return err
	}
	defer r.Close()
	chunk := make([]byte, fileChunk)
	for first := true; c.err == nil; first = false {
		n, err := io.ReadFull(r, chunk)
		if n > 0 && !first {
			c.write("\r\n")
		}
		c.base64Lines(chunk[:n])
		c.settle()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contentType returns a type that can be written. Composite types may not be in base64 (RFC 2046 §5.2.1), so an attached
// message travels as a plain file.
func contentType(s string) string {
	const fallback = "application/octet-stream"
	kind, params, err := mime.ParseMediaType(s)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || len(s) > maxFilename || !strings.Contains(kind, "/") ||
		strings.HasPrefix(kind, "message/") || strings.HasPrefix(kind, "multipart/") {
		return fallback
	}
	delete(params, "name") // the disposition has it
	delete(params, "boundary")
	formatted := mime.FormatMediaType(kind, params)
	if formatted == "" || len(formatted) > maxFieldWord {
		return fallback
	}
	return formatted
}

// nameForOldReaders is the file name for those who know no RFC 2231, as a parameter of the type. They decode the words that RFC 2047
// does not allow there.
func nameForOldReaders(name string) string {
	if encoded := mime.BEncoding.Encode("utf-8", name); encoded != name {
		return `; name="` + encoded + `"`
	}
	return ""
}

// filename writes the file name as a parameter: as it is or, if that needs more than ASCII, as RFC 2231 says. Never both: many
// readers take the first one, and what is left of a name in ASCII tells nobody what it is.
func (c *composer) filename(name string) {
	if name == "" {
		return
	}
	if !needsEncoding(name) {
		c.write(";\r\n filename=\"")
		c.write(strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(name))
		c.write(`"`)
		return
	}
	encoded := percentEncode(name)
	if len(encoded) <= filenamePiece {
		c.write(";\r\n filename*=utf-8''")
		c.write(encoded)
		return
	}
	prefix := "utf-8''"
	for i := 0; encoded != ""; i++ {
		n := min(filenamePiece, len(encoded))
		for n < len(encoded) && (encoded[n-1] == '%' || encoded[n-2] == '%') { // never inside an escape
			n--
		}
		c.write(fmt.Sprintf(";\r\n filename*%d*=%s%s", i, prefix, encoded[:n]))
		encoded, prefix = encoded[n:], ""
	}
}

// needsEncoding tells whether a file name cannot stand in quotes. Readers decode what looks like an encoded word even there.
func needsEncoding(name string) bool {
	return strings.Contains(name, "=?") || strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

// cleanFilename drops what has no place in the name of a file and cuts it to a length that file systems take.
func cleanFilename(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, name))
	if len(name) <= maxFilename {
		return name
	}
	n := maxFilename
	for !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

// percentEncode leaves only what RFC 5987 §3.2.1 calls attr-char.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func validContentID(id string) bool {
	if len(id) > maxFilename {
		return false
	}
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' || strings.IndexByte("<>\"\\()", id[i]) >= 0 {
			return false
		}
	}
	return true
}
