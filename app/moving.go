package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"postrider/platform/custody"
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
	source, err := holdSource(ctx, w, from)
	if err != nil {
		return move.Summary{}, fmt.Errorf("source: %w", err)
	}
	sum, err := source.carry(ctx, w, from, to, tell)
	return sum, errors.Join(err, source.letGo(context.WithoutCancel(ctx), err == nil && from.database() != to.database()))
}

// heldSource is the database of a source. It is set aside while it is moved, so that no server and no verb writes into it what would stay
// behind, and for good once it has been.
type heldSource struct {
	db     *db.DB // nil if only blobs are moved, and nobody said where the database is
	before custody.Reason
}

func holdSource(ctx context.Context, w world.World, from Storage) (s heldSource, err error) {
	if from.Dir == "" && from.DatabaseURL == "" || from.Dir != "" && from.CheckPresent() != nil {
		return s, nil
	}
	if s.db, err = db.Open(ctx, w, db.Config{URL: from.database(), Mover: true}); err != nil {
		return s, err
	}
	if s.before, err = custody.Aside(ctx, s.db); err == nil {
		err = custody.SetAside(ctx, s.db, custody.Moving)
	}
	if err == nil {
		if err = move.Alone(ctx, s.db); err != nil {
			return s, errors.Join(err, s.letGo(ctx, false))
		}
	}
	if err != nil {
		s.db.Close()
	}
	return s, err
}

// letGo closes a source for good that was moved, and leaves another as it was before it was first held.
func (s heldSource) letGo(ctx context.Context, moved bool) error {
	if s.db == nil {
		return nil
	}
	after := s.before
	switch {
	case moved:
		after = custody.Moved
	case after == custody.Moving: // by a run that was killed
		after = ""
	}
	return errors.Join(custody.SetAside(ctx, s.db, after), s.db.Close())
}

func (s heldSource) carry(ctx context.Context, w world.World, from, to Storage, tell move.Tell) (sum move.Summary, err error) {
	if from.blobPlace() != to.blobPlace() {
		if sum, err = moveBlobs(ctx, w, from, to, tell); err != nil {
			return sum, err
		}
	}
	if from.database() == to.database() {
		return sum, nil
	}
	rows, err := s.moveRows(ctx, w, from, to, tell)
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

func (s heldSource) moveRows(ctx context.Context, w world.World, from, to Storage, tell move.Tell) (move.Summary, error) {
	target, err := db.Open(ctx, w, db.Config{URL: to.database(), Mover: true})
	if err != nil {
		return move.Summary{}, fmt.Errorf("target: %w", err)
	}
	defer target.Close()
	sum, err := move.Database(ctx, s.db, target, placeName(from.database()), tell)
	if err != nil || s.before != custody.Copied {
		return sum, err
	}
	return sum, custody.SetAside(ctx, target, custody.Copied) // it is as much a copy there
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
