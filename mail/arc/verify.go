package arc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"postrider/mail/dkim"
	"postrider/mail/message"
	"postrider/world"
)

// Verify checks the chain of a received message (RFC 8617 §5.2): all seals, and the newest signature over the message. It reads
// the body at most once. The error is that of the body; everything else is a result.
func Verify(ctx context.Context, names world.Resolver, header []message.Field, body io.Reader, at time.Time) (Chain, error) {
	sets, err := collect(header)
	if err != nil {
		return Chain{Result: Fail, Reason: err.Error(), ended: true}, nil
	}
	if len(sets) == 0 {
		return Chain{Result: None}, nil
	}
	c := Chain{Result: Pass, sets: sets, ended: len(sets) == MaxInstances}
	if err := c.readSeals(); err != nil {
		return c.failed(err), nil
	}
	signature, err := newestSignature(sets)
	if err != nil {
		return c.failed(err), nil
	}
	hashes, err := dkim.HashBody(body, signature.Body)
	if err != nil {
		return Chain{}, fmt.Errorf("read body: %w", err)
	}
	if _, err := signature.Verify(ctx, names, header, hashes, at); err != nil {
		return c.failed(fmt.Errorf("i=%d: %w", len(sets), err)), nil
	}
	for instance := len(sets); instance > 0; instance-- {
		if err := verifySeal(ctx, names, sets[:instance]); err != nil {
			return c.failed(fmt.Errorf("i=%d: seal: %w", instance, err)), nil
		}
	}
	return c, nil
}

func (c Chain) failed(err error) Chain {
	c.Result, c.Reason, c.Temporary = Fail, err.Error(), errors.Is(err, dkim.ErrNoAnswer)
	return c
}

// readSeals reads the tags of every seal, and fails if one says that the chain was broken, or cannot say that it was whole.
func (c *Chain) readSeals() error {
	var fault error
	for i := range c.sets {
		s := &c.sets[i]
		s.sealTags, _ = dkim.ParseTags(s.seal.Value) // collect has read them
		domain, _, err := s.sealTags.Key()
		c.Sealers = append(c.Sealers, domain)
		_, results, _ := strings.Cut(s.results.Value, ";")
		c.Results = append(c.Results, strings.TrimSpace(results))

		want := Pass
		if i == 0 {
			want = None
		}
		said := Result(strings.ToLower(s.sealTags["cv"]))
		_, hasFields := s.sealTags["h"]
		switch {
		case err != nil:
			fault = errors.Join(fault, fmt.Errorf("i=%d: %w", i+1, err))
		case hasFields: // a seal has its fields by rule; naming others is a trick (RFC 8617 §4.1.3)
			fault = errors.Join(fault, fmt.Errorf("i=%d: %w: h", i+1, errSeal))
		case said != want:
			fault = errors.Join(fault, fmt.Errorf("i=%d: cv is not %s", i+1, want))
		}
		c.ended = c.ended || said == Fail
	}
	return fault
}

// newestSignature reads the one signature that has to match: those before it may have been broken by the servers after them.
func newestSignature(sets []set) (*dkim.Signature, error) {
	newest := len(sets)
	signature, err := dkim.ParseSignature(sets[newest-1].signature)
	switch {
	case err != nil:
		return nil, fmt.Errorf("i=%d: %w", newest, err)
	case signature.Covers("arc-seal"): // it is made after the signature (RFC 8617 §4.1.2)
		return nil, fmt.Errorf("i=%d: signature covers a seal", newest)
	case !signature.Covers("from"):
		return nil, fmt.Errorf("i=%d: From is not signed", newest)
	case signature.Body.Limit >= 0:
		return nil, fmt.Errorf("i=%d: not all of the body is signed", newest)
	}
	return signature, nil
}

// verifySeal checks the seal of the last of the sets, which covers them all.
func verifySeal(ctx context.Context, names world.Resolver, sets []set) error {
	tags := sets[len(sets)-1].sealTags
	signature, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(tags["b"]), ""))
	if err != nil {
		return fmt.Errorf("%w: b", errSeal)
	}
	domain, selector, err := tags.Key()
	if err != nil {
		return err
	}
	key, err := dkim.LookupKey(ctx, names, domain, selector)
	if err != nil {
		return err
	}
	return key.Verify(strings.ToLower(tags["a"]), sealDigest(sets), signature)
}

// sealDigest hashes all fields of the sets in relaxed form, oldest first, the last seal without its signature (RFC 8617 §5.1.1).
func sealDigest(sets []set) []byte {
	var buf []byte
	for i, s := range sets {
		buf = append(dkim.AppendRelaxed(buf, s.results.Raw), "\r\n"...)
		buf = append(dkim.AppendRelaxed(buf, s.signature.Raw), "\r\n"...)
		if i == len(sets)-1 {
			buf = dkim.AppendUnsigned(buf, s.seal.Raw)
			break
		}
		buf = append(dkim.AppendRelaxed(buf, s.seal.Raw), "\r\n"...)
	}
	digest := sha256.Sum256(buf)
	return digest[:]
}
