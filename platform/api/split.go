package api

import (
	"bytes"
	"encoding/json"
	"errors"
)

// BodyReader is a body that reads its own bytes, for shapes that would otherwise be scanned many times over.
type BodyReader interface {
	// ReadBody takes the whole body. It may keep parts of it until the request ends.
	ReadBody(raw []byte) error
}

var errNotList = errors.New("must be a list")

// SplitList cuts a JSON list into its elements without looking inside them: whoever decodes an element finds out whether it is
// well formed.
func SplitList(raw []byte) ([]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' || raw[len(raw)-1] != ']' {
		return nil, errNotList
	}
	raw = raw[1 : len(raw)-1]
	var list []json.RawMessage
	start, depth := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			end := endOfString(raw[i:])
			if end < 0 {
				return nil, errNotList
			}
			i += end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return nil, errNotList
			}
		case ',':
			if depth == 0 {
				list = append(list, bytes.TrimSpace(raw[start:i]))
				start = i + 1
			}
		}
	}
	last := bytes.TrimSpace(raw[start:])
	if depth != 0 || len(last) == 0 && len(list) > 0 {
		return nil, errNotList
	}
	if len(last) > 0 {
		list = append(list, last)
	}
	return list, nil
}

// endOfString returns where the quote is that ends a string; the first byte is the one that begins it.
func endOfString(raw []byte) int {
	for i := 1; ; {
		quote := bytes.IndexByte(raw[i:], '"')
		if quote < 0 {
			return -1
		}
		at := i + quote
		escapes := 0
		for raw[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
		i = at + 1
	}
}
