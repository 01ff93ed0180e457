package arc_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"postrider/mail/arc"
	"postrider/mail/dkim"
	"postrider/mail/message"
	"postrider/world"
)

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sealers are the servers on the way, each with its key.
type sealers struct {
	world.Resolver
	keys map[string]crypto.Signer
	// silent domains do not answer.
	silent map[string]bool
}

func newSealers(t testing.TB) sealers {
	t.Helper()
	s := sealers{keys: map[string]crypto.Signer{}, silent: map[string]bool{}}
	var err error
	if s.keys["rsa.test"], err = dkim.GenerateRSA(rand.Reader); err != nil {
		t.Fatal(err)
	}
	if s.keys["ed.test"], err = dkim.GenerateEd25519(bytes.NewReader(bytes.Repeat([]byte{3}, 32))); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s sealers) TXT(_ context.Context, name string) ([]string, world.Answer, error) {
	domain, found := strings.CutPrefix(name, "arc._domainkey.")
	if s.silent[domain] {
		return nil, world.Answer{}, world.ErrUnanswered
	}
	if key := s.keys[domain]; found && key != nil {
		return []string{dkim.PublicRecord(key.Public())}, world.Answer{}, nil
	}
	return nil, world.Answer{}, world.ErrNoName
}

func (s sealers) signer(domain string) *dkim.Signer {
	return dkim.NewSigner(domain, "arc", s.keys[domain])
}

// now is when everything in the tests happens.
var now = time.Unix(1_800_000_000, 0)

const original = "From: Ann <ann@example.test>\r\nTo: list@example.test\r\nSubject: Hello\r\n there\r\nDate: Sun, 15 Nov 2026 02:13:00 +0000\r\n" +
	"Message-ID: <x@example.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nHello  you\r\n\r\n"

func (s sealers) verify(t fataler, raw string) arc.Chain {
	t.Helper()
	header, body, err := message.ReadHeader([]byte(raw))
	if err != nil {
		t.Fatalf("%v", err)
	}
	chain, err := arc.Verify(context.Background(), s, header, bytes.NewReader(body), now)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return chain
}

// pass hands a message on, as a server does: it verifies the chain and adds to it.
func (s sealers) pass(t fataler, domain, raw string) string {
	t.Helper()
	fields, err := s.seal(t, domain, raw)
	if err != nil {
		t.Fatalf("seal: %v", err)
	}
	return fields + raw
}

func (s sealers) seal(t fataler, domain, raw string) (string, error) {
	t.Helper()
	chain := s.verify(t, raw)
	header, body, err := message.ReadHeader([]byte(raw))
	if err != nil {
		t.Fatalf("%v", err)
	}
	fields, err := chain.Seal(s.signer(domain), header, bytes.NewReader(body), "mx."+domain+";\r\n spf=pass smtp.mailfrom=ann@example.test;\r\n arc="+string(chain.Result), now)
	return string(fields), err
}

// forgery is a set made by somebody who holds a key but not to the rules.
type forgery struct {
	instance int
	cv       string
	// names is the h= tag of the signature; signatureTags and sealTags are further ones, each with its semicolon.
	names         string
	signatureTags string
	sealTags      string
}

// forge signs a set properly, whatever is in it, and puts it before the message. Sets that are there already are sealed too.
func (s sealers) forge(t fataler, raw string, f forgery) string {
	t.Helper()
	header, body, err := message.ReadHeader([]byte(raw))
	if err != nil {
		t.Fatalf("%v", err)
	}
	form := dkim.BodyForm{Relaxed: true, Limit: -1}
	hashes, err := dkim.HashBody(bytes.NewReader(body), form)
	if err != nil {
		t.Fatalf("%v", err)
	}
	results := fmt.Sprintf("ARC-Authentication-Results: i=%d; mx.ed.test; none\r\n", f.instance)

	var signed []byte
	for name := range strings.SplitSeq(f.names, ":") {
		for _, field := range header {
			if field.Is(name) {
				signed = append(dkim.AppendRelaxed(signed, field.Raw), "\r\n"...)
			}
		}
	}
	signature := fmt.Sprintf("ARC-Message-Signature: i=%d; a=ed25519-sha256; c=relaxed/relaxed; d=ed.test; s=arc; h=%s; %sbh=%s; b=",
		f.instance, f.names, f.signatureTags, base64.StdEncoding.EncodeToString(hashes[form].SHA256))
	signature += s.sign(t, dkim.AppendUnsigned(signed, []byte(signature+"\r\n")))

	var sealed []byte
	for i := 1; i < f.instance; i++ {
		for _, name := range []string{"ARC-Authentication-Results", "ARC-Message-Signature", "ARC-Seal"} {
			for _, field := range header {
				if field.Is(name) && strings.HasPrefix(field.Value, fmt.Sprintf("i=%d;", i)) {
					sealed = append(dkim.AppendRelaxed(sealed, field.Raw), "\r\n"...)
				}
			}
		}
	}
	sealed = append(dkim.AppendRelaxed(sealed, []byte(results)), "\r\n"...)
	sealed = append(dkim.AppendRelaxed(sealed, []byte(signature)), "\r\n"...)
	seal := fmt.Sprintf("ARC-Seal: i=%d; a=ed25519-sha256; cv=%s; %sd=ed.test; s=arc; b=", f.instance, f.cv, f.sealTags)
	seal += s.sign(t, dkim.AppendUnsigned(sealed, []byte(seal+"\r\n")))
	return seal + signature + results + raw
}

func (s sealers) sign(t fataler, text []byte) string {
	t.Helper()
	digest := sha256.Sum256(text)
	signature, err := s.signer("ed.test").SignDigest(digest[:])
	if err != nil {
		t.Fatalf("%v", err)
	}
	return base64.StdEncoding.EncodeToString(signature) + "\r\n"
}
