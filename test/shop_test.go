package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// shop is a customer on an installation of one process, with a ledger of what was answered and what arrived.
type shop struct {
	*ledger
	t        *testing.T
	internet *process
	port     string // of the recipients' server
	resolver string
	storage  []string
	settings []string // further flags
	address  string   // of the API; empty until it was first up
	key      string
	p        *process
	sent     atomic.Int64
}

const shopSecret = "a secret that all runs of this shop share"

// openShop starts an installation on the storage and registers a customer in it, who hears of deliveries by webhook; by another build of
// the program if one is given.
func openShop(t *testing.T, build []string, storage ...string) *shop {
	t.Helper()
	s, hook := newShop(t, build, storage...)
	s.key = s.p.shopBy(t, build, s.internet, hook, s.storage)
	return s
}

// newShop starts an installation that has no customer yet.
func newShop(t *testing.T, build []string, storage ...string) (s *shop, hook string) {
	t.Helper()
	s = &shop{t: t, internet: start(t, "dev", "--data", t.TempDir(), "--http", "127.0.0.1:0")}
	s.ledger, s.port, hook = newLedger(t)
	s.resolver, s.storage = s.internet.DNS, append(storage, "--data", t.TempDir(), "--secret", shopSecret)
	s.serve(build...)
	return s, hook
}

func (s *shop) arguments() []string {
	address := s.address
	if address == "" {
		address = "127.0.0.1:0"
	}
	return append(append([]string{"serve", "--domain", "mail.postrider.test", "--http", address, "--insecure-test-network", "--resolver", s.resolver, "--smtp-port", s.port,
		"--admin", "127.0.0.1:0"}, s.storage...), s.settings...)
}

// serve starts the installation, behind another command if one is given.
func (s *shop) serve(wrapper ...string) {
	s.t.Helper()
	s.p = startWith(s.t, wrapper, s.arguments()...)
	s.address = strings.TrimPrefix(s.p.HTTP, "http://")
}

// tryServe is serve for an installation that may not live to be ready.
func (s *shop) tryServe(wrapper ...string) bool {
	s.t.Helper()
	s.p = launch(s.t, wrapper, s.arguments()...)
	return s.p.comesUp()
}

// data is the data directory.
func (s *shop) data() string {
	for i, word := range s.storage {
		if word == "--data" {
			return s.storage[i+1]
		}
	}
	return ""
}

// sell lets customers send until the returned function is called; it returns once the last of them has his answer.
func (s *shop) sell(customers int) (enough func()) {
	return s.sellVia(customers, func() string { return "http://" + s.address })
}

func (s *shop) sellVia(customers int, url func() string) (enough func()) {
	running, stop := context.WithCancel(s.t.Context())
	var senders sync.WaitGroup
	for range customers {
		senders.Go(func() {
			for running.Err() == nil {
				n := s.sent.Add(1)
				s.promiseTo(s.t.Context(), s.t, url, s.key, fmt.Sprintf("user-%d@d%d.test", n, n%killSites))
			}
		})
	}
	return func() { stop(); senders.Wait() }
}

// counts is what a row of a table says.
type counts struct{ accepted, arrived, lost, doubled, refused int }

// tally waits until everything promised has arrived and was told of, or for as long as it may, and counts.
func (s *shop) tally(within time.Duration) counts {
	s.t.Helper()
	deadline := time.Now().Add(within)
	for missing, untold := s.open(); missing+untold > 0 && time.Now().Before(deadline); missing, untold = s.open() {
		<-time.After(lookEvery)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := counts{accepted: len(s.promised), arrived: len(s.arrived), refused: s.refused + s.broken}
	promised, misTold := map[string]bool{}, 0
	for id, to := range s.promised {
		if promised[to] {
			s.t.Errorf("one key has two emails for %s", to)
		}
		promised[to] = true
		if s.arrived[to] == 0 {
			c.lost++
		}
		if len(s.told[id]) != 1 {
			misTold++
		}
	}
	if misTold > 0 {
		s.t.Errorf("the webhook was not told of %d emails under exactly one id", misTold)
	}
	for to, n := range s.arrived {
		c.doubled += n - 1
		if !promised[to] {
			s.t.Errorf("%s got mail that nobody was promised", to)
		}
	}
	if s.t.Failed() {
		s.t.Logf("%d posts; accepted %d, arrived %d", s.posts, c.accepted, c.arrived)
	}
	return c
}

// after waits for a length of time: faults happen in real time.
func after(length time.Duration) { <-time.After(length) }

// table is what make faults and make cluster-test print.
type table struct {
	mu            sync.Mutex
	rows          []string
	lost, doubled int
}

func (tb *table) add(t *testing.T, fault, engine, invariant string, c counts) {
	t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.rows = append(tb.rows, fmt.Sprintf("| %s | %s | %s | %d | %d | %d | %d | %d |", fault, engine, invariant, c.accepted, c.arrived, c.lost, c.doubled, c.refused))
	t.Log(tb.rows[len(tb.rows)-1])
	tb.lost, tb.doubled = tb.lost+c.lost, tb.doubled+c.doubled
	if c.lost > 0 {
		t.Errorf("%s on %s: %d of %d were lost", fault, engine, c.lost, c.accepted)
	}
	if c.accepted == 0 {
		t.Errorf("%s on %s: nothing was accepted", fault, engine)
	}
}

func (tb *table) print(name string) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\n| fault | engine | invariant | accepted | arrived | lost | doubled | refused and tried again |\n|---|---|---|---|---|---|---|---|\n", name)
	for _, row := range tb.rows {
		b.WriteString(row + "\n")
	}
	fmt.Fprintf(&b, "\nlost %d, doubled %d\n", tb.lost, tb.doubled)
	fmt.Fprint(os.Stdout, b.String())
}

// clockFile moves the clock of a shop.
func (s *shop) clockFile() string { return filepath.Join(s.data(), "clock") }

func (s *shop) setClock(offset string) {
	s.t.Helper()
	path := s.clockFile()
	if err := os.WriteFile(path+".new", []byte(offset), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.t.Fatal(err)
	}
}
