// Package accounttest gives tests an installation with accounts: a database, a clock that moves when told to, a mailbox for
// what people are sent, and browsers that sign in.
package accounttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/db/dbtest"
	"postrider/platform/seal"
	"postrider/product/account"
	"postrider/product/plan"
	"postrider/world"
)

// BaseURL is where links in mails lead.
const BaseURL = "https://mail.acme.test"

// Clock only moves when told to.
type Clock struct {
	mu  sync.Mutex
	now time.Time // guarded by mu
}

// Now returns the time it was set to.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After never fires.
func (c *Clock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// Move sets the clock forward.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Letter is a mail that somebody was sent.
type Letter struct {
	To, Subject, Text string
}

// Token returns what follows the path in the letter's link.
func (l Letter) Token(path string) string {
	_, rest, _ := strings.Cut(l.Text, BaseURL+path)
	token, _, _ := strings.Cut(rest, "\n")
	return token
}

// Mailbox is a postman that keeps every letter.
type Mailbox struct {
	Letters []Letter
	// Broken is what the postman answers instead of keeping the letter.
	Broken error
}

// Post keeps the letter.
func (m *Mailbox) Post(_ context.Context, to, subject, text string) error {
	if m.Broken != nil {
		return m.Broken
	}
	m.Letters = append(m.Letters, Letter{to, subject, text})
	return nil
}

// House is an installation.
type House struct {
	T        testing.TB
	Clock    *Clock
	World    world.World
	DB       *db.DB
	Keyring  *seal.Keyring
	Plans    *plan.Service
	Accounts *account.Service
	Mails    *Mailbox
	Log      *Diary

	server http.Handler
}

// Diary keeps what was logged.
type Diary struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

// Write adds a line.
func (d *Diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.Write(p)
}

// String returns all lines.
func (d *Diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// Each runs test in an installation on every engine at hand. Its server has the routes of accounts.
func Each(t *testing.T, config account.Config, test func(t *testing.T, h *House)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, New(t, dbtest.URL(t, engine), config))
		})
	}
}

// New returns an installation on the database at an address.
func New(t testing.TB, url string, config account.Config) *House {
	t.Helper()
	h := &House{T: t, Clock: &Clock{now: time.Date(2026, 11, 15, 2, 0, 0, 0, time.UTC)}, Mails: &Mailbox{}, Log: &Diary{}}
	h.World = world.World{Clock: h.Clock, Random: rand.Reader, Log: slog.New(slog.NewJSONHandler(h.Log, nil))}
	var err error
	if h.DB, err = db.Open(context.Background(), h.World, db.Config{URL: url, Rehearse: true}); err != nil {
		t.Fatalf("open database: %v", err)
	}
	t.Cleanup(func() { h.DB.Close() })
	h.Keyring = seal.NewKeyring([]byte("a master secret of a test, 32 characters"))
	h.Plans = plan.New(plan.Shipped())
	config.BaseURL = BaseURL
	if config.Postman == nil && !config.Dev {
		config.Postman = h.Mails
	}
	h.Accounts = account.New(h.World, h.DB, h.Keyring, h.Plans, config)
	h.Serve(noKeys{})
	return h
}

// noKeys refuses every API key.
type noKeys struct{}

// Forget has nothing to forget.
func (noKeys) Forget(string) {}

// CheckKey refuses the key.
func (noKeys) CheckKey(context.Context, string, netip.Addr) (api.Principal, error) {
	return api.Principal{}, api.ErrInvalidKey
}

// Serve gives the installation a server with the routes of accounts and more.
func (h *House) Serve(keys api.KeyChecker, more ...api.Route) {
	h.server = api.NewServer(api.Config{World: h.World, Keys: keys, Sessions: h.Accounts, Rates: h.Plans.RateOf}, append(h.Accounts.Routes(), more...))
}

// Work runs the workers of accounts until none has anything left to do.
func (h *House) Work() {
	h.T.Helper()
	for _, worker := range h.Accounts.Workers() {
		for busy := true; busy; {
			var err error
			if busy, err = worker.Step(context.Background()); err != nil {
				h.T.Fatalf("worker %s: %v", worker.Name, err)
			}
		}
	}
}

// LastLetter runs the workers and returns the newest letter to an address.
func (h *House) LastLetter(to string) Letter {
	h.T.Helper()
	h.Work()
	for i := len(h.Mails.Letters) - 1; i >= 0; i-- {
		if h.Mails.Letters[i].To == to {
			return h.Mails.Letters[i]
		}
	}
	h.T.Fatalf("no letter to %s", to)
	return Letter{}
}
