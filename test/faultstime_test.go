package test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// buildBefore builds the program as it was before the newest migration was added, from the history of the repository.
var buildBefore = sync.OnceValues(func() (string, error) {
	names, err := filepath.Glob("../platform/db/migrations/*.sql")
	if err != nil || len(names) == 0 {
		return "", fmt.Errorf("no migrations: %w", err)
	}
	slices.Sort(names)
	raw, err := exec.Command("git", "log", "--format=%H", "--diff-filter=A", "--", names[len(names)-1]).Output()
	if err != nil {
		return "", fmt.Errorf("the history of the repository: %w", err)
	}
	commit := "HEAD" // it is not committed yet
	if added := strings.Fields(string(raw)); len(added) > 0 {
		commit = added[0] + "^"
	}
	today, err := program()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(today), "before") // it goes with today's when the tests end
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if out, err := exec.Command("sh", "-c", `git -C .. archive "$0" | tar -x -C "$1"`, commit, dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("git archive %s: %w %s", commit, err, out)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "postrider"), "./cmd/postrider")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w %s", commit, err, out)
	}
	return filepath.Join(dir, "postrider"), nil
})

// upgradeRow is the fault whose installation is begun by an older build.
const upgradeRow = "upgrade from the build before, and back"

// before is the older program, as a wrapper: it is given the path of today's and does not use it.
func before(t *testing.T) []string {
	t.Helper()
	path, err := buildBefore()
	if err != nil {
		t.Skip(err)
	}
	return []string{"sh", "-c", `shift; exec "$0" "$@"`, path}
}

// upgraded takes an installation of an older build, which accepts and delivers, replaces the program by today's, and tries to go back:
// that must be refused, and must change nothing.
func upgraded(s *shop, engine string) {
	enough := s.sell(faultCustomers)
	after(time.Second)
	s.p.kill()
	s.serve()
	after(time.Second)
	enough()
	s.settled()
	if err := s.p.stop(); err != nil {
		s.t.Error(err)
	}
	was := s.fingerprint(engine)
	if s.tryServe(before(s.t)...) {
		s.t.Error("an older build started on a newer schema")
	} else if said := s.p.stderr.String(); !strings.Contains(said, "newer postrider than this one") {
		s.t.Errorf("an older build ended with: %s", said)
	}
	s.p.kill()
	if now := s.fingerprint(engine); now != was {
		s.t.Error("an older build has changed a newer database")
	}
	s.serve()
	s.sellFor(500 * time.Millisecond)
}

// fingerprint is of everything in the database.
func (s *shop) fingerprint(engine string) string {
	s.t.Helper()
	if engine == "PostgreSQL" {
		out, err := s.database().command("pg_dump", "-h", s.database().host, "-p", s.database().port, "-U", "postgres", "postgres").Output()
		if err != nil {
			s.t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
			return strings.HasPrefix(line, `\restrict`) || strings.HasPrefix(line, `\unrestrict`) // with a word that is new each time
		})
		return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "\n"))))
	}
	raw, err := os.ReadFile(filepath.Join(s.data(), "postrider.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// backInTime archives the log of PostgreSQL, takes a base backup, and goes back to a moment after it: what was accepted before the moment
// is there and goes on, what came after it is gone, and followers go on with what happens next.
func backInTime(s *shop, _ string) {
	server := s.database()
	s.p.kill()
	server.archive()
	s.serve()
	s.sellFor(500 * time.Millisecond)
	base := server.baseBackup()
	s.sellFor(time.Second)
	s.settled()
	s.hold()
	s.sellFor(500 * time.Millisecond) // accepted, and still to be sent
	kept := s.copy()
	moment := server.query("SELECT now()")
	after(100 * time.Millisecond)
	s.sellFor(500 * time.Millisecond)
	later := s.forget(kept)
	server.archived()
	s.p.kill()
	server.recover(base, moment)
	s.manners.Store(nil)
	s.withClock()
	for id := range kept {
		if status, answer, err := call(s.key, http.MethodGet, "http://"+s.address+"/v1/emails/"+id, nil); err != nil || status != http.StatusOK {
			s.t.Errorf("%s was accepted before the moment and is not there: %d %v %v", id, status, answer, err)
		}
	}
	for _, id := range later {
		if status, _, err := call(s.key, http.MethodGet, "http://"+s.address+"/v1/emails/"+id, nil); err != nil || status != http.StatusNotFound {
			s.t.Errorf("%s was accepted after the moment and is there: %d %v", id, status, err)
		}
	}
	s.later()
	s.sellFor(500 * time.Millisecond)
	s.later()
	s.p.kill()
	if strings.Contains(s.p.stderr.String(), "comes from another server") {
		s.t.Error("the order of events was carried over, although the count of transactions came back with the log")
	}
	s.serve("env", "POSTRIDER_CLOCK_FILE="+s.clockFile())
	s.t.Logf("back to %s: %d emails accepted before it are there, %d accepted after it are gone", moment, len(kept), len(later))
}

// forget strikes what was promised beside some emails from the ledger, and returns it.
func (s *shop) forget(kept map[string]string) (later []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.promised {
		if kept[id] == "" {
			later = append(later, id)
			delete(s.promised, id)
		}
	}
	return later
}
