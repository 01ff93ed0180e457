package test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postrider/platform/db/dbtest"
)

// sendLetters hands in emails with a file each, which is kept apart, and writes down what was promised.
func (l *ledger) sendLetters(t *testing.T, p *process, key, name string, count int) {
	t.Helper()
	for n := range count {
		to := fmt.Sprintf("%s%d@d%d.test", name, n, n%killSites)
		status, answer, err := call(key, http.MethodPost, p.HTTP+"/v1/emails", map[string]any{"from": "olga@shop.test", "to": to, "subject": "Order", "text": "Thanks",
			"attachments": []any{map[string]any{"filename": "bill.txt", "content": "QmlsbA=="}, map[string]any{"filename": "n.txt", "content": "QUJD" + strings.Repeat("QUFB", n)}}})
		if err != nil || status != http.StatusAccepted {
			t.Fatalf("%d %v %v", status, answer, err)
		}
		l.mu.Lock()
		l.promised[answer["id"].(string)] = to
		l.mu.Unlock()
	}
}

// settle waits until everything promised has arrived and was told of, and says how many copies too many there were.
func (l *ledger) settle(t *testing.T) (copies int) {
	t.Helper()
	until(t, 2*time.Minute, "every arrival and every webhook", func() bool {
		missing, untold := l.open()
		return missing == 0 && untold == 0
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.arrived {
		copies += n - 1
	}
	for id, ids := range l.told {
		if len(ids) != 1 {
			t.Errorf("%s was told under %d ids", id, len(ids))
		}
	}
	return copies
}

// A shop outgrows its machine: it moves to PostgreSQL and a bucket with mail in the queue, and later back. Nothing is lost or sent
// twice, and the webhooks of what was delivered before the move do not come again.
func TestAnInstallationMovesWithMailInItsQueueAndGoesOnDelivering(t *testing.T) {
	t.Parallel()
	postgres, s3 := dbtest.URL(t, "postgres"), bucket(t)
	internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	l, port, hook := newLedger(t)
	here, back := t.TempDir(), t.TempDir()
	secret := []string{"--secret", "a secret that all homes of this shop share"}
	serve := func(storage []string, roles string) *process {
		return start(t, append(append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--insecure-test-network", "--resolver", internet.DNS,
			"--smtp-port", port, "--roles", roles}, storage...), secret...)...)
	}
	move := func(wantErr string, args ...string) string {
		t.Helper()
		stdout, stderr, err := run(t, append([]string{"migrate"}, args...)...)
		if wantErr == "" && err != nil || wantErr != "" && (err == nil || !strings.Contains(stderr, wantErr)) {
			t.Fatalf("%v: %v: %s", args, err, stderr)
		}
		return stdout
	}

	p := serve([]string{"--data", here}, "api,worker")
	key := p.shop(t, internet, hook, append([]string{"--data", here}, secret...))
	l.sendLetters(t, p, key, "before", 20)
	l.settle(t)
	there := []string{"--from", here, "--to", postgres, "--to", s3}
	move("another postrider is running", there...)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p = serve([]string{"--data", here}, "api")
	l.sendLetters(t, p, key, "waiting", 60)
	p.kill()
	said := move("", there...)
	if !strings.Contains(said, "61 blobs") {
		t.Errorf("moved: %s", said)
	}
	move("not empty", there...)

	p = serve([]string{"--data", here, "--database-url", postgres, "--blob-url", s3}, "api,worker")
	l.sendLetters(t, p, key, "after", 20)
	if copies := l.settle(t); copies != 0 {
		t.Errorf("%d copies after the move", copies)
	}
	move("connected to the database", "--from", postgres, "--from", s3, "--to", back)
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p = serve([]string{"--data", here, "--database-url", postgres, "--blob-url", s3}, "api")
	l.sendLetters(t, p, key, "again", 20)
	p.kill()
	move("", "--from", postgres, "--from", s3, "--to", back)
	p = serve([]string{"--data", back}, "api,worker")
	l.sendLetters(t, p, key, "home", 5)
	if copies := l.settle(t); copies != 0 {
		t.Errorf("%d copies after the move back", copies)
	}
	p.APIKey = key
	for id := range l.promised {
		until(t, deliveredWithin, "the state of "+id, func() bool { return p.status(id) == "delivered" })
	}
}

func TestNothingWritesIntoADatabaseThatWasMovedUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	here, there := installed(t), t.TempDir()
	if _, stderr, err := run(t, "migrate", "--from", here, "--to", there); err != nil {
		t.Fatal(stderr)
	}
	verb := []string{"workspace", "create", "--name", "Late", "--owner-email", "late@shop.test", "--owner-password", "long enough, too"}
	for _, refused := range [][]string{verb, {"serve", "--http", "127.0.0.1:0"}, {"serve", "--http", "127.0.0.1:0", "--roles", "api"}} {
		if _, stderr, err := run(t, append(refused, "--data", here)...); code(err) != 2 || !strings.Contains(stderr, "moved to another storage") {
			t.Errorf("%v: %d %q", refused, code(err), stderr)
		}
	}
	for _, args := range [][]string{append(verb, "--data", there), {"adopt", "--data", here}, append(verb, "--data", here)} {
		if _, stderr, err := run(t, args...); err != nil {
			t.Errorf("%v: %s", args, stderr)
		}
	}
}

func TestACopyThatIsMovedIsACopyThere(t *testing.T) {
	t.Parallel()
	restored, there := filepath.Join(t.TempDir(), "restored"), t.TempDir()
	for _, args := range [][]string{{"restore", "--from", backedUp(t, installed(t)), "--data", restored}, {"migrate", "--from", restored, "--to", there}} {
		if _, stderr, err := run(t, args...); err != nil {
			t.Fatal(stderr)
		}
	}
	if _, stderr, err := run(t, "serve", "--http", "127.0.0.1:0", "--data", there); code(err) != 2 || !strings.Contains(stderr, "comes from a backup") {
		t.Errorf("%d %q", code(err), stderr)
	}
}

func TestAMoveToAPlaceWithAnotherSecretCopiesNothing(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	if _, stderr, err := run(t, "workspace", "create", "--data", here, "--name", "Shop", "--owner-email", "olga@shop.test", "--owner-password", "long enough, too"); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if err := os.WriteFile(filepath.Join(there, "secret"), []byte("the secret of another installation"), 0o600); err != nil {
		t.Fatal(err)
	}

	_, stderr, err := run(t, "migrate", "--from", here, "--to", there)

	if _, copied := os.Stat(filepath.Join(there, "postrider.db")); code(err) != 1 || !strings.Contains(stderr, "exists and is another") || copied == nil {
		t.Errorf("ended with %d: %s; the database there: %v", code(err), stderr, copied)
	}
}
