package message

import (
	"errors"
	"io"
	"strings"
)

// ErrAmbiguous means that programs disagree about what parts a message has, so that one of them shows what another never saw.
var ErrAmbiguous = errors.New("message can be read in more than one way")

// WalkStrictly is Walk for whoever must have seen everything that a recipient may: it ends with ErrAmbiguous where Walk makes the best
// of a message.
func WalkStrictly(r io.Reader, visit func(*Part) error) error {
	return newWalker(r, visit, strictly).walk()
}

// isAmbiguous tells whether a header says twice, and differently, how the content is built or encoded, or says it in a way that only some
// programs understand.
func isAmbiguous(fields []Field) bool {
	var kinds, encodings []string
	for _, f := range fields {
		switch {
		case f.Is("Content-Type"):
			kinds = append(kinds, f.Value)
		case f.Is("Content-Transfer-Encoding"):
			encodings = append(encodings, f.Value)
		}
	}
	return differ(kinds) || differ(encodings) || len(kinds) > 0 && isAmbiguousType(kinds[0]) || len(encodings) > 0 && isUnknownEncoding(encodings[0])
}

func differ(values []string) bool {
	for _, value := range values {
		if value != values[0] {
			return true
		}
	}
	return false
}

func isAmbiguousType(value string) bool {
	kind := mediaType(value, "")
	claimed := strings.HasPrefix(strings.ToLower(strings.TrimSpace(withoutComments(value))), "multipart")
	return claimed && (!strings.HasPrefix(kind, "multipart/") || len(boundaries(scanParams(value))) != 1)
}

// isUnknownEncoding tells of encodings that are no longer in use but still undone by some: uuencode under its several names.
func isUnknownEncoding(value string) bool {
	return strings.Contains(strings.ToLower(value), "uu")
}
