package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"postrider/platform/blob"
	"postrider/platform/certstore"
	"postrider/platform/custody"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/move"
	"postrider/platform/reseal"
	"postrider/platform/seal"
	"postrider/product/account"
	"postrider/product/automation"
	"postrider/product/dnsprovider"
	"postrider/product/domain"
	"postrider/product/relay"
	"postrider/product/webhook"
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
	// PreviousSecrets open what was sealed before the secret was changed.
	PreviousSecrets []string
}

// database returns the address of the database.
func (s Storage) database() string {
	if s.DatabaseURL != "" {
		return s.DatabaseURL
	}
	return filepath.Join(s.Dir, "postrider.db")
}

// blobPlace returns where blobs are kept.
func (s Storage) blobPlace() string {
	if s.BlobURL != "" {
		return s.BlobURL
	}
	return filepath.Join(s.Dir, "blobs")
}

// Stores are the opened storage.
type Stores struct {
	DB    *db.DB
	Blobs blob.Store
	Keys  *seal.Keyring
}

// Misconfigured is an error that trying again does not mend: somebody must write something else.
type Misconfigured struct{ error }

// Unwrap returns what is wrong.
func (m Misconfigured) Unwrap() error { return m.error }

var (
	errWhichDatabase = Misconfigured{errors.New("--database-url must begin with postgres:// or postgresql://; without it the embedded database in --data is used")}
	errWhichDir      = Misconfigured{errors.New("--data must name a directory; without it ./postrider-data is used")}
	errWhichBlobs    = Misconfigured{errors.New("--blob-url must begin with s3://; without it files in --data are used")}
)

// check refuses addresses of places that there are not: a database or a bucket with a mistake in its name must not become files here.
func (s Storage) check() error {
	switch {
	case s.Dir == "":
		return errWhichDir
	case s.DatabaseURL != "" && !strings.HasPrefix(s.DatabaseURL, "postgres://") && !strings.HasPrefix(s.DatabaseURL, "postgresql://"):
		return errWhichDatabase
	case s.BlobURL != "" && !strings.HasPrefix(s.BlobURL, "s3://"):
		return errWhichBlobs
	}
	return nil
}

// CheckPresent refuses a directory without a database, where one would be made; for those who want to see what is there.
func (s Storage) CheckPresent() error {
	if err := s.check(); err != nil || s.DatabaseURL != "" {
		return err
	}
	if _, err := os.Stat(s.database()); err != nil {
		return fmt.Errorf("there is no database in %s; name the directory of the server with --data, or its file with --config", s.Dir)
	}
	return nil
}

// Open opens the storage and brings the schema up to date.
func (s Storage) Open(ctx context.Context, w world.World) (Stores, error) {
	if err := s.check(); err != nil {
		return Stores{}, err
	}
	if err := s.makeDir(); err != nil {
		return Stores{}, err
	}
	secret, err := s.secret(w)
	if err != nil {
		return Stores{}, err
	}
	previous, err := s.previousSecrets()
	if err != nil {
		return Stores{}, err
	}
	blobs, err := s.blobs(w)
	if err != nil {
		return Stores{}, fmt.Errorf("blob store: %w", err)
	}
	d, err := db.Open(ctx, w, db.Config{URL: s.database()})
	if err != nil && s.DatabaseURL != "" {
		err = fmt.Errorf("%w; look whether PostgreSQL runs, and whether --database-url names it", err)
	}
	if err != nil {
		return Stores{}, err
	}
	keys := seal.NewKeyring(secret, previous...)
	if err = prepare(ctx, w, d); err == nil {
		err = ownSecret(reseal.Check(ctx, d, keys, sealed()))
	}
	if err != nil {
		d.Close()
		return Stores{}, err
	}
	return Stores{DB: d, Blobs: blobs, Keys: keys}, nil
}

func (s Storage) makeDir() error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return unusableDir(err)
	}
	return nil
}

// unusableDir says what to do about a data directory that cannot be made or written.
func unusableDir(err error) error {
	told := fmt.Errorf("data directory: %w; name one with --data that the user who runs this can make and write", err)
	for _, mistake := range []error{fs.ErrPermission, fs.ErrNotExist, syscall.ENOTDIR, syscall.EROFS} {
		if errors.Is(err, mistake) {
			return Misconfigured{told}
		}
	}
	return told
}

// sealed is everything that is stored sealed.
func sealed() []reseal.Column {
	return slices.Concat(reseal.Sealed(), account.Sealed(), relay.Sealed(), dnsprovider.Sealed(), domain.Sealed(), webhook.Sealed(),
		automation.Sealed(), certstore.Sealed())
}

// ownSecret says what to do about a secret of somebody else, with which no mail could be signed.
func ownSecret(err error) error {
	if errors.Is(err, reseal.ErrOtherSecret) {
		return Misconfigured{fmt.Errorf("%w: set POSTRIDER_SECRET (or the file secret in --data) to what it was; "+
			"to change it, name that one in POSTRIDER_PREVIOUS_SECRETS", err)}
	}
	return err
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
	aside, err := custody.Aside(ctx, d)
	if err != nil {
		return err
	}
	if aside == custody.Moving || aside == custody.Moved {
		return errMovedAway
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

var (
	errSecretNeeded = Misconfigured{errors.New("a shared database needs a shared secret: " +
		"set POSTRIDER_SECRET to the same 32 or more characters on every node")}
	errSecretLost = Misconfigured{errors.New("the file is missing, and with another secret nobody can open the keys in the database beside it; " +
		"put it back from a backup, or set POSTRIDER_SECRET to what it was")}
)

func (s Storage) secret(w world.World) ([]byte, error) {
	switch {
	case s.Secret != "":
		secret, err := seal.FromString(s.Secret)
		if err != nil {
			return nil, Misconfigured{fmt.Errorf("POSTRIDER_SECRET, or --secret: %w", err)}
		}
		return secret, nil
	case s.DatabaseURL != "":
		return nil, errSecretNeeded
	}
	path := filepath.Join(s.Dir, "secret")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && s.CheckPresent() == nil {
		return nil, fmt.Errorf("%s: %w", path, errSecretLost)
	}
	return seal.LoadOrCreate(path, w.Random)
}

func (s Storage) previousSecrets() ([][]byte, error) {
	previous := make([][]byte, len(s.PreviousSecrets))
	for i, text := range s.PreviousSecrets {
		var err error
		if previous[i], err = seal.FromString(text); err != nil {
			return nil, Misconfigured{fmt.Errorf("POSTRIDER_PREVIOUS_SECRETS, or --previous-secrets: %w", err)}
		}
	}
	return previous, nil
}

// TryBucket tells whether the bucket can be used.
func (s Storage) TryBucket(ctx context.Context, w world.World) error {
	blobs, err := s.blobs(w)
	if err != nil {
		return err
	}
	return blob.Try(ctx, blobs, w.Random)
}

func (s Storage) blobs(w world.World) (blob.Store, error) {
	if s.BlobURL != "" {
		config, err := blob.ParseS3URL(s.BlobURL)
		if err != nil {
			return nil, Misconfigured{err}
		}
		return blob.NewS3(config, w.Dialer, s.Dir) // the machine's own may be in memory
	}
	return blob.NewFiles(filepath.Join(s.Dir, "blobs"), w.Clock, w.Random)
}
