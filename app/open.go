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
	"postrider/platform/event"
	"postrider/platform/move"
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
	d, err := db.Open(ctx, w, db.Config{URL: s.database()})
	if err != nil {
		return Stores{}, err
	}
	if err := prepare(ctx, w, d); err != nil {
		d.Close()
		return Stores{}, err
	}
	return Stores{DB: d, Blobs: blobs, Keys: seal.NewKeyring(secret)}, nil
}

var errHalfMoved = errors.New("data is being moved into this database and has not all come; run the same \"postrider migrate --from … --to …\" again")

// prepare brings the schema up to date, and the record of events if it comes from another server.
func prepare(ctx context.Context, w world.World, d *db.DB) error {
	if err := d.Migrate(ctx); err != nil {
		return fmt.Errorf("bring the schema up to date: %w", err)
	}
	half, err := move.Unfinished(ctx, d)
	if err != nil {
		return err
	}
	if half {
		return errHalfMoved
	}
	moved, err := event.Rebase(ctx, d)
	if moved {
		w.Log.Warn("this database comes from another server; the order of events was carried over")
	}
	if err != nil {
		return fmt.Errorf("carry the order of events over: %w", err)
	}
	return nil
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
