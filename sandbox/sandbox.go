// Package sandbox is a small internet in a box: a name server, and a mail server that plays every mailbox provider there is.
//
// Both speak their real protocols on loopback, so that a product under development or test delivers through its production
// code. Every domain exists and takes mail; the beginning of a recipient's local part chooses how the provider behaves
// (mood.go), and google.test, outlook.test and yahoo.test have limits of their own (provider.go). What was accepted lies in a
// mailbox with the verdicts a provider would reach from the records in DNS and the bytes it got.
//
//	Owns     zone.jsonl and mailbox/ in its directory
//	Follows  the product's records for a domain, when asked to publish them
//	Sends    bounces, complaints, opens and clicks, as the recipients' moods demand
//
// It belongs to development and tests. Its sockets wait by the machine's clock; everything a peer can notice (moods, times,
// delays) follows the clock of its world.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"postrider/mail/address"
	"postrider/mail/smtp"
	"postrider/world"
)

// Config says where the sandbox keeps its things and where it listens.
type Config struct {
	// Dir keeps the zone and the mailbox over restarts. If it is empty they live in a temporary directory that Close removes.
	Dir string
	// DNSAddr and SMTPAddr are where to listen; "127.0.0.1:0" if empty.
	DNSAddr  string
	SMTPAddr string
	// ServiceDomain is the domain the product itself runs under ("mail.postrider.test"). The sandbox publishes its records.
	ServiceDomain string
}

// Product is the installation that the sandbox surrounds. It is made known by Attach, since it needs the sandbox's name server
// before it can run.
type Product struct {
	// MXAddr is where it really takes mail for the names under the service domain.
	MXAddr string
	// HTTPAddr is where it really answers for tracking links, whatever host they name.
	HTTPAddr string
	// RecordsOf returns what its owner should publish for a domain, or ErrUnknownDomain.
	RecordsOf func(ctx context.Context, domain string) ([]Record, error)
}

// Record is one record of the domain name system.
type Record struct {
	// Type is its kind in capitals, such as "TXT".
	Type string
	// Name is the whole name it belongs to.
	Name  string
	Value string
	// Priority is the preference of an MX record.
	Priority int
}

// ErrUnknownDomain means that the product does not know the domain whose records were asked for.
var ErrUnknownDomain = errors.New("the product does not know this domain")

// errNotAttached means that the product has not been made known yet, or not this side of it.
var errNotAttached = errors.New("the product is not attached")

// Sandbox is a running sandbox. It is safe for use by several goroutines.
type Sandbox struct {
	world   world.World
	config  Config
	scratch string // a directory to remove on Close, or empty
	zone    *zone
	mailbox *mailbox
	product atomic.Pointer[Product]

	greylist  *contacts
	deferred  *contacts
	brokenTLS *contacts
	crowds    crowds
	pending   chan struct{} // holds a token for every reaction that waits or runs
	acting    chan struct{} // holds a token for every reaction that runs

	dnsAddr, smtpAddr string
	life              context.Context // ends with the sandbox; reactions outlive the connections that cause them
	cancel            context.CancelFunc
	running           sync.WaitGroup
}

// Open starts a sandbox. It stops working when ctx ends, and is gone when Close returns.
func Open(ctx context.Context, w world.World, config Config) (*Sandbox, error) {
	s := &Sandbox{
		world:     w,
		config:    config,
		greylist:  newContacts(maxContacts),
		deferred:  newContacts(maxContacts),
		brokenTLS: newContacts(maxContacts),
		crowds:    crowds{inside: make(map[string]int)},
		pending:   make(chan struct{}, maxPending),
		acting:    make(chan struct{}, maxActing),
	}
	s.life, s.cancel = context.WithCancel(ctx)
	if err := s.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open sandbox: %w", err), s.Close())
	}
	return s, nil
}

