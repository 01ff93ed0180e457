package test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// abyss takes connections and never says a word.
func abyss(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			conn.Close()
		}
	})
	return "http://" + listener.Addr().String()
}

// Five hundred customers' servers take every webhook and never answer. Mail goes on as before, and so do the webhooks of a server
// that answers; the process needs hardly more memory.
func TestFiveHundredEndpointsThatHangDisturbNobody(t *testing.T) {
	t.Parallel()
	const endpoints, emails = 500, 40
	plans := filepath.Join(t.TempDir(), "plans.toml")
	if err := os.WriteFile(plans, []byte("[unlimited.limits]\nwebhooks = 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	internet := start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")
	l, port, hook := newLedger(t)
	storage := []string{"--data", t.TempDir(), "--plans", plans}
	p := start(t, append([]string{"serve", "--domain", "mail.postrider.test", "--http", "127.0.0.1:0", "--insecure-test-network", "--resolver", internet.DNS,
		"--smtp-port", port}, storage...)...)
	p.APIKey = p.shop(t, internet, hook, storage)
	endpoint := func(url string) {
		status, answer, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/webhooks", map[string]any{"url": url, "events": []string{"email.delivered"}})
		if err != nil || status/100 != 2 {
			t.Fatalf("%d %v %v", status, answer, err)
		}
	}
	round := func(name string) time.Duration {
		begun := time.Now()
		ids := map[string]bool{}
		for n := range emails {
			status, sent, err := call(p.APIKey, http.MethodPost, p.HTTP+"/v1/emails",
				map[string]any{"from": "olga@shop.test", "to": fmt.Sprintf("%s%d@example.net", name, n), "subject": "Order", "text": "Thanks"})
			if err != nil || status != http.StatusAccepted {
				t.Fatalf("%d %v %v", status, sent, err)
			}
			ids[sent["id"].(string)] = true
		}
		for id := range ids {
			until(t, deliveredWithin, "delivery", func() bool { return p.status(id) == "delivered" })
			until(t, deliveredWithin, "webhook", func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return len(l.told[id]) == 1
			})
		}
		return time.Since(begun)
	}
	round("warm")
	alone := round("alone")
	hole := abyss(t)
	for n := range endpoints {
		endpoint(fmt.Sprintf("%s/%d", hole, n))
	}
	beside := round("beside")
	for n := 0; n < 4 && beside > answersWithin; n++ { // a busy machine is slow for a while; servers that hang do so always
		beside = min(beside, round(fmt.Sprintf("again%d-", n)))
	}
	before := p.memory()
	round("more")
	grown := p.memory() - before
	t.Logf("%d emails with their webhooks: %s alone, %s beside %d endpoints that hang; as many again cost %d MB", emails, alone, beside, endpoints, grown>>20)
	if beside > answersWithin {
		t.Errorf("somebody waited for an endpoint that hangs: %s alone became %s", alone, beside)
	}
	if grown > maxGrowth {
		t.Errorf("%d MB more", grown>>20)
	}
}

// answersWithin is what an endpoint may take to answer. Whoever stands behind one that hangs waits as long at the least; sending twenty
// thousand webhooks into the void is honest work, and takes a busy machine some seconds.
const answersWithin = 15 * time.Second

// maxGrowth is what twenty thousand further webhooks that nobody takes may cost. They wait in the database; memory has its tides.
const maxGrowth = 64 << 20
