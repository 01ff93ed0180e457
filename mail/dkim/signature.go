package dkim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/world"
)

// Faults of signatures. Each is wrapped with the facts.
var (
	// ErrSyntax means a signature that cannot be read, so that nobody knows what it covers.
	ErrSyntax = errors.New("signature is malformed")
	// ErrUnusable means a signature that is readable but that no verifier may accept: a weak algorithm, no key, expired.
	ErrUnusable = errors.New("signature is unusable")
	// ErrMismatch means that the message is not the one that was signed.
	ErrMismatch = errors.New("signature does not match")
	// ErrNoAnswer means that the key could not be asked for; another time it might.
	ErrNoAnswer = errors.New("key cannot be looked up now")
)

// Signature is a signature over a message, as in DKIM-Signature and ARC-Message-Signature.
type Signature struct {
	Domain    string
	Selector  string
	Algorithm string
	Body      BodyForm
	// Signed are the names of the h= tag in lower case.
	Signed []string
	// Expires is zero if it never does.
	Expires time.Time
	// Tags are all that was said, for what differs between the two kinds.
	Tags Tags

	relaxedHeader bool
	bodyHash      []byte
	signature     []byte
	raw           []byte
}

// ParseSignature reads the tags that both kinds of signature have in common. Its error is ErrSyntax or ErrUnusable.
func ParseSignature(field message.Field) (*Signature, error) {
	tags, err := ParseTags(field.Value)
	if err != nil {
		return nil, fmt.Errorf("%w: tags", ErrSyntax)
	}
	s := &Signature{Tags: tags, raw: withCRLF(field.Raw), Signed: tags.list("h"), Algorithm: strings.ToLower(tags["a"])}
	if s.Domain, s.Selector, err = tags.Key(); err != nil {
		return nil, err
	}
	if s.bodyHash, err = tags.bytes("bh"); err != nil {
		return nil, fmt.Errorf("%w: bh", ErrSyntax)
	}
	if s.signature, err = tags.bytes("b"); err != nil {
		return nil, fmt.Errorf("%w: b", ErrSyntax)
	}
	if s.Body.Limit, err = tags.number("l"); err != nil {
		return nil, fmt.Errorf("%w: l", ErrSyntax)
	}
	if err := s.canonical(); err != nil {
		return nil, err
	}
	if err := s.times(); err != nil {
		return nil, err
	}
	if err := checkAlgorithm(s.Algorithm); err != nil {
		return nil, err
	}
	return s, nil
}

// Key returns the domain and the selector under which the key of a signature or seal is published.
func (t Tags) Key() (domain, selector string, err error) {
	if domain, err = address.ParseDomain(t["d"]); err != nil {
		return "", "", fmt.Errorf("%w: d", ErrSyntax)
	}
	selector = strings.ToLower(t["s"])
	for label := range strings.SplitSeq(selector, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", "", fmt.Errorf("%w: s", ErrSyntax)
		}
	}
	return domain, selector, nil
}

// canonical reads the forms of header and body; both are simple unless told otherwise (RFC 6376 §3.5).
func (s *Signature) canonical() error {
	header, body, _ := strings.Cut(strings.ToLower(s.Tags["c"]), "/")
	for _, form := range []struct {
		name    string
		relaxed *bool
	}{{header, &s.relaxedHeader}, {body, &s.Body.Relaxed}} {
		switch form.name {
		case "relaxed":
			*form.relaxed = true
		case "simple", "":
		default:
			return fmt.Errorf("%w: c", ErrSyntax)
		}
	}
	return nil
}

func (s *Signature) times() error {
	signed, err := s.Tags.number("t")
	if err != nil {
		return fmt.Errorf("%w: t", ErrSyntax)
	}
	expires, err := s.Tags.number("x")
	if err != nil || expires >= 0 && expires < signed {
		return fmt.Errorf("%w: x", ErrSyntax)
	}
	if expires >= 0 {
		s.Expires = time.Unix(expires, 0)
	}
	return nil
}

// Covers tells whether the fields of a name are signed.
func (s *Signature) Covers(name string) bool {
	for _, signed := range s.Signed {
		if signed == name {
			return true
		}
	}
	return false
}

// Verify checks the signature against a message: first what costs nothing, then the key in DNS. The hashes must have been made
// with the form in Body. It returns the key's record, and one of the faults above.
func (s *Signature) Verify(ctx context.Context, names world.Resolver, header []message.Field, hashes BodyHashes, at time.Time) (Record, error) {
	body := hashes[s.Body]
	switch {
	case !s.Expires.IsZero() && at.After(s.Expires):
		return Record{}, fmt.Errorf("%w: expired", ErrUnusable)
	case s.Body.Limit > body.Length:
		return Record{}, fmt.Errorf("%w: body is shorter than what was signed", ErrMismatch)
	case !bytes.Equal(body.SHA256, s.bodyHash):
		return Record{}, fmt.Errorf("%w: body was changed", ErrMismatch)
	}
	record, err := LookupKey(ctx, names, s.Domain, s.Selector)
	if err != nil {
		return Record{}, err
	}
	return record, record.Verify(s.Algorithm, s.digest(header), s.signature)
}

// digest hashes the signed fields and the signature's own (RFC 6376 §3.7).
func (s *Signature) digest(header []message.Field) []byte {
	places := map[string][]int{}
	for i, f := range header {
		name := strings.ToLower(f.Name)
		places[name] = append(places[name], i)
	}
	var buf []byte
	for _, name := range s.Signed {
		left := places[name]
		if name == "" || len(left) == 0 {
			continue // what is not there is signed too: as nothing
		}
		last := len(left) - 1
		buf = s.append(buf, withCRLF(header[left[last]].Raw))
		buf = append(buf, "\r\n"...)
		places[name] = left[:last] // of several fields the last comes first (RFC 6376 §5.4.2)
	}
	digest := sha256.Sum256(s.append(buf, withoutSignature(s.raw)))
	return digest[:]
}

// append adds a field in its canonical form, without its line end.
func (s *Signature) append(dst, raw []byte) []byte {
	if s.relaxedHeader {
		return appendRelaxed(dst, raw)
	}
	return append(dst, bytes.TrimSuffix(raw, []byte("\r\n"))...)
}

// AppendRelaxed adds a raw header field in relaxed form, without its line end (RFC 6376 §3.4.2).
func AppendRelaxed(dst, raw []byte) []byte { return appendRelaxed(dst, withCRLF(raw)) }

// AppendUnsigned adds a raw signature field in relaxed form, with the value of its b= tag left out and without its line end.
func AppendUnsigned(dst, raw []byte) []byte {
	return appendRelaxed(dst, withoutSignature(withCRLF(raw)))
}

// withCRLF makes every line end of a field a CRLF, as it was on the wire.
func withCRLF(raw []byte) []byte {
	if bytes.Count(raw, []byte("\n")) == bytes.Count(raw, []byte("\r\n")) {
		return raw
	}
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
}
