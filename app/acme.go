package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"postrider/platform/certstore"
	"postrider/platform/db"
	"postrider/platform/seal"
	"postrider/product/domain"
	"postrider/world"
)

// ACME says how certificates are got by themselves.
type ACME struct {
	// Email is told to the authority, which writes to it when something is wrong. It may be empty.
	Email string
	// Directory is the address of the authority's directory; empty means Let's Encrypt.
	Directory string
	// Roots is a PEM file of those who vouch for the authority's own address, if the machine does not know them.
	Roots string
	// RenewRatio is which part of its life a certificate has left when it is renewed; 0 means a third.
	RenewRatio float64
	// LookEvery is how often certificates are looked at; 0 means ten minutes.
	LookEvery time.Duration
}

const (
	// mostCertificates bounds what is held in memory; the rest is read from the database when it is asked for.
	mostCertificates = 10_000
	// restAfterFailure is how long a customer's host that could not get a certificate is not tried again: authorities count failures.
	restAfterFailure = 10 * time.Minute
	// mostFailed bounds how many such hosts are remembered.
	mostFailed = 10_000
)

// authority gets certificates from an ACME server: for the installation's own hosts as soon as it starts, for customers' tracking hosts
// when somebody first asks for one. All nodes share them through the database.
type authority struct {
	world   world.World
	domains func(ctx context.Context, host string) (bool, error)
	own     []string // hosts of the installation
	host    string   // shown to those who ask for none
	spare   tls.Certificate
	cache   *certmagic.Cache
	managed *certmagic.Config // for own hosts, renewed by a timer
	asked   *certmagic.Config // for the others, got and renewed when they are asked for
	issuer  *certmagic.ACMEIssuer
	stop    func()

	mu     sync.Mutex
	failed map[string]time.Time // guarded by mu
}

// openACME begins to get the certificates of the installation, in the background.
func (s *server) openACME(ctx context.Context, d *db.DB, keys *seal.Keyring, host string) (certificates, error) {
	spare, err := SelfSigned(s.world, host)
	if err != nil {
		return nil, err
	}
	decoy, err := newDecoy()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	hosts := domain.Hosts{Service: s.config.ServiceDomain}
	a := &authority{world: s.world, host: host, spare: spare, failed: map[string]time.Time{},
		domains: func(ctx context.Context, host string) (bool, error) { return s.app.Domains.TracksAt(ctx, host) }}
	first := ownHosts(s.config.BaseURL, s.config.Delivery.Hello, host, hosts.Tracking())
	a.own = slices.Concat(first, hosts.MX(), policyHosts(hosts))
	a.stop = func() { cancel(); decoy.Close() }
	if err := a.configure(s.config.ACME, certstore.New(s.world, d, keys), decoy.Addr().(*net.TCPAddr)); err != nil {
		a.close()
		return nil, err
	}
	if err := a.managed.ManageAsync(ctx, first); err != nil {
		a.close()
		return nil, fmt.Errorf("certificates of %s: %w", strings.Join(first, ", "), err)
	}
	return a, nil
}

func (a *authority) configure(settings *ACME, storage certmagic.Storage, decoy *net.TCPAddr) error {
	log := zap.New(newDiary(a.world.Log))
	a.cache = certmagic.NewCache(certmagic.CacheOptions{Capacity: mostCertificates, RenewCheckInterval: settings.LookEvery, Logger: log,
		GetConfigForCert: func(c certmagic.Certificate) (*certmagic.Config, error) {
			if len(c.Names) > 0 && slices.Contains(a.own, c.Names[0]) {
				return a.managed, nil
			}
			return a.asked, nil
		}})
	template := certmagic.Config{Storage: storage, Logger: log, RenewalWindowRatio: settings.RenewRatio, DisableStorageCheck: true,
		OnEvent: a.note, DisableARI: settings.RenewRatio != 0}
	a.managed = certmagic.New(a.cache, template)
	template.OnDemand = &certmagic.OnDemandConfig{DecisionFunc: a.allow}
	a.asked = certmagic.New(a.cache, template)
	issuer := certmagic.ACMEIssuer{CA: settings.Directory, Email: settings.Email, Agreed: true, Logger: log,
		// The doors stand open already. Without an address that is taken, the library would open doors of its own.
		ListenHost: decoy.IP.String(), AltHTTPPort: decoy.Port, AltTLSALPNPort: decoy.Port}
	if issuer.CA == "" {
		issuer.CA = certmagic.LetsEncryptProductionCA
	}
	// Without this the library asks a test authority first after a failure, which a private one does not have.
	issuer.TestCA = issuer.CA
	var err error
	if issuer.TrustedRoots, err = settings.roots(); err != nil {
		return err
	}
	a.issuer = certmagic.NewACMEIssuer(a.managed, issuer)
	a.managed.Issuers, a.asked.Issuers = []certmagic.Issuer{a.issuer}, []certmagic.Issuer{certmagic.NewACMEIssuer(a.asked, issuer)}
	return nil
}

