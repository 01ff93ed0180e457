package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/world"
)

// Storage says where an installation keeps what it must not lose.
type Storage struct {
	// Dir holds the embedded database, the blobs and the secret, as far as the other fields do not name another place.
	Dir string
	// DatabaseURL is postgres://… ; empty means the embedded database in Dir.
	DatabaseURL string
	// BlobURL is s3://… ; empty means files in Dir.
	BlobURL string
	// Secret seals keys at rest. Nodes that share a database must share it. Empty means a secret in Dir, made when missing.
	Secret string
}

// Stores are the opened storage.
type Stores struct {
	DB    *db.DB
	Blobs blob.Store
	Keys  *seal.Keyring
}

// Open opens the storage and brings the schema up to date.
func (s Storage) Open(ctx context.Context, w world.World) (Stores, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return Stores{}, fmt.Errorf("data directory: %w", err)
	}
	secret, err := s.secret(w)
	if err != nil {
		return Stores{}, err
	}
	blobs, err := s.blobs(w)
	if err != nil {
		return Stores{}, fmt.Errorf("blob store: %w", err)
	}
	url := s.DatabaseURL
	if url == "" {
		url = filepath.Join(s.Dir, "postrider.db")
	}
	d, err := db.Open(ctx, w, db.Config{URL: url})
	if err != nil {
		return Stores{}, err
	}
	if err := d.Migrate(ctx); err != nil {
		d.Close()
		return Stores{}, fmt.Errorf("bring the schema up to date: %w", err)
	}
	return Stores{DB: d, Blobs: blobs, Keys: seal.NewKeyring(secret)}, nil
}

var errSecretNeeded = errors.New("a shared database needs a shared secret: set POSTRIDER_SECRET to the same 32 or more characters on every node")

func (s Storage) secret(w world.World) ([]byte, error) {
	switch {
	case s.Secret != "":
		return seal.FromString(s.Secret)
	case s.DatabaseURL != "":
		return nil, errSecretNeeded
	}
	return seal.LoadOrCreate(filepath.Join(s.Dir, "secret"), w.Random)
}

func (s Storage) blobs(w world.World) (blob.Store, error) {
	if strings.HasPrefix(s.BlobURL, "s3://") {
		config, err := blob.ParseS3URL(s.BlobURL)
		if err != nil {
			return nil, err
		}
		return blob.NewS3(config, w.Dialer)
	}
	return blob.NewFiles(filepath.Join(s.Dir, "blobs"), w.Clock, w.Random)
}
