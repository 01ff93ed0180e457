package dkim

import (
	"bytes"
	"fmt"
	"strings"

	"postrider/mail/message"
)

// oversigned are the headers that readers see or programs act on, in the order of the h= tag. Each is named once more than it
// occurs: the extra name signs that there is no further one (RFC 6376 §8.15).
var oversigned = []string{
	"from", "to", "cc", "subject", "date", "reply-to", "message-id", "in-reply-to", "references", "mime-version", "content-type",
	"list-unsubscribe", "list-unsubscribe-post",
}

// aloneSigned are headers that are signed, and that there is no further one, where there is one. How a body is encoded decides what its
// reader sees; mail without it may be given one on its way.
var aloneSigned = []string{"content-transfer-encoding"}

// alsoSigned are headers that are signed where there are some. Who passes mail on may add one: lists name themselves. Gmail counts
// complaints only by a Feedback-ID that is signed.
var alsoSigned = []string{
	"sender", "auto-submitted", "list-id", "list-help", "list-subscribe", "list-post", "list-owner", "list-archive", "feedback-id",
}

// split returns the fields of a message and its body.
func split(raw []byte) ([]message.Field, []byte, error) {
	fields, body, err := message.ReadHeader(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("read header: %w", err)
	}
	for _, f := range fields {
		if !bytes.HasSuffix(f.Raw, []byte("\r\n")) || bytes.Count(f.Raw, []byte("\n")) != bytes.Count(f.Raw, []byte("\r\n")) ||
			bytes.Count(f.Raw, []byte("\r")) != bytes.Count(f.Raw, []byte("\r\n")) {
			return nil, nil, ErrLineEnds
		}
	}
	return fields, body, nil
}

// selectFields returns the names for the h= tag and the fields they stand for, in the order in which they are hashed: among
// fields of one name the last comes first (RFC 6376 §5.4.2). Without a From it returns no fields.
func selectFields(header []message.Field) (names []string, signed [][]byte) {
	names = make([]string, 0, 2*(len(oversigned)+len(aloneSigned))+len(alsoSigned))
	sign := func(name string) (found bool) {
		for i := len(header) - 1; i >= 0; i-- {
			if strings.EqualFold(header[i].Name, name) {
				found = true
				names = append(names, name)
				signed = append(signed, header[i].Raw)
			}
		}
		return found
	}
	for _, name := range oversigned {
		if !sign(name) && name == "from" {
			return nil, nil
		}
		names = append(names, name)
	}
	for _, name := range aloneSigned {
		if sign(name) {
			names = append(names, name)
		}
	}
	for _, name := range alsoSigned {
		sign(name)
	}
	return names, signed
}
