package message

import (
	"encoding/base64"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// byteOrderMark begins texts of some programs, and is no part of what they say.
const byteOrderMark = "\uFEFF"

// decodeTransfer undoes the transfer encoding of a part. Damaged encodings give what can be saved of them, as in every mail program.
func decodeTransfer(r io.Reader, fields []Field) io.Reader {
	switch transferEncoding(fields) {
	case "base64":
		return &base64Reader{decoder: decoder{in: r}}
	case "quoted-printable":
		return &quotedReader{decoder: decoder{in: r}}
	}
	return r
}

func transferEncoding(fields []Field) string {
	encoding, _, _ := strings.Cut(withoutComments(fieldValue(fields, "Content-Transfer-Encoding")), ";")
	return strings.ToLower(strings.Trim(encoding, " \t\"'"))
}

// IsEncoded tells by its header whether the content of a message does not stand there as it is read.
func IsEncoded(fields []Field) bool {
	encoding := transferEncoding(fields)
	return encoding == "base64" || encoding == "quoted-printable"
}

// decodeBuffer is how much encoded text is read at once.
const decodeBuffer = 4096

// decoder is what decoders have in common: encoded text that was read, and decoded text that nobody has taken yet.
type decoder struct {
	in  io.Reader
	raw [decodeBuffer]byte
	out []byte
	err error
}

// hand gives out decoded text, and has more decoded when there is none.
func (d *decoder) hand(p []byte, fill func()) (int, error) {
	for len(d.out) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		fill()
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// base64Reader decodes base64 and looks past everything that is not part of it. Padding may stand in the middle: some programs
// encode in pieces.
type base64Reader struct {
	decoder
	group []byte // letters that wait to be decoded, in groups of four
}

func (r *base64Reader) Read(p []byte) (int, error) { return r.hand(p, r.fill) }

func (r *base64Reader) fill() {
	n, err := r.in.Read(r.raw[:])
	r.err = err
	r.out = r.out[:0]
	for _, c := range r.raw[:n] {
		r.add(c)
	}
	if errors.Is(err, io.EOF) {
		r.flush()
		return
	}
	whole := len(r.group) / 4 * 4
	r.decode(r.group[:whole])
	r.group = append(r.group[:0], r.group[whole:]...)
}

func (r *base64Reader) add(c byte) {
	switch {
	case isBase64(c):
		r.group = append(r.group, c)
	case c == '=':
		r.flush()
	}
}

// flush decodes what waits, whole groups or not; a single letter is not even a byte and is dropped.
func (r *base64Reader) flush() {
	whole := len(r.group) / 4 * 4
	r.decode(r.group[:whole])
	if rest := r.group[whole:]; len(rest) > 1 {
		r.decode(rest)
	}
	r.group = r.group[:0]
}

func (r *base64Reader) decode(letters []byte) {
	r.out, _ = base64.RawStdEncoding.AppendDecode(r.out, letters) // there is nothing but letters in it
}

func isBase64(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// quotedReader decodes quoted-printable. An escape that is none stays as it is.
type quotedReader struct {
	decoder
	escape []byte // an = and what followed it so far
}

func (r *quotedReader) Read(p []byte) (int, error) { return r.hand(p, r.fill) }

func (r *quotedReader) fill() {
	n, err := r.in.Read(r.raw[:])
	r.err = err
	r.out = r.out[:0]
	for _, c := range r.raw[:n] {
		switch {
		case len(r.escape) == 0 && c != '=':
			r.out = append(r.out, c)
		case len(r.escape) == 0:
			r.escape = append(r.escape, c)
		default:
			r.escaped(c)
		}
	}
	if errors.Is(err, io.EOF) {
		if len(r.escape) > 1 {
			r.out = append(r.out, r.escape...)
		}
		r.escape = nil
	}
}

// escaped takes the next byte of an escape: two digits, or the end of a line that goes on.
func (r *quotedReader) escaped(c byte) {
	first := len(r.escape) == 1
	switch {
	case c == '\n' && (first || isBlank(r.escape[1])):
		r.escape = r.escape[:0]
	case first && (isBlank(c) || unhex(c) >= 0):
		r.escape = append(r.escape, c)
	case !first && isBlank(r.escape[1]) && isBlank(c):
	case !first && unhex(r.escape[1]) >= 0 && unhex(c) >= 0:
		r.out = append(r.out, byte(unhex(r.escape[1])<<4|unhex(c)))
		r.escape = r.escape[:0]
	default:
		r.out = append(r.out, r.escape...)
		if r.escape = r.escape[:0]; c == '=' {
			r.escape = append(r.escape, c)
			return
		}
		r.out = append(r.out, c)
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}

// toUTF8 turns text in the named character set into UTF-8 that every database takes: no invalid bytes and no NUL.
func toUTF8(text []byte, set string) string {
	set = strings.ToLower(strings.TrimSpace(set))
	if utf8.Valid(text) && (set == "" || set == "utf-8" || set == "us-ascii") {
		return strings.ReplaceAll(strings.TrimPrefix(string(text), byteOrderMark), "\x00", "")
	}
	if set == "" || set == "us-ascii" || set == "utf-8" {
		set = "windows-1252" // what it usually is, when it is not what it says
	}
	encoding, _ := charset.Lookup(set)
	if encoding != nil {
		decoder := encoding.NewDecoder()
		if strings.HasPrefix(set, "utf-16") { // its mark says in which order its bytes are (RFC 2781 §3.2)
			decoder.Transformer = unicode.BOMOverride(decoder.Transformer)
		}
		if decoded, err := decoder.Bytes(text); err == nil {
			text = decoded
		}
	}
	shown := strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), byteOrderMark)
	return strings.ReplaceAll(shown, "\x00", "")
}
