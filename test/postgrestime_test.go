package test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// query asks the server one question and returns the answer as text.
func (s *postgres) query(text string) string {
	s.t.Helper()
	out, err := s.command("psql", "-h", s.host, "-p", s.port, "-U", "postgres", "-XAtqc", text).Output()
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return strings.TrimSpace(string(out))
}

// stop ends the server in order, with everything on disk.
func (s *postgres) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	_ = s.cmd.Wait()
	s.cmd = nil
}

// archive makes the server keep its log.
func (s *postgres) archive() {
	s.t.Helper()
	s.stop()
	if out, err := s.command("mkdir", "archive").CombinedOutput(); err != nil {
		s.t.Fatalf("%v %s", err, out)
	}
	s.configure("archive_mode = on", "archive_command = 'cp %p "+s.dir+"/archive/%f'")
	s.start()
}

func (s *postgres) configure(lines ...string) {
	s.t.Helper()
	file, err := os.OpenFile(filepath.Join(s.dir, "data", "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		s.t.Fatal(err)
	}
}

// baseBackup copies the running server and returns where to.
func (s *postgres) baseBackup() string {
	s.t.Helper()
	base := filepath.Join(s.dir, "base")
	if out, err := s.command("pg_basebackup", "-h", s.host, "-p", s.port, "-U", "postgres", "-D", base, "-X", "stream", "-c", "fast").CombinedOutput(); err != nil {
		s.t.Fatalf("pg_basebackup: %v %s", err, out)
	}
	return base
}

// archived closes the log that is being written and waits until it is kept.
func (s *postgres) archived() {
	s.t.Helper()
	name := s.query("SELECT pg_walfile_name(pg_switch_wal())")
	until(s.t, startWithin, "the archive of "+name, func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "archive", name))
		return err == nil
	})
}

// recover throws the data away, puts the base backup in its place, and goes on from it along the log up to a moment.
func (s *postgres) recover(base, moment string) {
	s.t.Helper()
	s.kill()
	data := filepath.Join(s.dir, "data")
	if err := os.RemoveAll(data); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(base, data); err != nil {
		s.t.Fatal(err)
	}
	s.configure("restore_command = 'cp "+s.dir+"/archive/%f %p'", "recovery_target_time = '"+moment+"'", "recovery_target_action = 'promote'")
	if out, err := s.command("touch", "data/recovery.signal").CombinedOutput(); err != nil {
		s.t.Fatalf("%v %s", err, out)
	}
	s.start()
	until(s.t, settleFor, "the end of the recovery", func() bool { return s.query("SELECT pg_is_in_recovery()") == "f" })
}

// scribble writes noise over pages of a table of the stopped server, and starts it again.
func (s *postgres) scribble(table string) {
	s.t.Helper()
	path := s.query("SELECT pg_relation_filepath('" + table + "')")
	s.stop()
	scribble(s.t, filepath.Join(s.dir, "data", path), 8192)
	s.start()
}
