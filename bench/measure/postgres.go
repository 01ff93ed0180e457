package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres is a PostgreSQL server of the benchmark's own, as durable as Debian's, whose cost can be read.
type Postgres struct {
	dir string
	bin string
	as  *syscall.Credential
	cmd *exec.Cmd
	// Statements tells whether the server counts what its statements cost.
	Statements bool
}

// ErrNoPostgres means that PostgreSQL is not installed.
var ErrNoPostgres = errors.New("PostgreSQL is not installed (Debian: postgresql)")

// StartPostgres makes a server below dir that listens on a socket there.
func StartPostgres(ctx context.Context, dir string) (*Postgres, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return nil, errors.Join(ErrNoPostgres, err)
	}
	slices.Sort(found)
	p := &Postgres{dir: filepath.Join(dir, "pg"), bin: filepath.Dir(found[len(found)-1])}
	if err := p.ownDir(dir); err != nil {
		return nil, err
	}
	if out, err := p.command(ctx, "initdb", "-D", p.dir+"/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w %s", err, out)
	}
	args := []string{"-D", p.dir + "/data", "-k", p.dir, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"}
	libraries, _ := filepath.Glob(filepath.Dir(p.bin) + "/lib/pg_stat_statements.so")
	if p.Statements = len(libraries) > 0; p.Statements {
		args = append(args, "-c", "shared_preload_libraries=pg_stat_statements", "-c", "pg_stat_statements.track_utility=off")
	}
	p.cmd = p.command(ctx, "postgres", args...)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGINT) }
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for start := time.Now(); time.Since(start) < startWithin; time.Sleep(20 * time.Millisecond) {
		if p.Run(ctx, "postgres", "SELECT 1") == nil {
			return p, nil
		}
	}
	return nil, errors.Join(errors.New("PostgreSQL did not start"), p.Stop())
}

// ownDir makes the directory of the server, which refuses to run as root.
func (p *Postgres) ownDir(parent string) error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	p.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return errors.Join(err1, err2, os.Chmod(parent, 0o755), os.Chown(p.dir, uid, gid))
}

func (p *Postgres) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.Env = p.dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

// URL is the address of a database.
func (p *Postgres) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@/%s?host=%s", database, p.dir)
}

// Create makes a database, as a copy of another if one is named; nobody may be connected to that.
func (p *Postgres) Create(ctx context.Context, database, from string) error {
	if from != "" {
		return p.Run(ctx, "postgres", "CREATE DATABASE "+database+" TEMPLATE "+from)
	}
	if err := p.Run(ctx, "postgres", "CREATE DATABASE "+database); err != nil || !p.Statements {
		return err
	}
	return p.Run(ctx, database, "CREATE EXTENSION pg_stat_statements")
}

// Run executes statements in a database, on a connection of their own.
func (p *Postgres) Run(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, p.URL(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Await asks a question of a database again and again until it is answered with yes.
func (p *Postgres) Await(ctx context.Context, database, question string) error {
	conn, err := pgx.Connect(ctx, p.URL(database))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for {
		var yes bool
		if err := conn.QueryRow(ctx, question).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Statement is what one statement has cost the server.
type Statement struct {
	Text  string
	Calls int64
	Took  time.Duration
}

// Costliest returns the statements on which a database has spent most, and what it has spent on all.
func (p *Postgres) Costliest(ctx context.Context, database string, most int) (list []Statement, all time.Duration, err error) {
	conn, err := pgx.Connect(ctx, p.URL(database))
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `
		SELECT query, calls, total_exec_time FROM pg_stat_statements
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		ORDER BY total_exec_time DESC`)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var s Statement
		var milliseconds float64
		if err := rows.Scan(&s.Text, &s.Calls, &milliseconds); err != nil {
			return nil, 0, err
		}
		s.Took = time.Duration(milliseconds * float64(time.Millisecond))
		s.Text = strings.Join(strings.Fields(s.Text), " ")
		if all += s.Took; len(list) < most {
			list = append(list, s)
		}
	}
	return list, all, rows.Err()
}

// CPU returns the processor time that the server and all its processes have used, those that have ended too.
func (p *Postgres) CPU() time.Duration {
	total := cpuOf(p.cmd.Process.Pid, true)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid))
	if err != nil {
		return total
	}
	for _, child := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			total += cpuOf(pid, false)
		}
	}
	return total
}

// Stop ends the server.
func (p *Postgres) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return p.cmd.Wait()
}
