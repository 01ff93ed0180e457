package arc

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"postrider/mail/dkim"
	"postrider/mail/message"
)

// Reasons not to seal. The message can be handed on as it is.
var (
	// ErrEnded means a chain that nobody may add to: it has failed for good, is full, or is in disorder.
	ErrEnded = errors.New("chain takes no further seal")
	// ErrUnjudged means a chain whose keys could not be asked for; to seal that it failed would break it for good.
	ErrUnjudged = errors.New("chain could not be judged yet")
	// ErrFolded means a message that begins with the rest of a field: it would become part of whatever is put before it.
	ErrFolded = errors.New("message begins with a folded line")
	// ErrResults means that the authentication results would not be one header field.
	ErrResults = errors.New("authentication results are not one header field")
)

// signedNames are the fields that a reader sees or programs act on. Trace fields change on the way and stay out.
var signedNames = []string{
	"from", "to", "cc", "subject", "date", "reply-to", "message-id", "in-reply-to", "references", "mime-version", "content-type",
	"content-transfer-encoding", "list-id", "list-unsubscribe", "list-unsubscribe-post", "dkim-signature",
}

// Seal returns the three fields, with their line ends, to put before a message that is handed on. The chain is what Verify made
// of the message as it came; header and body are the message as it goes, with CRLF line ends. The results are the text of an
// Authentication-Results field, beginning with the name of the server; they may be folded. Its error is one of the above, that of
// the body, or that of the signer.
func (c Chain) Seal(signer *dkim.Signer, header []message.Field, body io.Reader, results string, at time.Time) ([]byte, error) {
	switch {
	case c.ended:
		return nil, ErrEnded
	case c.Temporary:
		return nil, ErrUnjudged
	case len(header) > 0 && strings.ContainsAny(string(header[0].Raw[:1]), " \t"):
		return nil, ErrFolded
	}
	form := dkim.BodyForm{Relaxed: true, Limit: -1}
	hashes, err := dkim.HashBody(body, form)
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	instance := len(c.sets) + 1
	added := set{results: rawField("%s: i=%d; %s\r\n", resultsName, instance, strings.TrimSpace(results))}
	if fields, _, err := message.ReadHeader(added.results.Raw); err != nil || len(fields[0].Raw) != len(added.results.Raw) {
		return nil, ErrResults
	}

	names, signed := coveredFields(header)
	added.signature = rawField("%s: i=%d; a=%s; c=relaxed/relaxed;\r\n d=%s; s=%s; t=%d;\r\n h=%s;\r\n bh=%s;\r\n b=",
		signatureName, instance, signer.Algorithm(), signer.Domain(), signer.Selector(), at.Unix(), names,
		base64.StdEncoding.EncodeToString(hashes[form].SHA256))
	digest := sha256.Sum256(dkim.AppendRelaxed(signed, added.signature.Raw))
	if added.signature, err = complete(signer, added.signature, digest[:]); err != nil {
		return nil, err
	}

	added.seal = rawField("%s: i=%d; a=%s; t=%d; cv=%s;\r\n d=%s; s=%s;\r\n b=",
		sealName, instance, signer.Algorithm(), at.Unix(), c.Result, signer.Domain(), signer.Selector())
	covered := append(c.sets[:len(c.sets):len(c.sets)], added)
	if c.Result == Fail {
		covered = covered[len(c.sets):] // what is broken is not vouched for (RFC 8617 §5.1.2)
	}
	if added.seal, err = complete(signer, added.seal, sealDigest(covered)); err != nil {
		return nil, err
	}
	fields := append(added.seal.Raw, added.signature.Raw...)
	return append(fields, added.results.Raw...), nil
}

func rawField(format string, args ...any) message.Field {
	return message.Field{Raw: fmt.Appendf(nil, format, args...)}
}

// coveredFields returns the h= tag and the canonical text of the fields that it names, in its order.
func coveredFields(header []message.Field) (names string, text []byte) {
	var list []string
	for _, name := range signedNames {
		for i := len(header) - 1; i >= 0; i-- {
			if header[i].Is(name) {
				list = append(list, name)
				text = append(dkim.AppendRelaxed(text, header[i].Raw), "\r\n"...)
			}
		}
	}
	list = append(list, "from") // once more than it occurs: nobody can put another author on top
	return strings.Join(list, ":\r\n "), text
}

// complete signs a digest and adds the signature to the field that ends with b=.
func complete(signer *dkim.Signer, f message.Field, digest []byte) (message.Field, error) {
	signature, err := signer.SignDigest(digest)
	if err != nil {
		return message.Field{}, err
	}
	const lineBytes = 72
	text := base64.StdEncoding.EncodeToString(signature)
	for len(text) > lineBytes {
		f.Raw = append(append(f.Raw, text[:lineBytes]...), "\r\n "...)
		text = text[lineBytes:]
	}
	f.Raw = append(append(f.Raw, text...), "\r\n"...)
	return f, nil
}
