package dkim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/world"
)

// maxSignatures is how many signatures of one message are looked at; honest mail has two or three, and each costs a look-up.
const maxSignatures = 10

// Result is what became of a signature, in the words of RFC 8601 §2.7.1.
type Result string

// The results. A message without any signature has no result, which is called none.
const (
	Pass      Result = "pass"
	Fail      Result = "fail"
	Neutral   Result = "neutral"   // it cannot be read
	Policy    Result = "policy"    // it matches, but we do not take it
	TempError Result = "temperror" // the key could not be asked for
	PermError Result = "permerror" // it can never be verified
	None      Result = "none"
)

// Verification is what is known of one signature of a message.
type Verification struct {
	Result Result
	// Domain and Selector are empty if the signature cannot be read.
	Domain    string
	Selector  string
	Algorithm string
	// Identity is the i= tag, or empty.
	Identity string
	// Mark is the beginning of the signature, which tells those of one domain apart (RFC 6008).
	Mark string
	// Testing is set if the domain says that it only tries.
	Testing bool
	// Reason says why it is not Pass.
	Reason string
}

// markBytes is how much of a signature is quoted: eight characters are never alike by chance (RFC 6008 §4).
const markBytes = 8

// Verify checks the DKIM signatures of a received message, from the top. It reads the body once. Lines may end with CRLF or LF.
// The error is that of the body; everything else is a result.
func Verify(ctx context.Context, names world.Resolver, header []message.Field, body io.Reader, at time.Time) ([]Verification, error) {
	var list []Verification
	var signatures []*Signature
	var forms []BodyForm
	for _, f := range header {
		if !f.Is("DKIM-Signature") {
			continue
		}
		if len(list) == maxSignatures {
			break
		}
		s, err := readSignature(f)
		list = append(list, describe(f, err))
		signatures = append(signatures, s)
		if s != nil {
			forms = append(forms, s.Body)
		}
	}
	if len(forms) == 0 {
		return list, nil
	}
	hashes, err := HashBody(body, forms...)
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	for i, s := range signatures {
		if s == nil {
			continue
		}
		record, err := s.Verify(ctx, names, header, hashes, at)
		if err == nil {
			err = s.acceptable(record, hashes)
		}
		list[i].Testing = record.Testing
		list[i].Result, list[i].Reason = judge(err)
	}
	return list, nil
}

// Best is the best that can be said of a message's signatures.
func Best(list []Verification) Result {
	best := None
	for _, result := range []Result{PermError, Neutral, TempError, Policy, Fail, Pass} {
		for _, v := range list {
			if v.Result == result {
				best = result
			}
		}
	}
	return best
}

// readSignature reads a DKIM-Signature and refuses what the rules of DKIM proper refuse.
func readSignature(f message.Field) (*Signature, error) {
	s, err := ParseSignature(f)
	if err != nil {
		return nil, err
	}
	query, given := s.Tags["q"]
	switch {
	case s.Tags["v"] != "1":
		return nil, fmt.Errorf("%w: v", ErrSyntax)
	case !s.Covers("from"):
		return nil, fmt.Errorf("%w: From is not signed", ErrUnusable) // RFC 6376 §6.1.1
	case given && !strings.Contains(strings.ToLower(query), "dns/txt"):
		return nil, fmt.Errorf("%w: q", ErrUnusable)
	case s.identityDomain() != s.Domain && !strings.HasSuffix(s.identityDomain(), "."+s.Domain):
		return nil, fmt.Errorf("%w: i is outside of d", ErrUnusable)
	}
	return s, nil
}

// identityDomain is that of the i= tag, which is the signing domain if there is none, or empty if it makes no sense.
func (s *Signature) identityDomain() string {
	identity, given := s.Tags["i"]
	if !given {
		return s.Domain
	}
	domain, _ := address.ParseDomain(identity[strings.LastIndexByte(identity, '@')+1:])
	return domain
}

var errPartly = errors.New("not all of the body is signed")

// acceptable looks at a signature that matches. One that leaves the end of the body open is of no use: anybody can write there.
func (s *Signature) acceptable(record Record, hashes BodyHashes) error {
	if record.Strict && s.identityDomain() != s.Domain {
		return fmt.Errorf("%w: the key is not for the domain in i", ErrUnusable)
	}
	if s.Body.Limit >= 0 && s.Body.Limit < hashes[s.Body].Length {
		return errPartly
	}
	return nil
}

// describe tells what can be told before a signature is verified.
func describe(f message.Field, err error) Verification {
	var v Verification
	if tags, bad := ParseTags(f.Value); bad == nil {
		v.Identity = tags["i"]
		v.Algorithm = strings.ToLower(tags["a"])
		v.Mark = withoutBlanks(tags["b"])
		v.Mark = v.Mark[:min(len(v.Mark), markBytes)]
		v.Domain, v.Selector, _ = tags.Key()
	}
	if err != nil {
		v.Result, v.Reason = judge(err)
	}
	return v
}

// judge turns a fault into a result and its reason.
func judge(err error) (Result, string) {
	switch {
	case err == nil:
		return Pass, ""
	case errors.Is(err, ErrMismatch):
		return Fail, err.Error()
	case errors.Is(err, ErrNoAnswer):
		return TempError, ErrNoAnswer.Error()
	case errors.Is(err, ErrSyntax):
		return Neutral, err.Error()
	case errors.Is(err, errPartly):
		return Policy, err.Error()
	}
	return PermError, err.Error()
}
