package dbtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL server with a migrated template database to copy from.
type server struct {
	admin    string // address of its maintenance database
	template string
	lifeline io.Closer // the cluster of this process ends when nobody holds it
}

var errNoServer = errors.New("no PostgreSQL server: install postgresql or set POSTRIDER_TEST_POSTGRES")

func postgresURL(t testing.TB) string {
	t.Helper()
	s, err := sharedServer()
	if errors.Is(err, errNoServer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	name := nextName()
	if err := s.run("CREATE DATABASE " + name + " TEMPLATE " + s.template + " STRATEGY FILE_COPY"); err != nil {
		t.Fatalf("create database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.run("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			t.Logf("drop database: %v", err)
		}
	})
	return s.database(name)
}

var sharedServer = sync.OnceValues(func() (*server, error) {
	admin := os.Getenv("POSTRIDER_TEST_POSTGRES")
	var lifeline io.Closer
	if admin == "" {
		var err error
		if admin, lifeline, err = startCluster(); err != nil {
			return nil, err
		}
	}
	s := &server{admin: admin, template: nextName() + "_template", lifeline: lifeline}
	if err := s.run("CREATE DATABASE " + s.template); err != nil {
		return nil, err
	}
	return s, migrateAt(s.database(s.template))
})

// run uses one connection after the other: copying a template must not meet another session in it.
func (s *server) run(statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

func (s *server) database(name string) string {
	u, err := url.Parse(s.admin)
	if err != nil {
		panic(err)
	}
	u.Path = "/" + name
	return u.String()
}

// startCluster starts a PostgreSQL of our own that listens only on a socket in a temporary folder. A shell watches our end of
// a pipe and removes everything when this process is gone, however it ends.
func startCluster() (string, io.Closer, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "postrider-pg")
	if err != nil {
		return "", nil, err
	}
	credential, err := unprivileged()
	if err != nil {
		return "", nil, err
	}
	if credential != nil {
		if err := os.Chown(dir, int(credential.Uid), int(credential.Gid)); err != nil {
			return "", nil, err
		}
	}
	script := fmt.Sprintf(`cd %[2]s
%[1]s/initdb -D %[2]s/data -U postgres -A trust -E UTF8 --no-locale --no-sync >%[2]s/initdb.log 2>&1 || { echo failed; cat %[2]s/initdb.log; rm -rf %[2]s; exit 1; }
%[1]s/postgres -D %[2]s/data -k %[2]s -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=300 -c shared_buffers=64MB -c autovacuum=off >%[2]s/log 2>&1 &
pid=$!
until %[1]s/pg_isready -q -h %[2]s -t 1; do kill -0 $pid 2>/dev/null || { echo failed; cat %[2]s/log; rm -rf %[2]s; exit 1; }; done
echo ready
cat >/dev/null
kill -QUIT $pid; wait $pid; cd /; rm -rf %[2]s`, bin, dir)
	shell := exec.Command("sh", "-c", script)
	shell.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Setpgid: true}
	shell.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	lifeline, err := shell.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	output, err := shell.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := shell.Start(); err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(output)
	if !lines.Scan() || lines.Text() != "ready" {
		detail := lines.Text()
		for lines.Scan() {
			detail += "\n" + lines.Text()
		}
		return "", nil, fmt.Errorf("cluster in %s did not start: %s", dir, detail)
	}
	return "postgres://postgres@/postgres?host=" + url.QueryEscape(dir), lifeline, nil
}

// postgresPrograms finds the newest installed server; Debian keeps it out of the PATH.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		sort.Strings(found)
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errNoServer
}

// unprivileged returns the user to run PostgreSQL as: it refuses to run as root. Nil means ourselves.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errNoServer
}
