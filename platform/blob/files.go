package blob

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"postrider/world"
)

const (
	// fanOut is how many characters of a name choose its directory: 256 directories stay quick to list at millions of blobs.
	fanOut = 2
	// temporaryDir holds content that is still being written.
	temporaryDir = "incoming"
	// temporaryLife is how long a write can be under way; what is older was left behind by a crash.
	temporaryLife = 24 * time.Hour
)

// Files keeps blobs as files of one directory. Only one process may sweep a directory, the one that puts.
type Files struct {
	dir    string
	clock  world.Clock
	random io.Reader

	// replace lets a put make a blob young again while nobody decides on its age, and the other way round.
	replace sync.Mutex
}

// NewFiles returns a store in dir, which it makes if it is missing. The clock dates the files, so that their age is true
// in a world whose clock is not the machine's; random names files that are being written.
func NewFiles(dir string, clock world.Clock, random io.Reader) (*Files, error) {
	f := &Files{dir: dir, clock: clock, random: random}
	if err := os.MkdirAll(filepath.Join(dir, temporaryDir), 0o700); err != nil {
		return nil, fmt.Errorf("make blob directory: %w", err)
	}
	if err := f.removeLeftovers(); err != nil {
		return nil, fmt.Errorf("clean blob directory: %w", err)
	}
	return f, nil
}

// Put writes the content beside, makes it durable and moves it to its name.
func (f *Files) Put(ctx context.Context, r io.Reader, maxBytes int64) (Info, error) {
	temp, err := f.createTemporary()
	if err != nil {
		return Info{}, fmt.Errorf("put blob: %w", err)
	}
	defer os.Remove(temp.Name()) // nothing is left there once it was moved
	defer temp.Close()
	info, err := copyHashed(ctx, temp, r, maxBytes)
	if err != nil {
		return Info{}, fmt.Errorf("put blob: %w", err)
	}
	if err := f.keep(temp, info); err != nil {
		return Info{}, fmt.Errorf("put blob %s: %w", info.Ref, err)
	}
	return info, nil
}

// Open returns the file of a blob.
func (f *Files) Open(_ context.Context, ref Ref) (io.ReadCloser, error) {
	path, err := f.path(ref)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open blob: %w", err)
	}
	return newCheckedReader(file, ref), nil
}

// Delete removes the file of a blob.
func (f *Files) Delete(_ context.Context, ref Ref) error {
	path, err := f.path(ref)
	if err != nil {
		return nil // what can name no blob is not there
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete blob: %w", err)
	}
	return nil
}

// DeleteUntouched removes the file of a blob if its date is old enough.
func (f *Files) DeleteUntouched(ctx context.Context, ref Ref, since time.Time) (bool, error) {
	path, err := f.path(ref)
	if err != nil {
		return false, nil
	}
	f.replace.Lock()
	defer f.replace.Unlock()
	stat, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("delete blob: %w", err)
	}
	if !stat.ModTime().Before(since) {
		return false, nil
	}
	return true, f.Delete(ctx, ref)
}

// List reads one directory after the other.
func (f *Files) List(ctx context.Context, before time.Time, visit func(Info, time.Time) error) error {
	dirs, err := os.ReadDir(f.dir)
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	for _, dir := range dirs {
		if len(dir.Name()) != fanOut {
			continue
		}
		files, err := os.ReadDir(filepath.Join(f.dir, dir.Name()))
		if err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		for _, file := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := visitFile(file, before, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func visitFile(file fs.DirEntry, before time.Time, visit func(Info, time.Time) error) error {
	ref, err := ParseRef(file.Name())
	if err != nil {
		return nil // not ours
	}
	stat, err := file.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted since the directory was read
	}
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	if !stat.ModTime().Before(before) {
		return nil
	}
	return visit(Info{Ref: ref, Size: stat.Size()}, stat.ModTime().UTC())
}

// Sign reads the file of the sign.
func (f *Files) Sign(context.Context) (string, error) {
	raw, err := os.ReadFile(filepath.Join(f.dir, signName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the sign of the store: %w", err)
	}
	return string(raw[:min(len(raw), maxSign)]), nil
}

// SetSign replaces the file of the sign.
func (f *Files) SetSign(_ context.Context, sign string) error {
	temp, err := f.createTemporary()
	if err != nil {
		return fmt.Errorf("sign the store: %w", err)
	}
	defer os.Remove(temp.Name()) // nothing is left there once it was moved
	_, err = temp.WriteString(sign)
	err = errors.Join(err, f.handOver(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), filepath.Join(f.dir, signName))
	}
	if err == nil {
		err = syncDir(f.dir)
	}
	if err != nil {
		return fmt.Errorf("sign the store: %w", err)
	}
	return nil
}

func (f *Files) path(ref Ref) (string, error) {
	if _, err := ParseRef(string(ref)); err != nil {
		return "", err
	}
	return filepath.Join(f.dir, string(ref[:fanOut]), string(ref)), nil
}

// temporaryName cannot be guessed or met twice.
func (f *Files) temporaryName() (string, error) {
	var name [16]byte
	if _, err := io.ReadFull(f.random, name[:]); err != nil {
		return "", err
	}
	return filepath.Join(f.dir, temporaryDir, hex.EncodeToString(name[:])), nil
}
