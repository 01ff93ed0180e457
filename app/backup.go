package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/move"
	"postrider/world"
)

// Names of what a backup holds.
const (
	backupDatabase = "postrider.db"
	// DumpFile is the dump of PostgreSQL in a backup, in pg_dump's custom format.
	DumpFile     = "postrider.dump"
	backupBlobs  = "blobs"
	manifestFile = "backup.json"
)

// Manifest says what a backup holds; it is written last, so that one without it is not whole.
type Manifest struct {
	MadeAt time.Time `json:"made_at"`
	// Engine is sqlite or postgres.
	Engine string `json:"engine"`
	// SHA256 is that of the database file.
	SHA256 string `json:"sha256,omitempty"`
	// Rows counts those of each table of the embedded database.
	Rows map[string]int64 `json:"rows,omitempty"`
	// Blobs counts those in the backup. Bucket tells that they are kept in a bucket and are not part of it.
	Blobs  int64 `json:"blobs"`
	Bytes  int64 `json:"bytes"`
	Bucket bool  `json:"bucket,omitempty"`
	Secret bool  `json:"secret"`
}

// Backup copies everything that must not be lost into a directory, which it makes: database, blobs, secret and the name of the node.
// Servers go on. Blobs are copied before and after the database: what the database refers to was there before its copy was made, and
// may be gone, or what is new may have come, while it was. dump writes PostgreSQL's; it is not called for the embedded database.
func Backup(ctx context.Context, w world.World, s Storage, dir string, dump func(file string) error, tell move.Tell) (Manifest, error) {
	m := Manifest{MadeAt: w.Clock.Now().UTC().Truncate(time.Second), Engine: "sqlite", Bucket: s.BlobURL != ""}
	if err := s.CheckPresent(); err != nil {
		return m, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return m, fmt.Errorf("a backup makes its directory itself: %w", err)
	}
	target, err := blob.NewFiles(filepath.Join(dir, backupBlobs), w.Clock, w.Random)
	if err != nil {
		return m, err
	}
	copyBlobs := func() error {
		if m.Bucket {
			return nil
		}
		source, err := s.blobs(w)
		if err != nil {
			return err
		}
		m.Blobs, m.Bytes, err = move.CopyBlobs(ctx, source, target, tell)
		return err
	}
	if err := copyBlobs(); err != nil {
		return m, fmt.Errorf("copy blobs: %w", err)
	}
	if s.DatabaseURL != "" {
		m.Engine = "postgres"
		err = dump(filepath.Join(dir, DumpFile))
	} else {
		err = m.copyDatabase(ctx, w, s, filepath.Join(dir, backupDatabase))
	}
	if err != nil {
		return m, fmt.Errorf("copy the database: %w", err)
	}
	if err := copyBlobs(); err != nil {
		return m, fmt.Errorf("copy blobs: %w", err)
	}
	if err := carryFiles(s.Dir, dir); err != nil {
		return m, err
	}
	if _, err := os.Stat(filepath.Join(dir, "secret")); err == nil {
		m.Secret = true
	}
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, errors.Join(createFile(filepath.Join(dir, manifestFile), append(raw, '\n')), syncPath(dir))
}

// copyDatabase copies the embedded database as it is at one moment, and counts what is in the copy.
func (m *Manifest) copyDatabase(ctx context.Context, w world.World, s Storage, path string) error {
	if err := BackupDatabase(ctx, w, s, path); err != nil {
		return err
	}
	var err error
	if m.Rows, err = countRows(ctx, w, path); err != nil {
		return err
	}
	if err := syncPath(path); err != nil {
		return err
	}
	m.SHA256, err = hashFile(path)
	return err
}

// BackupDatabase copies the embedded database alone, as it is: whoever puts the file in place by hand has it work at once, as with any
// snapshot. A copy that Restore puts back says that it is one.
func BackupDatabase(ctx context.Context, w world.World, s Storage, path string) error {
	source, err := db.Open(ctx, w, db.Config{URL: s.database()})
	if err != nil {
		return err
	}
	defer source.Close()
	return source.Backup(ctx, path)
}

func countRows(ctx context.Context, w world.World, path string) (map[string]int64, error) {
	d, err := db.Open(ctx, w, db.Config{URL: path})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	rows := map[string]int64{}
	err = d.Read(ctx, func(tx *db.Tx) error {
		tables, err := tx.Tables()
		if err != nil {
			return err
		}
		for _, t := range tables {
			if rows[t.Name], err = db.One(tx, db.Value[int64], `SELECT COUNT(*) FROM `+t.Name); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

func hashFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// syncPath makes a file, or the names in a directory, survive a power cut.
func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// ReadManifest tells what a backup holds.
func ReadManifest(dir string) (Manifest, error) {
	var m Manifest
	raw, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s holds no whole backup: %s is missing", dir, manifestFile)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%s: %w", manifestFile, err)
	}
	return m, nil
}
