// Package certstore keeps TLS certificates, their keys and the accounts they were got with in the database, so that every node of an
// installation uses the same ones and only one of them asks for a new one.
//
// It is a storage of the certmagic library. What it keeps is sealed: a copy of the database opens no connection.
//
//	Owns     certificate_file, certificate_lock
package certstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/certmagic"

	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/world"
)

// Store is the shared storage. It is safe for concurrent use.
type Store struct {
	world world.World
	db    *db.DB
	keys  *seal.Keyring

	mu   sync.Mutex
	held map[string]lease // guarded by mu; the locks this process holds, by name
}

var _ certmagic.Storage = (*Store)(nil)

// New returns a storage on an open database.
func New(w world.World, d *db.DB, keys *seal.Keyring) *Store {
	return &Store{world: w, db: d, keys: keys, held: map[string]lease{}}
}

// maxFile is more than any certificate, key or account has.
const maxFile = 1 << 20

var errTooLarge = errors.New("larger than a certificate can be")

// Store puts a value at a path, in place of what was there.
func (s *Store) Store(ctx context.Context, path string, value []byte) error {
	if len(value) > maxFile {
		return fmt.Errorf("keep %s: %w", path, errTooLarge)
	}
	sealed := s.keys.Seal(value, sealedAs(path))
	return s.db.Write(ctx, func(tx *db.Tx) error { return saveFile(tx, path, sealed, int64(len(value))) })
}

// Load returns the value at a path, or fs.ErrNotExist.
func (s *Store) Load(ctx context.Context, path string) ([]byte, error) {
	var sealed []byte
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		sealed, err = selectContent(tx, path)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	value, err := s.keys.Open(sealed, sealedAs(path))
	if err != nil {
		return nil, fmt.Errorf("open %s (was POSTRIDER_SECRET changed?): %w", path, err)
	}
	return value, nil
}

// sealedAs binds a value to its place, so that one cannot be moved to another.
func sealedAs(path string) string { return "certificate file " + path }

// Delete removes what is at a path and below it.
func (s *Store) Delete(ctx context.Context, path string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error { return deleteTree(tx, path) })
}

// Exists tells whether there is something at a path or below it. A database that does not answer has nothing.
func (s *Store) Exists(ctx context.Context, path string) bool {
	_, err := s.Stat(ctx, path)
	return err == nil
}

// List returns what is below a path: everything, or only its own children.
func (s *Store) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	var files []file
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		files, err = selectBelow(tx, path)
		return err
	})
	if err != nil {
		return nil, err
	}
	var found []string
	for _, f := range files {
		name := f.path
		if !recursive {
			child, _, _ := strings.Cut(strings.TrimPrefix(f.path, below(path)), "/")
			name = below(path) + child
		}
		found = append(found, name)
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 0 {
		return nil, fs.ErrNotExist
	}
	return found, nil
}

// Stat tells what is at a path, or fs.ErrNotExist.
func (s *Store) Stat(ctx context.Context, path string) (certmagic.KeyInfo, error) {
	var files []file
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if files, err = selectFile(tx, path); err == nil && len(files) == 0 {
			files, err = selectBelow(tx, path)
		}
		return err
	})
	switch {
	case err != nil:
		return certmagic.KeyInfo{}, err
	case len(files) == 0:
		return certmagic.KeyInfo{}, fs.ErrNotExist
	case files[0].path != path:
		return certmagic.KeyInfo{Key: path}, nil
	}
	return certmagic.KeyInfo{Key: path, Modified: files[0].modified, Size: files[0].size, IsTerminal: true}, nil
}

// below is how the names of everything below a path begin.
func below(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, "/") + "/"
}
