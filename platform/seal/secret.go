package seal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// minSecretLength is the least a master secret may have: 32 characters, the length of the keys derived from it.
	minSecretLength = 32
	// maxSecretLength keeps a wrong path, say of a database, from being read as a secret.
	maxSecretLength = 4096
	// newSecretBytes is how much chance a made secret has; its text is twice as long.
	newSecretBytes = 32
)

// ErrSecretLength means a text is too short or too long to be a master secret.
var ErrSecretLength = fmt.Errorf("master secret must have %d to %d characters", minSecretLength, maxSecretLength)

// FromString returns the master secret that an operator wrote, without the white space around it.
func FromString(s string) ([]byte, error) {
	s = strings.TrimSpace(s)
	if len(s) < minSecretLength || len(s) > maxSecretLength {
		return nil, ErrSecretLength
	}
	return []byte(s), nil
}

// LoadOrCreate returns the master secret in the file at path, or makes one there that only the owner can read. The file's
// text is what FromString takes, so the secret can move to a configuration. Processes that start at once on one path get
// one secret. A file that holds no secret is an error and stays as it is: a new secret would orphan everything sealed.
func LoadOrCreate(path string, random io.Reader) ([]byte, error) {
	secret, err := load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := create(path, random); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create master secret %s: %w", path, err)
	}
	return load(path)
}

func load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read master secret: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecretLength+2)) // room for a line end
	if err != nil {
		return nil, fmt.Errorf("read master secret: %w", err)
	}
	secret, err := FromString(string(text))
	if err != nil {
		return nil, fmt.Errorf("read master secret %s: %w", path, err)
	}
	return secret, nil
}

// create writes a whole file beside path and links it there: a link, unlike a rename, never replaces the secret that
// another process made in the meantime.
func create(path string, random io.Reader) error {
	secret := make([]byte, newSecretBytes)
	if _, err := io.ReadFull(random, secret); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".secret-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintln(f, hex.EncodeToString(secret))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
