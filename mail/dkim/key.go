package dkim

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
)

const (
	// rsaBits is the size every verifier takes and whose record still fits into one DNS answer without TCP.
	rsaBits = 2048
	// minRSABits is the least that verifiers accept (RFC 8301 §3.2).
	minRSABits = 1024
)

// ErrKey means a private key of a kind or size that DKIM does not use.
var ErrKey = errors.New("not a key for DKIM")

// GenerateRSA returns a new RSA key of 2048 bits. Since Go 1.26 crypto/rsa takes its chance from the system whatever random is,
// except under testing/cryptotest, so two calls with one source of randomness differ.
func GenerateRSA(random io.Reader) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(random, rsaBits)
	if err != nil {
		return nil, fmt.Errorf("generate RSA key: %w", err)
	}
	return key, nil
}

// GenerateEd25519 returns a new Ed25519 key made of 32 bytes of random, and of nothing else.
func GenerateEd25519(random io.Reader) (ed25519.PrivateKey, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("generate Ed25519 key: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// MarshalPrivate returns a key of this package as PKCS #8 in DER.
func MarshalPrivate(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("marshal DKIM key: %w", err)
	}
	return der, nil
}

// ParsePrivate reads a key that MarshalPrivate wrote. Its error never tells anything of the key.
func ParsePrivate(der []byte) (crypto.Signer, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, ErrKey
	}
	switch key := parsed.(type) {
	case *rsa.PrivateKey:
		if key.N.BitLen() < minRSABits {
			return nil, ErrKey
		}
		return key, nil
	case ed25519.PrivateKey:
		return key, nil
	}
	return nil, ErrKey
}
