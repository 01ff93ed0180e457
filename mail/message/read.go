package message

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"postrider/mail/address"
)

const (
	// maxHeaderBytes bounds the header of a message; the longest honest ones, with their seals and traces, have a tenth of it.
	maxHeaderBytes = 1 << 20
	// maxHeaderFields bounds how many fields are told apart.
	maxHeaderFields = 5000
)

// ErrHeaderTooLarge means the header of a message has more bytes or fields than any honest one.
var ErrHeaderTooLarge = errors.New("header is too large")

// Field is one header field as it stands in a message.
type Field struct {
	// Name is in the case it was written in. It is empty for a line that is no field at all.
	Name string
	// Value is unfolded but not decoded, without the blanks around it.
	Value string
	// Raw is the field with its line ends: a part of the message that was read.
	Raw []byte
}

// Is tells whether the field has the given name.
func (f Field) Is(name string) bool { return strings.EqualFold(f.Name, name) }

// ReadHeader splits a message into the fields of its header and its body. It takes lines ended by CRLF or LF, and keeps lines
// that make no sense as fields without a name, so that the raw fields, the blank line and the body are the message again.
// Without a blank line there is no body.
func ReadHeader(raw []byte) ([]Field, []byte, error) {
	var fields []Field
	rest := raw
	for len(rest) > 0 {
		line, after := nextLine(rest)
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return finish(fields), after, nil
		}
		if len(raw)-len(after) > maxHeaderBytes {
			return nil, nil, ErrHeaderTooLarge
		}
		rest = after
		if last := len(fields) - 1; (line[0] == ' ' || line[0] == '\t') && last >= 0 {
			fields[last].Raw = fields[last].Raw[:len(fields[last].Raw)+len(line)] // the next bytes of the same message
			continue
		}
		if len(fields) == maxHeaderFields {
			return nil, nil, ErrHeaderTooLarge
		}
		fields = append(fields, Field{Raw: line})
	}
	return finish(fields), nil, nil
}

func nextLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	return b[:i+1], b[i+1:]
}

// finish reads names and values off the raw fields, now that each is whole.
func finish(fields []Field) []Field {
	for i, f := range fields {
		fields[i].Raw = f.Raw[:len(f.Raw):len(f.Raw)]
		name, value, found := bytes.Cut(f.Raw, []byte(":"))
		name = bytes.TrimRight(name, " \t") // blanks before the colon are obsolete, not unheard of (RFC 5322 §4.5)
		if !found || !isFieldName(name) {
			continue
		}
		fields[i].Name = string(name)
		fields[i].Value = unfold(value)
	}
	return fields
}

// isFieldName is laxer than ValidHeaderName in length only.
func isFieldName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return len(name) > 0
}

func unfold(value []byte) string {
	value = bytes.Trim(value, " \t\r\n")
	if bytes.IndexByte(value, '\n') < 0 {
		return string(value)
	}
	out := make([]byte, 0, len(value))
	for len(value) > 0 {
		line, rest := nextLine(value)
		out = append(out, bytes.TrimRight(line, "\r\n")...)
		value = rest
	}
	return string(out)
}

// CutHeader reads the header of a message off r, with the blank line that ends it, and leaves the body. Without a blank line all
// of a message is header.
func CutHeader(r *bufio.Reader) (header []byte, err error) {
	for lineStart := true; ; {
		line, err := r.ReadSlice('\n')
		header = append(header, line...)
		switch {
		case len(header) > maxHeaderBytes:
			return nil, ErrHeaderTooLarge
		case errors.Is(err, bufio.ErrBufferFull):
			lineStart = false
			continue
		case errors.Is(err, io.EOF):
			return header, nil
		case err != nil:
			return nil, err
		case lineStart && len(bytes.TrimRight(line, "\r\n")) == 0:
			return header, nil
		}
		lineStart = true
	}
}

// NeedsUTF8 tells whether the header of a message names addresses with more than ASCII before the @, so that only servers with
// SMTPUTF8 may be handed it. Other raw UTF-8 in a header is against the rules too (RFC 6532), but in practice no server minds.
func NeedsUTF8(raw []byte) bool {
	fields, _, err := ReadHeader(raw)
	if err != nil {
		return false
	}
	for _, f := range fields {
		switch strings.ToLower(f.Name) {
		case "from", "sender", "reply-to", "to", "cc":
			list, _ := address.ParseList(f.Value) // what nobody can read needs nothing
			if slices.ContainsFunc(list, address.Address.NeedsUTF8) {
				return true
			}
		}
	}
	return false
}
