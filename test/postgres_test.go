package test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// postgres is a PostgreSQL server of the test's own, as durable as Debian's, that can be killed, frozen and started again.
type postgres struct {
	t        *testing.T
	bin, dir string
	host     string
	port     string
	as       *syscall.Credential
	cmd      *exec.Cmd
}

// startPostgres makes a cluster that listens on the address.
func startPostgres(t *testing.T, host string) *postgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed (Debian: postgresql)")
	}
	s := &postgres{t: t, bin: filepath.Dir(found[len(found)-1]), host: host}
	var err error
	if s.dir, err = os.MkdirTemp("", "postrider-pg"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.kill(); os.RemoveAll(s.dir) })
	if os.Getuid() == 0 { // it refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Skip(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.command("initdb", "-D", s.dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync", "--data-checksums").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v %s", err, out)
	}
	hba := s.dir + "/data/pg_hba.conf"
	raw, err := os.ReadFile(hba)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hba, append(raw, "host all all 10.77.0.0/24 trust\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(listener.Addr().String())
	listener.Close()
	s.start()
	return s
}

func (s *postgres) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(s.bin, name)
	if _, err := os.Stat(path); err != nil {
		path = name // one of the machine's own
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (s *postgres) url() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable&connect_timeout=5", net.JoinHostPort(s.host, s.port))
}

// start starts the server and waits until it answers.
func (s *postgres) start() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.cmd = s.command("postgres", "-D", s.dir+"/data", "-k", s.dir, "-c", "listen_addresses="+s.host, "-p", s.port, "-c", "max_connections=200")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	until(s.t, startWithin, "PostgreSQL", func() bool { return s.command("pg_isready", "-q", "-h", s.host, "-p", s.port).Run() == nil })
}

// processes are those of the server: it and its children, which lead groups of their own.
func (s *postgres) processes() []int {
	all := []int{s.cmd.Process.Pid}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(s.cmd.Process.Pid) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// kill ends all processes of the server at once, as a power cut would.
func (s *postgres) kill() {
	if s.cmd == nil {
		return
	}
	s.signal(syscall.SIGKILL)
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *postgres) signal(what syscall.Signal) {
	for _, pid := range s.processes() {
		_ = syscall.Kill(pid, what)
	}
}

// freeze stops the server for a while; connections stay open and say nothing.
func (s *postgres) freeze(length time.Duration) {
	s.signal(syscall.SIGSTOP)
	<-time.After(length)
	s.signal(syscall.SIGCONT)
}
