package dkim

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// maxRecordBytes bounds a record; one with an RSA key of 4096 bits has under 800.
const maxRecordBytes = 4 << 10

// ErrRecord means that a text is not a DKIM key record.
var ErrRecord = errors.New("not a DKIM key record")

// Record is a public key as published in DNS (RFC 6376 §3.6.1).
type Record struct {
	// KeyType is "rsa", "ed25519" or something unknown.
	KeyType string
	// Key is the decoded p= tag; nil means the key is revoked.
	Key []byte
	// Testing is set by the flag t=y: verifiers may ignore failures.
	Testing bool
	// Strict is set by the flag t=s: the key is for the domain itself and none below it.
	Strict bool
	// Services are the kinds of mail of the s= tag; empty allows all.
	Services []string
	// Hashes are the algorithms of the h= tag; empty allows all.
	Hashes []string
}

// PublicRecord returns the text to publish for a public key of this package.
func PublicRecord(pub crypto.PublicKey) string {
	return "v=DKIM1; k=" + keyType(pub) + "; p=" + base64.StdEncoding.EncodeToString(publicBytes(pub))
}

// publicBytes returns what p= holds: RSA keys in their usual wrapping, Ed25519 keys bare (RFC 8463 §4).
func publicBytes(pub crypto.PublicKey) []byte {
	if key, ok := pub.(ed25519.PublicKey); ok {
		return key
	}
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		panic(fmt.Sprintf("dkim: marshal public key: %v", err))
	}
	return der
}

// ParseRecord reads a record as people paste it: blanks anywhere, also within the key, tags in any order, a missing version,
// unknown tags, a final semicolon.
func ParseRecord(txt string) (Record, error) {
	if len(txt) > maxRecordBytes {
		return Record{}, ErrRecord
	}
	r := Record{KeyType: "rsa"}
	published := false
	for i, tag := range strings.Split(txt, ";") {
		name, value, found := strings.Cut(tag, "=")
		if !found {
			if strings.TrimSpace(tag) == "" {
				continue
			}
			return Record{}, ErrRecord
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(name) {
		case "v":
			if value != "DKIM1" || i != 0 { // the version is first or absent (RFC 6376 §3.6.1)
				return Record{}, ErrRecord
			}
		case "k":
			r.KeyType = strings.ToLower(value)
		case "h":
			r.Hashes = splitList(value)
		case "t":
			for _, flag := range splitList(value) {
				r.Testing = r.Testing || flag == "y"
				r.Strict = r.Strict || flag == "s"
			}
		case "s":
			r.Services = splitList(value)
		case "p":
			key, err := decodeKey(value)
			if err != nil || published {
				return Record{}, ErrRecord
			}
			r.Key, published = key, true
		}
	}
	if !published {
		return Record{}, ErrRecord
	}
	return r, nil
}

// Matches tells whether the record publishes the given key and allows signatures made with it.
func (r Record) Matches(pub crypto.PublicKey) bool {
	if len(r.Key) == 0 || r.KeyType != keyType(pub) || !r.allowsSHA256() {
		return false
	}
	if bytes.Equal(r.Key, publicBytes(pub)) {
		return true
	}
	// Some tools publish RSA keys without their wrapping, and verifiers take both.
	key, ok := pub.(*rsa.PublicKey)
	return ok && bytes.Equal(r.Key, x509.MarshalPKCS1PublicKey(key))
}

// Publishes tells whether the record is as good as the wanted one: the same key, usable for our signatures.
func (r Record) Publishes(wanted Record) bool {
	if wanted.KeyType == keyTypeEd25519 {
		return len(wanted.Key) == ed25519.PublicKeySize && r.Matches(ed25519.PublicKey(wanted.Key))
	}
	key, err := x509.ParsePKIXPublicKey(wanted.Key)
	if err != nil {
		return false
	}
	rsaKey, ok := key.(*rsa.PublicKey)
	return ok && r.Matches(rsaKey)
}

func (r Record) allowsSHA256() bool {
	for _, hash := range r.Hashes {
		if hash == "sha256" {
			return true
		}
	}
	return len(r.Hashes) == 0
}

func splitList(value string) []string {
	var list []string
	for item := range strings.SplitSeq(value, ":") {
		if item = strings.ToLower(strings.TrimSpace(item)); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// decodeKey reads base64 with blanks in it, and with or without its padding.
func decodeKey(value string) ([]byte, error) {
	compact := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, value)
	if compact == "" {
		return nil, nil
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(compact, "="))
}
