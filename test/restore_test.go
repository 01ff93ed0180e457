package test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postrider/platform/db/dbtest"
)

// installed makes an installation and returns its directory.
func installed(t *testing.T, flags ...string) (data string) {
	t.Helper()
	data = t.TempDir()
	args := []string{"workspace", "create", "--data", data, "--name", "Acme", "--owner-email", "you@example.org", "--owner-password", "correct horse battery"}
	if _, stderr, err := run(t, append(args, flags...)...); err != nil {
		t.Fatal(stderr)
	}
	return data
}

// backedUp backs a directory up and returns where to.
func backedUp(t *testing.T, data string) (backup string) {
	t.Helper()
	backup = filepath.Join(t.TempDir(), "backup")
	if _, stderr, err := run(t, "backup", "--data", data, "--out", backup); err != nil {
		t.Fatal(stderr)
	}
	return backup
}

func put(t *testing.T, content []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whoever moves a database away by its name leaves the log of a server that was killed, which SQLite would write into the restored one.
func TestARestoredDatabaseNeverMeetsTheLogOfAnother(t *testing.T) {
	t.Parallel()
	backup, data := backedUp(t, installed(t)), t.TempDir()
	log := filepath.Join(data, "postrider.db-wal")
	put(t, []byte("what another database has yet to take"), log)
	if _, stderr, err := run(t, "restore", "--from", backup, "--data", data); code(err) != 1 || !strings.Contains(stderr, "postrider.db*") {
		t.Errorf("%d %q", code(err), stderr)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := run(t, "restore", "--from", backup, "--data", data); err != nil {
		t.Error(stderr)
	}
}

func TestABackupThatHasLostSomethingIsNotRestored(t *testing.T) {
	t.Parallel()
	content := []byte("a large letter")
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	blob := filepath.Join("blobs", name[:2], name)
	data := installed(t)
	put(t, content, data, blob)
	for lost, says := range map[string]string{blob: "has 0 (0 bytes), and was made with 1 (14 bytes)", "backup.json": "holds no whole backup", "postrider.db": "postrider.db"} {
		backup, elsewhere := backedUp(t, data), filepath.Join(t.TempDir(), "new")
		if err := os.Remove(filepath.Join(backup, lost)); err != nil {
			t.Fatal(err)
		}
		if _, stderr, err := run(t, "restore", "--from", backup, "--data", elsewhere); code(err) != 1 || !strings.Contains(stderr, says) {
			t.Errorf("without %s: %d %q", lost, code(err), stderr)
		}
		if _, err := os.Stat(filepath.Join(elsewhere, "postrider.db")); err == nil {
			t.Errorf("without %s: there is a database all the same", lost)
		}
	}
}

func TestADatabaseThatIsNotTheOneOfTheBackupIsNotRestored(t *testing.T) {
	t.Parallel()
	data := installed(t)
	backup, elsewhere := backedUp(t, data), filepath.Join(t.TempDir(), "new")
	other, err := os.ReadFile(filepath.Join(installed(t), "postrider.db"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, other, backup, "postrider.db")
	if _, stderr, err := run(t, "restore", "--from", backup, "--data", elsewhere); code(err) != 1 || !strings.Contains(stderr, "damaged") {
		t.Errorf("%d %q", code(err), stderr)
	}
	if left, err := filepath.Glob(filepath.Join(elsewhere, "postrider.db*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q %v", left, err)
	}
}

// With a secret that was made up, nobody could open the keys in the database, and mail would go out unsigned or not at all.
func TestALostSecretIsNotMadeUp(t *testing.T) {
	t.Parallel()
	data := installed(t)
	file := filepath.Join(data, "secret")
	secret, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, verb := range [][]string{{"serve", "--http", "127.0.0.1:0"}, {"migrate"}} {
		if _, stderr, err := run(t, append(verb, "--data", data)...); code(err) != 2 || !strings.Contains(stderr, file+": the file is missing") {
			t.Errorf("%v: %d %q", verb, code(err), stderr)
		}
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%v made one up", verb)
		}
	}
	if _, stderr, err := run(t, "migrate", "--data", data, "--secret", strings.TrimSpace(string(secret))); err != nil {
		t.Error(stderr)
	}
}

func TestARestoreSaysWhatTheBackupDoesNotHold(t *testing.T) {
	t.Parallel()
	backup := backedUp(t, installed(t, "--secret", longSecret))
	told, stderr, err := run(t, "restore", "--from", backup, "--data", filepath.Join(t.TempDir(), "new"))
	if err != nil || !strings.Contains(told, "start the server with the same POSTRIDER_SECRET") || strings.Contains(told, "bucket") {
		t.Errorf("%q %q %v", told, stderr, err)
	}
	told, stderr, err = run(t, "restore", "--from", backedUp(t, installed(t)), "--data", filepath.Join(t.TempDir(), "new"))
	if err != nil || strings.Contains(told, "POSTRIDER_SECRET") {
		t.Errorf("%q %q %v", told, stderr, err)
	}
}

// Somebody tries a restore while the original goes on: what waited when the backup was made has been sent long ago.
func TestNoServerWorksOnACopyUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	data := installed(t)
	restored := filepath.Join(t.TempDir(), "restored")
	if _, stderr, err := run(t, "restore", "--from", backedUp(t, data), "--data", restored); err != nil {
		t.Fatal(stderr)
	}
	serve := []string{"serve", "--data", restored, "--http", "127.0.0.1:0", "--insecure-test-network"}
	if _, stderr, err := run(t, serve...); code(err) != 2 || !strings.Contains(stderr, "run postrider adopt") {
		t.Errorf("%d %q", code(err), stderr)
	}
	if err := start(t, append(serve, "--roles", "api")...).stop(); err != nil {
		t.Error(err)
	}
	if told, _, _ := run(t, "doctor", "--data", restored, "--resolver", "127.0.0.1:9"); !strings.Contains(told, "comes from a backup") {
		t.Errorf("%s", told)
	}
	if _, stderr, err := run(t, "adopt", "--data", restored); err != nil {
		t.Error(stderr)
	}
	if err := start(t, serve...).stop(); err != nil {
		t.Error(err)
	}
}

// A power cut can leave the file empty; nodes without a name would take each other's mail for their own.
func TestANodeWithoutANameGetsOne(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	put(t, nil, data, "node")
	name := func() string {
		t.Helper()
		p := start(t, "serve", "--data", data, "--http", "127.0.0.1:0", "--insecure-test-network")
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(data, "node"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if first, second := name(), name(); len(first) < 36 || second != first {
		t.Errorf("%q, and then %q", first, second)
	}
}

func TestABackupOfPostgreSQLSaysWhereItGoes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pg_dump"); err != nil {
		t.Skip("no pg_dump on this machine")
	}
	address := dbtest.URL(t, "postgres")
	installed(t, "--database-url", address, "--secret", longSecret)
	backup := filepath.Join(t.TempDir(), "backup")
	stdout, stderr, err := run(t, "backup", "--data", t.TempDir(), "--database-url", address, "--secret", longSecret, "--out", backup)
	if err != nil || !strings.Contains(stdout, "--database-url postgres://… (of an empty database)") {
		t.Fatalf("%v %q %q", err, stdout, stderr)
	}
	if _, stderr, err := run(t, "restore", "--from", backup, "--data", t.TempDir()); code(err) != 2 || !strings.Contains(stderr, "name an empty database with --database-url") {
		t.Errorf("%d %q", code(err), stderr)
	}
	_, stderr, err = run(t, "restore", "--from", backup, "--data", t.TempDir(), "--database-url", address)
	if code(err) != 1 || !strings.Contains(stderr, "The database is as it was. It must be empty") {
		t.Errorf("%d %q", code(err), stderr)
	}
	_, stderr, err = run(t, "restore", "--from", backedUp(t, installed(t)), "--data", t.TempDir(), "--database-url", address)
	if code(err) != 2 || !strings.Contains(stderr, "the backup is of the embedded database; restore it without --database-url") {
		t.Errorf("%d %q", code(err), stderr)
	}
}

// A machine is cloned to have a second node. Each would take what the other is just sending for what its own last run has left.
func TestACloneOfANodeDoesNotStartBesideIt(t *testing.T) {
	t.Parallel()
	one, clone, address := t.TempDir(), t.TempDir(), dbtest.URL(t, "postgres")
	serve := func(data, name string) []string {
		return []string{"serve", "--data", data, "--node", name, "--database-url", address, "--secret", longSecret, "--http", "127.0.0.1:0", "--insecure-test-network"}
	}
	p := start(t, serve(one, "one")...)
	id, err := os.ReadFile(filepath.Join(one, "node"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, id, clone, "node")
	if _, stderr, err := run(t, serve(clone, "two")...); code(err) != 2 || !strings.Contains(stderr, "another server runs under the same id") {
		t.Errorf("%d %q", code(err), stderr)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}