// roots reads who vouches for the authority; nil are those whom the machine knows.
func (a *ACME) roots() (*x509.CertPool, error) {
	if a.Roots == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(a.Roots)
	if err != nil {
		return nil, Misconfigured{fmt.Errorf("--acme-roots: %w", err)}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, Misconfigured{fmt.Errorf("--acme-roots %s: holds no certificate in PEM", a.Roots)}
	}
	return pool, nil
}

// ownHosts returns the names that certificates are got for at the start, each once. Addresses and names of one label get none.
func ownHosts(base string, names ...string) []string {
	if parsed, err := url.Parse(base); err == nil {
		names = append([]string{parsed.Hostname()}, names...)
	}
	var hosts []string
	for _, name := range names {
		if strings.Contains(name, ".") && net.ParseIP(name) == nil && !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

var (
	errForeign = errors.New("not a host of this installation, nor of a customer's verified domain")
	errResting = errors.New("getting a certificate failed a short while ago")
)

// allow decides whether a certificate may be got for a name that somebody asks for.
func (a *authority) allow(ctx context.Context, name string) error {
	a.mu.Lock()
	failed, resting := a.failed[name]
	a.mu.Unlock()
	if resting && a.world.Clock.Now().Before(failed.Add(restAfterFailure)) {
		return errResting
	}
	if slices.Contains(a.own, name) {
		return nil
	}
	tracks, err := a.domains(ctx, name)
	if err == nil && !tracks {
		err = errForeign
	}
	return err
}

// note remembers for which hosts there is no certificate to be had now.
func (a *authority) note(_ context.Context, event string, data map[string]any) error {
	name, _ := data["identifier"].(string)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch event {
	case "cert_failed":
		if len(a.failed) >= mostFailed {
			clear(a.failed)
		}
		a.failed[name] = a.world.Clock.Now()
	case "cert_obtained":
		delete(a.failed, name)
		a.world.Log.Info("certificate obtained", "host", name)
	}
	return nil
}

func (a *authority) forWeb(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Contains(a.own, hello.ServerName) {
		if found := a.newest(hello.ServerName); found != nil && !slices.Contains(hello.SupportedProtos, acmeProtocol) {
			return found, nil
		}
	}
	return a.asked.GetCertificate(hello)
}

// forMail shows the certificate of the asked name if it is at hand, else that of the mail host.
func (a *authority) forMail(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	for _, name := range []string{hello.ServerName, a.host} {
		if found := a.newest(name); found != nil {
			return found, nil
		}
	}
	if slices.Contains(a.own, hello.ServerName) && hello.Conn != nil {
		if found, err := a.asked.GetCertificate(hello); err == nil {
			return found, nil
		}
	}
	return &a.spare, nil
}

// newest returns the certificate of a name that is good for longest, nil if none is in memory.
func (a *authority) newest(name string) *tls.Certificate {
	var found *tls.Certificate
	var until time.Time
	if name == "" {
		return nil
	}
	for _, c := range a.cache.AllMatchingCertificates(name) {
		if c.Leaf != nil && c.Leaf.NotAfter.After(until) {
			found, until = &c.Certificate, c.Leaf.NotAfter
		}
	}
	return found
}

func (a *authority) close() {
	a.stop()
	a.cache.Stop()
}

// answersChallenge answers the authority when it asks at the plain door whether a host is ours.
func (a *authority) answersChallenge(w http.ResponseWriter, r *http.Request) bool {
	return a.issuer.HandleHTTPChallenge(w, r)
}
