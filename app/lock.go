package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"postrider/world"
)

// lockDir makes this process the only server on a data directory. The lock ends with the process, however it ends.
func lockDir(dir string) (release func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, unusableDir(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("another postrider is running on %s; stop it first or choose another --data directory", dir)
	}
	return func() { file.Close() }, nil
}

// nodeID returns the id of the process that owns the directory, made at its first start. It must outlive restarts, or mail
// of the last run waits for its leases to end; and it must not be shared, or nodes would take each other's mail for their own.
func nodeID(dir string, w world.World) (string, error) {
	path := filepath.Join(dir, "node")
	raw, err := os.ReadFile(path)
	id := strings.TrimSpace(string(raw))
	if err == nil && id == "" || errors.Is(err, fs.ErrNotExist) { // a power cut leaves an empty file
		id = w.NewID()
		err = os.WriteFile(path, []byte(id+"\n"), 0o600)
	}
	return id, err
}
