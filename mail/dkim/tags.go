package dkim

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// maxTags bounds a list of tags; a signature has a dozen.
const maxTags = 100

// ErrTags means that a text is not a list of tags.
var ErrTags = errors.New("not a list of tags")

// Tags are what a signature field says, by name. Names tell capitals apart (RFC 6376 §3.2).
type Tags map[string]string

// ParseTags reads a list of tags, name=value separated by semicolons. A tag that is given twice could mean either to two readers,
// so there is none.
func ParseTags(value string) (Tags, error) {
	tags := Tags{}
	list := strings.Split(value, ";")
	for i, tag := range list {
		if i == len(list)-1 && strings.TrimSpace(tag) == "" {
			break // after a final semicolon
		}
		name, text, found := strings.Cut(tag, "=")
		name = strings.Trim(name, blanks)
		if _, twice := tags[name]; !found || twice || !isTagName(name) || i == maxTags {
			return nil, ErrTags
		}
		tags[name] = strings.Trim(text, blanks)
	}
	return tags, nil
}

// blanks are what may stand around a tag and inside a folded value.
const blanks = " \t\r\n"

func isTagName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= lower(c) && lower(c) <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '_'):
		default:
			return false
		}
	}
	return name != ""
}

// bytes decodes a tag in base64, which may be folded. Neither a missing nor an empty one has any.
func (t Tags) bytes(name string) ([]byte, error) {
	decoded, err := base64.StdEncoding.DecodeString(withoutBlanks(t[name]))
	if err != nil || len(decoded) == 0 {
		return nil, ErrTags
	}
	return decoded, nil
}

// number reads a tag of digits; a missing one is -1.
func (t Tags) number(name string) (int64, error) {
	text, given := t[name]
	if !given {
		return -1, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, ErrTags
	}
	return int64(n), nil
}

// list splits a tag at its colons, in lower case.
func (t Tags) list(name string) []string {
	items := strings.Split(strings.ToLower(t[name]), ":")
	for i, item := range items {
		items[i] = strings.Trim(item, blanks)
	}
	return items
}

func withoutBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(blanks, r) {
			return -1
		}
		return r
	}, s)
}

// withoutSignature returns a raw field with the value of its b= tag left out, as it was when it was signed (RFC 6376 §3.5). All
// else stays to the byte.
func withoutSignature(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	colon := bytes.IndexByte(raw, ':')
	out = append(out, raw[:colon+1]...)
	for tag := range strings.SplitAfterSeq(string(raw[colon+1:]), ";") {
		name, _, found := strings.Cut(tag, "=")
		if !found || strings.Trim(name, blanks) != "b" {
			out = append(out, tag...)
			continue
		}
		out = append(out, name...)
		out = append(out, '=')
		if strings.HasSuffix(tag, ";") {
			out = append(out, ';')
		}
	}
	return out
}
