package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func (f *Files) createTemporary() (*os.File, error) {
	name, err := f.temporaryName()
	if err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// keep gives written content its name. When it returns, the content survives a power cut: the bytes are on disk before the
// name, the name before the answer.
func (f *Files) keep(temp *os.File, info Info) error {
	path, err := f.path(info.Ref)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	known, err := f.touch(path, info.Size)
	if err != nil {
		return err
	}
	if known {
		// The name may be so new that its own writer has not made it durable yet.
		return syncDir(dir)
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := f.makeDir(dir); err != nil {
		return err
	}
	if err := f.move(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// touch makes a known blob young. One of the wrong size is damaged and counts as unknown, so that it is replaced.
func (f *Files) touch(path string, size int64) (bool, error) {
	f.replace.Lock()
	defer f.replace.Unlock()
	stat, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || stat.Size() != size {
		return false, err
	}
	now := f.clock.Now()
	return true, os.Chtimes(path, now, now)
}

// move replaces whatever has the name by now: it is the same content.
func (f *Files) move(temp, path string) error {
	f.replace.Lock()
	defer f.replace.Unlock()
	now := f.clock.Now()
	if err := os.Chtimes(temp, now, now); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func (f *Files) makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		// Another put may have made it just now and not be done with it.
		return syncDir(f.dir)
	}
	if err != nil {
		return err
	}
	return syncDir(f.dir)
}

func (f *Files) removeLeftovers() error {
	dir := filepath.Join(f.dir, temporaryDir)
	left, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, file := range left {
		stat, err := file.Info()
		if err != nil || f.clock.Now().Sub(stat.ModTime()) < temporaryLife {
			continue
		}
		if err := os.Remove(filepath.Join(dir, file.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// handOver gives a file to whoever the store belongs to: a verb that root runs writes what the server has to read. Others write their own.
func (f *Files) handOver(file *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(f.dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
