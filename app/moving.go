package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"postrider/platform/db"
	"postrider/platform/move"
	"postrider/world"
)

var (
	errSamePlace = Misconfigured{errors.New("source and target are the same place")}
	errNoSource  = errors.New("there is no database to move")
)

// Move copies an installation from one storage to another and compares both. It goes on with a move that was interrupted. No server
// may run on either side.
func Move(ctx context.Context, w world.World, from, to Storage, tell move.Tell) (move.Summary, error) {
	if from.database() == to.database() && from.blobPlace() == to.blobPlace() {
		return move.Summary{}, errSamePlace
	}
	if to.Dir != "" {
		if err := os.MkdirAll(to.Dir, 0o700); err != nil {
			return move.Summary{}, err
		}
	}
	release, err := lockBoth(from.Dir, to.Dir)
	if err != nil {
		return move.Summary{}, err
	}
	defer release()
	if from.database() != to.database() {
		if _, err := os.Stat(from.database()); from.DatabaseURL == "" && err != nil {
			return move.Summary{}, fmt.Errorf("%w in %s", errNoSource, from.Dir)
		}
		if err := carryFiles(from.Dir, to.Dir); err != nil { // another secret there is told before hours of copying
			return move.Summary{}, err
		}
	}
	var sum move.Summary
	if from.blobPlace() != to.blobPlace() {
		if sum, err = moveBlobs(ctx, w, from, to, tell); err != nil {
			return sum, err
		}
	}
	if from.database() == to.database() {
		return sum, nil
	}
	rows, err := moveRows(ctx, w, from, to, tell)
	rows.Blobs, rows.Bytes = sum.Blobs, sum.Bytes
	return rows, err
}

// lockBoth makes sure that no server runs on the directories, which may be one, or none.
func lockBoth(one, other string) (func(), error) {
	var held []func()
	release := func() {
		for _, end := range held {
			end()
		}
	}
	for i, dir := range []string{one, other} {
		if dir == "" || i == 1 && one == other {
			continue
		}
		end, err := lockDir(dir)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, end)
	}
	return release, nil
}

func moveBlobs(ctx context.Context, w world.World, from, to Storage, tell move.Tell) (move.Summary, error) {
	source, err := from.blobs(w)
	if err != nil {
		return move.Summary{}, fmt.Errorf("blobs of the source: %w", err)
	}
	target, err := to.blobs(w)
	if err != nil {
		return move.Summary{}, fmt.Errorf("blobs of the target: %w", err)
	}
	return move.Blobs(ctx, source, target, tell)
}

func moveRows(ctx context.Context, w world.World, from, to Storage, tell move.Tell) (move.Summary, error) {
	source, err := db.Open(ctx, w, db.Config{URL: from.database(), Mover: true})
	if err != nil {
		return move.Summary{}, fmt.Errorf("source: %w", err)
	}
	defer source.Close()
	target, err := db.Open(ctx, w, db.Config{URL: to.database(), Mover: true})
	if err != nil {
		return move.Summary{}, fmt.Errorf("target: %w", err)
	}
	defer target.Close()
	return move.Database(ctx, source, target, placeName(from.database()), tell)
}

// placeName is an address that may be shown and kept: without the password, and without the name of the user.
func placeName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return address
	}
	return u.Scheme + "://" + u.Host + u.Path + "?host=" + u.Query().Get("host")
}

// carryFiles takes the secret and the name of the node along to another directory, if that has none of its own.
func carryFiles(from, to string) error {
	if from == "" || to == "" || from == to {
		return nil
	}
	for _, name := range []string{"secret", "node"} {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := createFile(filepath.Join(to, name), raw); err != nil {
			return fmt.Errorf("carry %s over: %w", name, err)
		}
	}
	return nil
}

// createFile writes a file that only we can read. One that exists must be the same.
func createFile(path string, raw []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		there, err := os.ReadFile(path)
		if err == nil && string(there) != string(raw) {
			err = fmt.Errorf("%s exists and is another; a target that is not in use yet needs none", path)
		}
		return err
	}
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	return errors.Join(err, file.Sync(), file.Close())
}
