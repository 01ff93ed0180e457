// Package seal keeps secrets: it encrypts what is stored, signs what leaves the house and comes back, and guards the master
// secret that both rest on.
//
// One master secret is enough for an installation. Every use has a key of its own, derived from the master secret and the
// name of the use, so that what is made for one purpose never opens another. A keyring also knows the secrets that were
// current before; it opens and verifies with all of them and makes new things only with the current one.
package seal

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// What can be wrong with sealed bytes or a token.
var (
	// ErrInvalid means the bytes were not made by this keyring for this use, or were changed since. It tells no more on
	// purpose: whoever forges learns nothing from the answer.
	ErrInvalid = errors.New("not sealed by us or changed since")
	// ErrExpired means a token is genuine but its time is over.
	ErrExpired = errors.New("token expired")
)

const (
	// keyLength is that of AES-256 and of HMAC-SHA256.
	keyLength = 32
	// fingerprintLength tells apart the few secrets an installation ever has; a clash only costs a second try.
	fingerprintLength = 4
)

// Names of what is derived from a master secret. A changed name orphans everything made before.
const (
	useFingerprint = "postrider/seal/1/fingerprint"
	useStorage     = "postrider/seal/1/storage"
	useToken       = "postrider/seal/1/token/"
	useMAC         = "postrider/seal/1/mac/"
)

// Keyring seals, signs and opens. It is safe for concurrent use.
type Keyring struct {
	current  master
	previous []master
}

// master is one master secret, reduced to what keys are derived from (the pseudo-random key of RFC 5869 §2.2).
type master struct {
	extracted   []byte
	fingerprint [fingerprintLength]byte
}

// NewKeyring returns a keyring that makes new things with current and still opens what the previous secrets made.
// A secret of less than 32 bytes is a mistake of the program and panics; FromString and LoadOrCreate return none.
func NewKeyring(current []byte, previous ...[]byte) *Keyring {
	k := &Keyring{current: newMaster(current)}
	for _, secret := range previous {
		k.previous = append(k.previous, newMaster(secret))
	}
	return k
}

func newMaster(secret []byte) master {
	if len(secret) < minSecretLength {
		panic(fmt.Sprintf("seal: master secret of %d bytes, need %d", len(secret), minSecretLength))
	}
	extracted, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		panic(fmt.Sprintf("seal: extract master key: %v", err))
	}
	m := master{extracted: extracted}
	copy(m.fingerprint[:], m.derive(useFingerprint))
	return m
}

// derive returns the key of one use.
func (m master) derive(use string) []byte {
	key, err := hkdf.Expand(sha256.New, m.extracted, use, keyLength)
	if err != nil {
		panic(fmt.Sprintf("seal: derive key: %v", err)) // only lengths beyond 8160 bytes fail
	}
	return key
}

// Rotating tells that there are previous secrets.
func (k *Keyring) Rotating() bool { return len(k.previous) > 0 }

// masters calls try with each master secret, the current one first, until one succeeds.
func (k *Keyring) masters(try func(master) bool) bool {
	if try(k.current) {
		return true
	}
	for _, m := range k.previous {
		if try(m) {
			return true
		}
	}
	return false
}
