package dkim

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"postrider/world"
)

// maxRSABits bounds the work that somebody's key can make us do; nobody signs with more than 4096.
const maxRSABits = 8192

// Algorithms of signatures. SHA-1 is no longer one of them (RFC 8301 §3.1).
const (
	algorithmRSA     = keyTypeRSA + "-sha256"
	algorithmEd25519 = keyTypeEd25519 + "-sha256"
)

func checkAlgorithm(name string) error {
	switch name {
	case algorithmRSA, algorithmEd25519:
		return nil
	case "":
		return fmt.Errorf("%w: a", ErrSyntax)
	}
	return fmt.Errorf("%w: algorithm", ErrUnusable)
}

// LookupKey returns the record of a key. Its error is ErrUnusable if there is none, or ErrNoAnswer.
func LookupKey(ctx context.Context, names world.Resolver, domain, selector string) (Record, error) {
	texts, _, err := names.TXT(ctx, selector+"._domainkey."+domain)
	switch {
	case errors.Is(err, world.ErrNoName), errors.Is(err, world.ErrNoData):
		return Record{}, fmt.Errorf("%w: no key", ErrUnusable)
	case err != nil:
		return Record{}, fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	for _, text := range texts {
		if record, err := ParseRecord(text); err == nil {
			return record, nil // of several, which are against the rules, the first that is one (RFC 6376 §3.6.2.2)
		}
	}
	return Record{}, fmt.Errorf("%w: no key", ErrUnusable)
}

// Verify checks a signature over a SHA-256 digest. Its error is ErrMismatch, or ErrUnusable if the key cannot have made it.
func (r Record) Verify(algorithm string, digest, signature []byte) error {
	if err := checkAlgorithm(algorithm); err != nil {
		return err
	}
	switch {
	case len(r.Key) == 0:
		return fmt.Errorf("%w: key is revoked", ErrUnusable)
	case r.KeyType+"-sha256" != algorithm, !r.allowsSHA256():
		return fmt.Errorf("%w: key is for another algorithm", ErrUnusable)
	case len(r.Services) > 0 && !slices.Contains(r.Services, "*") && !slices.Contains(r.Services, "email"):
		return fmt.Errorf("%w: key is not for mail", ErrUnusable)
	}
	if algorithm == algorithmEd25519 {
		if len(r.Key) != ed25519.PublicKeySize {
			return fmt.Errorf("%w: key", ErrUnusable)
		}
		if !ed25519.Verify(r.Key, digest, signature) { // over the digest, not the text (RFC 8463 §3)
			return ErrMismatch
		}
		return nil
	}
	key, err := r.rsaKey()
	if err != nil {
		return err
	}
	if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest, signature) != nil {
		return ErrMismatch
	}
	return nil
}

// rsaKey takes the usual wrapping and the bare form, as verifiers do.
func (r Record) rsaKey() (*rsa.PublicKey, error) {
	parsed, err := x509.ParsePKIXPublicKey(r.Key)
	key, ok := parsed.(*rsa.PublicKey)
	if err != nil || !ok {
		if key, err = x509.ParsePKCS1PublicKey(r.Key); err != nil {
			return nil, fmt.Errorf("%w: key", ErrUnusable)
		}
	}
	if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
		return nil, fmt.Errorf("%w: key of %d bits", ErrUnusable, bits)
	}
	return key, nil
}
