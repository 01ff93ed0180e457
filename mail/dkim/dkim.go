// Package dkim signs messages and verifies signatures (RFC 6376), and reads and writes the DNS records that prove them.
//
// Signatures are relaxed/relaxed over the whole body, with RSA or Ed25519 (RFC 8463). Every header that a reader would see is
// signed once more than it occurs, so that a captured message cannot be sent again with a second Subject or From on top.
//
// The canonical forms are made here, on the bytes in memory, rather than by a general streaming library: signing is on the path
// of every message and everything but the signature itself should cost next to nothing.
//
// Verifying reads a body of any size once and in little memory. The parts that ARC has in common with DKIM (RFC 8617) are
// exported for it: tags, signatures over a message, body hashes, keys.
//
// Pure: no clock, no state but a place where signatures wait for each other, and no network but the resolver it is handed.
package dkim

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// validFor is how long a signature is good: longer than any queue keeps a message, shorter than a replay is worth.
const validFor = 7 * 24 * time.Hour

var (
	// ErrNoFrom means a message without a From header, which cannot be signed (RFC 6376 §5.4).
	ErrNoFrom = errors.New("message has no From header")
	// ErrLineEnds means a message with a CR or LF that is not part of a CRLF; relays would change it and break the signature.
	ErrLineEnds = errors.New("message has bare line ends")
)

// Signer signs for one domain with one key. It is safe for use by several goroutines.
type Signer struct {
	domain    string
	selector  string
	key       crypto.Signer
	algorithm string
}

// NewSigner returns a signer whose public key is published at selector._domainkey.domain. The key comes from this package; one
// of another kind is a programming mistake and panics.
func NewSigner(domain, selector string, key crypto.Signer) *Signer {
	return &Signer{domain: domain, selector: selector, key: accelerate(key), algorithm: keyType(key.Public()) + "-sha256"}
}

// Sign returns the DKIM-Signature header field, with its line end, to be put before the message. The message has CRLF line ends.
func (s *Signer) Sign(message []byte, at time.Time) ([]byte, error) { return SignAll(message, at, s) }

// SignAll returns the fields of several signers, one after the other. The message is read once, however many they are.
func SignAll(message []byte, at time.Time, signers ...*Signer) ([]byte, error) {
	if len(signers) == 0 {
		return nil, nil
	}
	c, err := canonicalize(message)
	if err != nil {
		return nil, err
	}
	var fields []byte
	for _, s := range signers {
		field := s.field(c.names, c.bodyHash, at)
		// Its own field comes last, without a signature and a line end (RFC 6376 §3.7).
		digest := sha256.Sum256(appendRelaxed(c.header[:len(c.header):len(c.header)], field))
		signature, err := s.SignDigest(digest[:])
		if err != nil {
			return nil, err
		}
		fields = append(fields, appendFolded(field, base64.StdEncoding.EncodeToString(signature))...)
	}
	return fields, nil
}

// canonical is what all signatures of a message are made from.
type canonical struct {
	names    []string
	header   []byte
	bodyHash []byte
}

func canonicalize(message []byte) (c canonical, err error) {
	header, body, err := split(message)
	if err != nil {
		return c, err
	}
	if c.bodyHash, err = hashBody(body); err != nil {
		return c, err
	}
	var signed [][]byte
	if c.names, signed = selectFields(header); len(signed) == 0 {
		return c, ErrNoFrom
	}
	c.header = make([]byte, 0, 4<<10)
	for _, f := range signed {
		c.header = appendRelaxed(c.header, f)
		c.header = append(c.header, "\r\n"...)
	}
	return c, nil
}

// Domain is the one that the signer signs for.
func (s *Signer) Domain() string { return s.domain }

// Selector names the key under the domain.
func (s *Signer) Selector() string { return s.selector }

// Algorithm is the a= tag of the signer's signatures.
func (s *Signer) Algorithm() string { return s.algorithm }

// SignDigest returns a signature over a SHA-256 digest.
func (s *Signer) SignDigest(digest []byte) ([]byte, error) {
	signature, err := s.sign(digest)
	if err != nil {
		return nil, fmt.Errorf("sign for %s: %w", s.domain, err)
	}
	return signature, nil
}

// sign uses no chance: both algorithms give one signature for one digest, so a retry sends the same bytes.
func (s *Signer) sign(digest []byte) ([]byte, error) {
	if _, ok := s.key.(ed25519.PrivateKey); ok {
		return s.key.Sign(nil, digest, crypto.Hash(0)) // RFC 8463 §3 signs the digest as a message
	}
	return s.key.Sign(nil, digest, crypto.SHA256)
}

// field returns the header field up to and including "b=".
func (s *Signer) field(names []string, bodyHash []byte, at time.Time) []byte {
	f := make([]byte, 0, 1<<10)
	f = append(f, "DKIM-Signature: v=1; a="...)
	f = append(f, s.algorithm...)
	f = append(f, "; c=relaxed/relaxed;\r\n d="...)
	f = append(f, s.domain...)
	f = append(f, "; s="...)
	f = append(f, s.selector...)
	f = append(f, ";\r\n t="...)
	f = strconv.AppendInt(f, at.Unix(), 10)
	f = append(f, "; x="...)
	f = strconv.AppendInt(f, at.Add(validFor).Unix(), 10)
	f = append(f, ";\r\n h="...)
	used := len(" h=")
	for i, name := range names {
		if i > 0 {
			f = append(f, ':')
			used++
		}
		if used+len(name) > lineWidth {
			f = append(f, "\r\n "...)
			used = 1
		}
		f = append(f, name...)
		used += len(name)
	}
	f = append(f, ";\r\n bh="...)
	f = base64.StdEncoding.AppendEncode(f, bodyHash)
	return append(f, ";\r\n b="...)
}

// lineWidth keeps lines of the field, with their separator, within 78.
const lineWidth = 76

func appendFolded(f []byte, signature string) []byte {
	used := len(" b=")
	for signature != "" {
		n := min(lineWidth-used, len(signature))
		f = append(f, signature[:n]...)
		if signature = signature[n:]; signature != "" {
			f = append(f, "\r\n "...)
			used = 1
		}
	}
	return append(f, "\r\n"...)
}

const (
	keyTypeRSA     = "rsa"
	keyTypeEd25519 = "ed25519"
)

// keyType returns the name of a public key's kind in records and algorithms.
func keyType(pub crypto.PublicKey) string {
	switch pub.(type) {
	case *rsa.PublicKey:
		return keyTypeRSA
	case ed25519.PublicKey:
		return keyTypeEd25519
	}
	panic(fmt.Sprintf("dkim: key of type %T", pub))
}
