package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"

	"postrider/platform/api"
	"postrider/world"
)

// The cost of a password hash (OWASP Password Storage Cheat Sheet, Argon2id).
const (
	hashMemoryKiB = 19 << 10
	hashPasses    = 2
	hashThreads   = 1
	hashBytes     = 32
	saltBytes     = 16
)

const (
	// minPasswordLength counts characters, not bytes.
	minPasswordLength = 10
	// maxPasswordBytes keeps somebody from making us hash megabytes; no passphrase is that long.
	maxPasswordBytes = 1024
	// parallelHashes bounds the memory that hashing takes at once: 19 MiB each.
	parallelHashes = 4
)

// passwords hashes and compares, a few at a time.
type passwords struct {
	world world.World
	slots *semaphore.Weighted
	decoy string // compared with when there is no account, so that it takes as long
}

func newPasswords(w world.World) *passwords {
	return &passwords{world: w, slots: semaphore.NewWeighted(parallelHashes), decoy: encodeHash(w.Bytes(saltBytes), w.Bytes(hashBytes))}
}

// hash returns the password in the PHC string form.
func (p *passwords) hash(ctx context.Context, password string) (string, error) {
	salt := p.world.Bytes(saltBytes)
	key, err := p.derive(ctx, password, salt, cost{hashMemoryKiB, hashPasses, hashThreads})
	if err != nil {
		return "", err
	}
	return encodeHash(salt, key), nil
}

// matches tells whether password is the one that encoded was made from. An empty encoded matches nothing, in the same time.
func (p *passwords) matches(ctx context.Context, encoded, password string) (bool, error) {
	known := encoded != ""
	if !known {
		encoded = p.decoy
	}
	c, salt, want, err := decodeHash(encoded)
	if err != nil {
		return false, err
	}
	if len(password) > maxPasswordBytes {
		password = password[:maxPasswordBytes] // nobody has such a password; the time to refuse it must not tell
		known = false
	}
	got, err := p.derive(ctx, password, salt, c)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && known, nil
}

type cost struct {
	memoryKiB, passes uint32
	threads           uint8
}

func (p *passwords) derive(ctx context.Context, password string, salt []byte, c cost) ([]byte, error) {
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer p.slots.Release(1)
	return argon2.IDKey([]byte(password), salt, c.passes, c.memoryKiB, c.threads, hashBytes), nil
}

func encodeHash(salt, key []byte) string {
	text := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemoryKiB, hashPasses, hashThreads,
		text.EncodeToString(salt), text.EncodeToString(key))
}

func decodeHash(encoded string) (c cost, salt, key []byte, err error) {
	var version int
	var tail string
	if _, err = fmt.Sscanf(encoded, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &c.memoryKiB, &c.passes, &c.threads, &tail); err != nil {
		return c, nil, nil, fmt.Errorf("stored password hash: %w", err)
	}
	saltText, keyText, _ := strings.Cut(tail, "$")
	if salt, err = base64.RawStdEncoding.DecodeString(saltText); err == nil {
		key, err = base64.RawStdEncoding.DecodeString(keyText)
	}
	if err != nil {
		return c, nil, nil, fmt.Errorf("stored password hash: %w", err)
	}
	if version != argon2.Version || len(key) != hashBytes {
		return c, nil, nil, fmt.Errorf("stored password hash is of version %d and has %d bytes", version, len(key))
	}
	return c, salt, key, nil
}

func checkPassword(wrong *api.Fields, field, password string) {
	switch {
	case !utf8.ValidString(password):
		wrong.Add(field, "Must be valid text.")
	case utf8.RuneCountInString(password) < minPasswordLength:
		wrong.Add(field, fmt.Sprintf("Must have at least %d characters.", minPasswordLength))
	case len(password) > maxPasswordBytes:
		wrong.Add(field, fmt.Sprintf("Must have at most %d bytes.", maxPasswordBytes))
	}
}
