package test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"postrider/platform/db/dbtest"
)

// A backup is made under load; then the machine burns down. What was acknowledged before the backup began is in it, and is delivered
// from wherever it is restored.
func TestWhatWasAcknowledgedBeforeABackupIsThereAfterItIsRestoredElsewhere(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			secret := []string{"--secret", "a secret that is not part of the backup"}
			old, elsewhere := []string{"--data", t.TempDir()}, []string{"--data", filepath.Join(t.TempDir(), "new")}
			if engine == "postgres" {
				old = append(old, "--database-url", dbtest.URL(t, "postgres")+"&statement_timeout=90s&pool_max_conns=20")
				// Another server, which has given out few transaction ids so far.
				elsewhere = append(elsewhere, "--database-url", startPostgres(t, "127.0.0.1").url())
			}
			internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
			l, port, hook := newLedger(t)
			serve := func(storage []string) *process {
				return start(t, append(append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--insecure-test-network", "--resolver",
					internet.DNS, "--smtp-port", port}, storage...), secret...)...)
			}
			p := serve(old)
			key := p.shop(t, internet, hook, append(old, secret...))
			l.sendLetters(t, p, key, "early", 20)

			running, enough := context.WithCancel(t.Context())
			var senders sync.WaitGroup
			for worker := range killSenders {
				senders.Go(func() {
					for n := 0; running.Err() == nil; n++ {
						l.promise(t.Context(), t, p.HTTP, key, fmt.Sprintf("user-%d-%d@d%d.test", worker, n, n%killSites))
					}
				})
			}
			until(t, deliveredWithin, "some load", func() bool { return l.count() > 200 })
			acknowledged := l.copy()
			out := filepath.Join(t.TempDir(), "backup")
			_, stderr, err := run(t, append(append([]string{"backup", "--out", out}, old...), secret...)...)
			if err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			during := l.count() - len(acknowledged)
			enough()
			senders.Wait()
			p.kill()

			if _, stderr, err = run(t, append(append([]string{"restore", "--from", out}, elsewhere...), secret...)...); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			if _, _, err = run(t, append(append([]string{"restore", "--from", out}, elsewhere...), secret...)...); err == nil {
				t.Error("a second restore over the first was not refused")
			}
			if _, stderr, err = run(t, append(append([]string{"serve", "--http", "127.0.0.1:0"}, elsewhere...), secret...)...); code(err) != 2 || !strings.Contains(stderr, "postrider adopt") {
				t.Errorf("a server on a copy ended with %d: %s", code(err), stderr)
			}
			if _, stderr, err = run(t, append(append([]string{"adopt"}, elsewhere...), secret...)...); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			restored := serve(elsewhere)
			restored.APIKey = key
			for id := range acknowledged {
				until(t, deliveredWithin, "delivery of "+id, func() bool { return restored.status(id) == "delivered" })
			}
			if files, err := filepath.Glob(filepath.Join(elsewhere[1], "blobs", "??", "*")); err != nil || len(files) != 21 {
				t.Errorf("%d blobs were restored, %v", len(files), err)
			}
			l.sendLetters(t, restored, key, "later", 3)
			until(t, deliveredWithin, "webhooks after the restore", func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				told := 0
				for id, to := range l.promised {
					if strings.HasPrefix(to, "later") && len(l.told[id]) == 1 {
						told++
					}
				}
				return told == 3
			})
			t.Logf("%d emails were acknowledged before the backup, %d while it was made; all of the first were restored and delivered", len(acknowledged), during)
		})
	}
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.promised)
}

func (l *ledger) copy() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.promised)
}
