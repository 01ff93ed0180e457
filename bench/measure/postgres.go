package measure

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Postgres is a PostgreSQL server of a benchmark's own, as durable as it comes, with the settings that docs/capacity.md advises.
type Postgres struct {
	cmd *exec.Cmd
	// Dir is its directory; the socket is in it.
	Dir string
}

// ErrNoPostgres means that PostgreSQL is not installed.
var ErrNoPostgres = errors.New("PostgreSQL is not installed (Debian: postgresql)")

// StartPostgres makes a cluster in a new directory and starts it. settings are further ones, as name=value.
func StartPostgres(ctx context.Context, settings ...string) (*Postgres, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return nil, errors.Join(ErrNoPostgres, err)
	}
	slices.Sort(found)
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "bench-pg-")
	if err != nil {
		return nil, err
	}
	p := &Postgres{Dir: dir}
	as, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, name), args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
		return cmd
	}
	if out, err := command("initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-k").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(dir))
	}
	args := []string{"-D", dir + "/data", "-k", dir, "-c", "listen_addresses=", "-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB", "-c", "max_connections=200"}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	p.cmd = command("postgres", args...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGQUIT) }
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for start := time.Now(); time.Since(start) < startWithin; time.Sleep(50 * time.Millisecond) {
		if command("pg_isready", "-q", "-h", dir).Run() == nil {
			return p, nil
		}
	}
	return nil, errors.Join(errors.New("PostgreSQL did not start"), p.Stop())
}

// URL is the address of its database.
func (p *Postgres) URL() string {
	return "postgres://postgres@/postgres?host=" + url.QueryEscape(p.Dir)
}

// Stop ends the server and removes all it has.
func (p *Postgres) Stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	_ = p.cmd.Wait() // it was told to end at once
	return os.RemoveAll(p.Dir)
}

// unprivileged returns the user to run PostgreSQL as, which refuses to run as root, and gives it the directory.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2, os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
