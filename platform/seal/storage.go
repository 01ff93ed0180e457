package seal

import (
	"bytes"
	"crypto/rand"
)

const (
	// format is the first byte of everything encrypted, should there ever be a second way.
	format = 1
	// headLength is format, fingerprint of the master secret and nonce.
	headLength = 1 + fingerprintLength + nonceLength
)

// Overhead is how many bytes sealed data is longer than the data.
const Overhead = headLength + tagLength

// Seal encrypts plaintext for storage. The context, usually the id of the row, is not stored but bound in: sealed bytes
// that were moved to another row do not open there.
func (k *Keyring) Seal(plaintext []byte, context string) []byte {
	return encrypt(k.current, useStorage, plaintext, context)
}

// Open returns what was sealed in the same context, or ErrInvalid.
func (k *Keyring) Open(sealed []byte, context string) ([]byte, error) {
	return k.decrypt(useStorage, sealed, context)
}

// Stale reports whether sealed was made with a master secret that is no longer the current one, and so should be sealed
// again before that secret is dropped.
func (k *Keyring) Stale(sealed []byte) bool {
	return len(sealed) < headLength || !bytes.Equal(sealed[1:1+fingerprintLength], k.current.fingerprint[:])
}

// encrypt takes its nonce from the operating system, never from a seedable source: a nonce that repeats gives the key away.
func encrypt(m master, use string, plaintext []byte, context string) []byte {
	out := make([]byte, headLength, Overhead+len(plaintext))
	out[0] = format
	copy(out[1:], m.fingerprint[:])
	nonce := out[1+fingerprintLength : headLength]
	rand.Read(nonce) // never fails (crypto/rand)
	aead, inner := newAEAD(m.derive(use), nonce)
	return aead.Seal(out, inner, plaintext, []byte(context))
}

func (k *Keyring) decrypt(use string, sealed []byte, context string) ([]byte, error) {
	if len(sealed) < Overhead || sealed[0] != format {
		return nil, ErrInvalid
	}
	fingerprint, nonce := sealed[1:1+fingerprintLength], sealed[1+fingerprintLength:headLength]
	var plaintext []byte
	found := k.masters(func(m master) bool {
		if !bytes.Equal(fingerprint, m.fingerprint[:]) {
			return false
		}
		aead, inner := newAEAD(m.derive(use), nonce)
		opened, err := aead.Open(nil, inner, sealed[headLength:], []byte(context))
		plaintext = opened
		return err == nil
	})
	if !found {
		return nil, ErrInvalid
	}
	return plaintext, nil
}
