package message

import (
	"bytes"
	"errors"
	"io"
	"slices"
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
	return differ(kinds) || differ(encodings) || len(kinds) > 0 && isAmbiguousMultipart(fields, kinds[0]) || len(encodings) > 0 && isAmbiguousEncoding(encodings[0])
}

func differ(values []string) bool {
	for _, value := range values {
		if value != values[0] {
			return true
		}
	}
	return false
}

func isAmbiguousMultipart(fields []Field, value string) bool {
	if !strings.HasPrefix(strings.ToLower(strings.TrimSpace(withoutComments(value))), "multipart") {
		return false
	}
	params := scanParams(value)
	edges := boundaries(params)
	if !strings.HasPrefix(mediaType(value, ""), "multipart/") || len(edges) != 1 {
		return true
	}
	// Not all undo escapes or put pieces together (RFC 2231), and some take other signs for quotes.
	inPieces := func(p param) bool { return strings.HasPrefix(p.name, "boundary*") }
	if strings.Contains(value, `\`) || slices.ContainsFunc(params, inPieces) || strings.ContainsAny(edges[0][:1], `'<`) {
		return true
	}
	// Some end a header at the first line that is no field, and find the first boundary behind it.
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Name == "" || bytes.HasPrefix(f.Raw, []byte("--"+edges[0])) })
}

// oldEncodings are those that are no longer in use but still undone by some, under several names: uuencode, yEnc, BinHex.
var oldEncodings = []string{"uu", "yenc", "binhex"}

// isAmbiguousEncoding tells of encodings that only some programs undo: old ones, and those of today with more around them than their name.
func isAmbiguousEncoding(value string) bool {
	value = strings.ToLower(value)
	contained := func(encoding string) bool { return strings.Contains(value, encoding) }
	switch value {
	case "base64", "quoted-printable":
		return false
	}
	return slices.ContainsFunc(oldEncodings, contained) || contained("base64") || contained("quoted-printable")
}

// isOpened tells whether programs take a part for a message of its own.
func isOpened(mediaType string) bool {
	return strings.HasPrefix(mediaType, "message/") && !strings.HasPrefix(mediaType, "message/global-")
}

// plainReader is base64 that nobody could take for a message, as it stands: no line of it can be a field.
type plainReader struct{ io.Reader }

func (r plainReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if bytes.IndexByte(p[:n], ':') >= 0 {
		return 0, ErrAmbiguous
	}
	return n, err
}

// strictBody is a body with its encoding undone. A message in a message must have none (RFC 2046 §5.2.1), so some programs read it as it
// stands, and what is a message both ways is two.
func strictBody(body io.Reader, fields []Field, mediaType string) (io.Reader, error) {
	if isOpened(mediaType) {
		switch transferEncoding(fields) {
		case "quoted-printable":
			return nil, ErrAmbiguous
		case "base64":
			body = plainReader{body}
		}
	}
	return decodeTransfer(body, fields), nil
}
