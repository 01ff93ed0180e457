package delivery

import (
	"context"
	"crypto/x509"
	"fmt"
	"mime"
	"net/http"
	"sync"
	"time"

	"postrider/mail/mtasts"
	"postrider/mail/tlspolicy"
	"postrider/mail/tlsrpt"
	"postrider/platform/db"
	"postrider/platform/httpout"
	"postrider/world"
)

const (
	// maxStandings bounds the domains remembered in memory, and maxDays those counted between two savings.
	maxStandings = 50_000
	maxDays      = 50_000
	// askReportsEvery is how often a domain is asked whether it wants reports.
	askReportsEvery = 24 * time.Hour
	// standingGrain is how much older what is stored may be than what is known: that encryption works is news only now and then.
	standingGrain = 6 * time.Hour
)

// standing is what is known of encryption with a recipient's domain.
type standing struct {
	STS    mtasts.Entry     `json:"sts"`
	Memory tlspolicy.Memory `json:"memory"`
	// WantsReports tells whether the domain wants to hear how its encryption works, and AskedAt when that was found out.
	WantsReports bool      `json:"wants_reports"`
	AskedAt      time.Time `json:"asked_at"`
}

// same tells whether storing the one in place of the other would be of no use.
func (s standing) same(stored standing) bool {
	a, b := s.Memory, stored.Memory
	return s.STS.TriedAt.Equal(stored.STS.TriedAt) && s.AskedAt.Equal(stored.AskedAt) && a.BrokenSince.Equal(b.BrokenSince) &&
		a.EncryptedAt.Sub(b.EncryptedAt).Abs() < standingGrain && a.VerifiedAt.Sub(b.VerifiedAt).Abs() < standingGrain
}

// encryption knows what domains wish of encryption and how well it worked with them. Connections tell it what they saw; what is
// news is stored a little later, and another node reads it when it next looks for the servers of the domain.
type encryption struct {
	world  world.World
	db     *db.DB
	node   string
	web    *httpout.Client
	finder mtasts.Finder
	roots  *x509.CertPool

	mu     sync.Mutex
	known  map[string]standing        // by domain; guarded by mu
	stored map[string]standing        // as they are in the database; guarded by mu
	days   map[tlsrpt.Key]*tlsrpt.Day // not yet stored; guarded by mu
}

func newEncryption(w world.World, d *db.DB, config Config) *encryption {
	e := &encryption{world: w, db: d, node: config.Node, roots: config.Roots, known: map[string]standing{}, stored: map[string]standing{},
		days: map[tlsrpt.Key]*tlsrpt.Day{}}
	e.web = httpout.New(httpout.Config{Policy: httpout.Policy{AllowPrivate: config.AllowPrivate, AnyLoopbackPort: config.AllowPrivate, RequireTLS: true},
		Resolver: w.Resolver, Dialer: w.Dialer, Clock: w.Clock, Roots: config.Roots, MaxResponseBytes: mtasts.MaxPolicyBytes + 1})
	e.finder = mtasts.Finder{Names: w.Resolver, Clock: w.Clock, Fetch: e.fetchPolicy}
	return e
}

func (e *encryption) fetchPolicy(ctx context.Context, host string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, mtasts.PolicyURL(host), nil)
	if err != nil {
		return nil, err
	}
	answer, err := e.web.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if answer.Status != http.StatusOK {
		return nil, fmt.Errorf("the policy host answered %d", answer.Status)
	}
	// RFC 8461 §3.3: a host that shows what strangers upload may show them at this path too, but not as plain text.
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != "text/plain" {
		return nil, fmt.Errorf("the policy host answered with %.50q, not with text/plain", kind)
	}
	return answer.Body, nil
}

// learn finds out what a domain wishes. It asks the network, and is called when the servers of the domain are looked up. What
// cannot be found out leaves in force what was known.
func (e *encryption) learn(ctx context.Context, domain string) (mtasts.Policy, error) {
	before, err := e.recall(ctx, domain)
	if err != nil {
		return mtasts.Policy{}, err
	}
	found := e.finder.Find(ctx, domain, before.STS)
	wants, askedAt := before.WantsReports, before.AskedAt
	if now := e.world.Clock.Now(); now.Sub(askedAt) > askReportsEvery {
		texts, _, err := e.world.Resolver.TXT(ctx, tlsrpt.RecordName(domain))
		_, noRecord := tlsrpt.ParseRecord(texts)
		wants, askedAt = err == nil && noRecord == nil, now.Truncate(time.Microsecond)
	}
	e.mu.Lock()
	now, have := e.known[domain]
	if !have { // forgotten meanwhile
		now = before
	}
	now.STS, now.WantsReports, now.AskedAt = found.Entry, wants, askedAt
	e.known[domain] = now
	e.mu.Unlock()
	if found.Problem != nil {
		e.count(domain, tlspolicy.PolicyProblem(domain, found.Problem))
	}
	return found.Policy, nil
}

// recall returns what is known of a domain, and reads it if another run or node may know more.
func (e *encryption) recall(ctx context.Context, domain string) (standing, error) {
	var stored standing
	err := e.db.Read(ctx, func(tx *db.Tx) (err error) {
		stored, err = selectStanding(tx, domain)
		return err
	})
	if err != nil {
		return standing{}, fmt.Errorf("what is known of the encryption with %s: %w", domain, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.known) >= maxStandings {
		e.forget()
	}
	now, have := e.known[domain]
	if !have || now.same(e.stored[domain]) {
		now = stored
	}
	e.known[domain], e.stored[domain] = now, stored
	return now, nil
}

// forget makes room. What is not stored yet stays. The caller holds mu.
func (e *encryption) forget() {
	for domain, s := range e.known {
		if s.same(e.stored[domain]) {
			delete(e.known, domain)
			delete(e.stored, domain)
		}
	}
}

// memory returns what worked with a domain.
func (e *encryption) memory(domain string) tlspolicy.Memory {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[domain].Memory
}

// remember changes what is known to work with a domain.
func (e *encryption) remember(domain string, change func(tlspolicy.Memory, time.Time) tlspolicy.Memory) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, have := e.known[domain]
	if !have { // forgotten meanwhile; to begin anew would overwrite what is stored
		return
	}
	s.Memory = change(s.Memory, e.world.Clock.Now().Truncate(time.Microsecond))
	e.known[domain] = s
}

// count adds connections to what a domain will hear of this day, if it wants to.
func (e *encryption) count(domain string, sessions ...tlsrpt.Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known[domain].WantsReports {
		return
	}
	key := tlsrpt.Key{Domain: domain, Date: e.world.Clock.Now().UTC().Format(time.DateOnly)}
	day := e.days[key]
	if day == nil {
		if len(e.days) >= maxDays {
			return
		}
		day = &tlsrpt.Day{Key: key}
		e.days[key] = day
	}
	for _, session := range sessions {
		day.Add(session)
	}
}
