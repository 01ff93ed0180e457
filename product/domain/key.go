package domain

import (
	"crypto"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"postrider/mail/dkim"
	"postrider/platform/db"
)

// Key is a signing key and the selector it is published under.
type Key struct {
	Selector     string
	Algorithm    Algorithm
	Role         Role
	RoleSince    time.Time
	PublicRecord string
	sealed       []byte
}

// Algorithm is how a key signs.
type Algorithm string

const (
	// RSA keys are what every receiver knows; a domain cannot do without.
	RSA Algorithm = "rsa"
	// Ed25519 keys are small and strong (RFC 8463); receivers that do not know them pass them over.
	Ed25519 Algorithm = "ed25519"
)

// Role is what a key is for at the moment.
type Role string

const (
	// Current keys sign, once their record is published.
	Current Role = "current"
	// Next is a key that takes over as soon as its record is published.
	Next Role = "next"
	// Old keys sign no more. Their records must stay for a while: mail they signed is still on its way.
	Old Role = "old"
)

// oldKeyFor is how long the record of a replaced key must stay published; our signatures last as long.
const oldKeyFor = 7 * 24 * time.Hour

func (s *Service) newSelector(prefix string) string {
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(s.world.Bytes(5)))
}

// newKey makes a key for the domain. An RSA key takes a good part of a second.
func (s *Service) newKey(id ID, algorithm Algorithm, selector string, role Role, now time.Time) (Key, error) {
	private, err := s.generate(algorithm)
	if err != nil {
		return Key{}, fmt.Errorf("make %s key: %w", algorithm, err)
	}
	raw, err := dkim.MarshalPrivate(private)
	if err != nil {
		return Key{}, fmt.Errorf("encode %s key: %w", algorithm, err)
	}
	return Key{Selector: selector, Algorithm: algorithm, Role: role, RoleSince: now, PublicRecord: dkim.PublicRecord(private.Public()),
		sealed: s.keyring.Seal(raw, keyContext(id, selector))}, nil
}

func (s *Service) generate(algorithm Algorithm) (crypto.Signer, error) {
	if algorithm == Ed25519 {
		return dkim.GenerateEd25519(s.world.Random)
	}
	return dkim.GenerateRSA(s.world.Random)
}

func keyContext(id ID, selector string) string { return string(id) + "/" + selector }

// open returns the private key.
func (s *Service) open(id ID, k Key) (crypto.Signer, error) {
	raw, err := s.keyring.Open(k.sealed, keyContext(id, k.Selector))
	if err != nil {
		return nil, fmt.Errorf("open signing key %s of domain %s: %w", k.Selector, id, err)
	}
	return dkim.ParsePrivate(raw)
}

// key returns the key of a role and algorithm; ok is false if there is none.
func (d Domain) key(role Role, algorithm Algorithm) (Key, bool) {
	at := slices.IndexFunc(d.Keys, func(k Key) bool { return k.Role == role && k.Algorithm == algorithm })
	if at < 0 {
		return Key{}, false
	}
	return d.Keys[at], true
}

// selector is the one shown for the domain: of its current RSA key.
func (d Domain) selector() string {
	k, _ := d.key(Current, RSA)
	return k.Selector
}

// loadKeys fills in the keys of domains.
func loadKeys(tx *db.Tx, domains ...*Domain) error {
	ids := make([]ID, len(domains))
	byID := map[ID]*Domain{}
	for i, d := range domains {
		ids[i], byID[d.ID] = d.ID, d
		d.Keys = nil
	}
	rows, err := selectKeys(tx, ids)
	for _, row := range rows {
		byID[row.domain].Keys = append(byID[row.domain].Keys, row.key)
	}
	return err
}

func loadAllKeys(tx *db.Tx, domains []Domain) error {
	pointers := make([]*Domain, len(domains))
	for i := range domains {
		pointers[i] = &domains[i]
	}
	return loadKeys(tx, pointers...)
}