func (s *Sandbox) open() error {
	service, err := address.ParseDomain(s.config.ServiceDomain)
	if err != nil {
		return fmt.Errorf("service domain %q: %w", s.config.ServiceDomain, err)
	}
	s.config.ServiceDomain = service
	dir := s.config.Dir
	if dir == "" {
		scratch, err := os.MkdirTemp("", "postrider-sandbox-")
		if err != nil {
			return err
		}
		s.scratch, dir = scratch, scratch
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if s.zone, err = openZone(filepath.Join(dir, "zone.jsonl"), s.config.ServiceDomain); err != nil {
		return err
	}
	if s.mailbox, err = openMailbox(filepath.Join(dir, "mailbox"), maxMessages, maxMailboxBytes); err != nil {
		return err
	}
	if err := s.serveNames(orLoopback(s.config.DNSAddr)); err != nil {
		return err
	}
	return s.serveMail(orLoopback(s.config.SMTPAddr))
}

func orLoopback(addr string) string {
	if addr == "" {
		return "127.0.0.1:0"
	}
	return addr
}

// serveMail starts the mail server.
func (s *Sandbox) serveMail(addr string) error {
	certificate, err := s.newCertificate()
	if err != nil {
		return err
	}
	server, err := smtp.NewServer(smtp.Config{
		Hostname:       hostname,
		TLS:            s.tlsConfig(certificate),
		MaxConnections: maxConnections,
		Clock:          world.SystemClock{},
		Log:            s.world.Log,
		Handler:        s.openSession,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.smtpAddr = listener.Addr().String()
	s.running.Go(func() {
		if err := server.Serve(s.life, lineListener{listener}); err != nil && s.life.Err() == nil {
			s.world.Log.Error("sandbox mail server stopped", "error", err)
		}
	})
	return nil
}

// Attach makes the product known. Its addresses must be on loopback, because nothing may leave the sandbox.
func (s *Sandbox) Attach(p Product) error {
	var err error
	if p.MXAddr, err = onLoopback(p.MXAddr); err != nil {
		return err
	}
	if p.HTTPAddr, err = onLoopback(p.HTTPAddr); err != nil {
		return err
	}
	s.product.Store(&p)
	return nil
}

// Publish puts every record that the product asks for on a domain into DNS, as its owner would at the registrar.
func (s *Sandbox) Publish(ctx context.Context, domain string) error {
	_, err := s.publish(ctx, domain)
	return err
}

func (s *Sandbox) publish(ctx context.Context, domain string) ([]recordSet, error) {
	product := s.product.Load()
	if product == nil || product.RecordsOf == nil {
		return nil, errNotAttached
	}
	records, err := product.RecordsOf(ctx, domain)
	if err != nil {
		return nil, fmt.Errorf("records of %s: %w", domain, err)
	}
	sets, err := collect(records)
	if err != nil {
		return nil, err
	}
	return sets, s.zone.publish(sets...)
}

// onLoopback returns the address to dial for a listener's address.
func onLoopback(addr string) (string, error) {
	if addr == "" {
		return "", nil
	}
	at, err := netip.ParseAddrPort(addr)
	switch {
	case err != nil:
		return "", fmt.Errorf("address %q: %w", addr, err)
	case at.Addr().IsUnspecified():
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(at.Port()))), nil
	case !at.Addr().IsLoopback():
		return "", fmt.Errorf("address %s is not on loopback", addr)
	}
	return addr, nil
}

// DNSAddr returns where the name server listens, over UDP and TCP.
func (s *Sandbox) DNSAddr() string { return s.dnsAddr }

// SMTPAddr returns where the mail server listens.
func (s *Sandbox) SMTPAddr() string { return s.smtpAddr }

// Close cuts all connections, forgets the reactions that are still to come, and returns when everything has stopped.
func (s *Sandbox) Close() error {
	s.cancel()
	s.running.Wait()
	var problems []error
	if s.mailbox != nil {
		problems = append(problems, s.mailbox.close())
	}
	if s.zone != nil {
		problems = append(problems, s.zone.close())
	}
	if s.scratch != "" {
		problems = append(problems, os.RemoveAll(s.scratch))
	}
	return errors.Join(problems...)
}
