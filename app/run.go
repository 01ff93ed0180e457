package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"postrider/app/tracing"
	"postrider/mail/smtp"
	"postrider/platform/custody"
	"postrider/platform/db"
	"postrider/platform/reseal"
	"postrider/product/domain"
	"postrider/product/node"
	"postrider/world"
)

// Config says what to open and where to listen.
type Config struct {
	Storage
	Settings
	// HTTP, HTTPS, Submission, Submissions, MX and Admin are addresses to listen on; port 0 picks a free one, empty opens none. Beside
	// HTTPS the plain door only sends people there.
	HTTP, HTTPS, Submission, Submissions, MX, Admin string
	// WishedSubmission is listened on instead of Submission if no other program has it.
	WishedSubmission string
	// TLSCert and TLSKey are PEM files for all doors; without them ACME gets certificates, and without that one is self-signed.
	TLSCert, TLSKey string
	// ACME gets certificates by itself; nil gets none.
	ACME *ACME
	// Tracing is where spans are sent; nil sends none.
	Tracing *tracing.Config
	// ReadyFile is written when every listener is up.
	ReadyFile string
	// Workers is false on nodes that only answer requests.
	Workers bool
	// Dev is set for an installation on a laptop, with its own small internet.
	Dev *Dev
	// Print tells the person at the terminal what they can do now.
	Print func(Ready)
}

// drainFor is how long a stop may take: conversations with servers are let end, new ones are not begun.
const drainFor = 30 * time.Second

// Run opens everything, serves until ctx ends, and then stops in order: no new requests, no new work, what is under way ends, the
// database closes last.
func Run(ctx context.Context, w world.World, config Config) error {
	planned := &server{config: config, world: w}
	if err := errors.Join(config.Storage.check(), planned.checkDoors(), planned.checkCertificates()); err != nil {
		return err
	}
	if err := config.Storage.makeDir(); err != nil {
		return err
	}
	config.API.SpoolDir = config.Dir // the machine's own may be in memory
	stopTracing, err := openTracing(ctx, &w, config)
	if err != nil {
		return err
	}
	defer stopTracing()
	release, err := lockDir(config.Dir)
	if err != nil {
		return err
	}
	defer release()
	// Whoever waits for the file must not find that of the last run.
	if err := os.Remove(config.ReadyFile); config.ReadyFile != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--ready-file: %w", err)
	}
	if config.Delivery.Node, err = nodeID(config.Dir, w); err != nil {
		return fmt.Errorf("id of this node: %w", err)
	}
	if config.Dev != nil {
		if err := claimForSandbox(config.Storage); err != nil {
			return err
		}
	}
	stores, err := config.Storage.Open(ctx, w)
	if err != nil {
		return err
	}
	defer stores.DB.Close()
	if err := config.mayWork(ctx, stores.DB); err != nil {
		return err
	}
	if err := ownSecret(reseal.Witness(ctx, stores.DB, stores.Keys)); err != nil {
		return err
	}
	s := &server{config: config, world: w}
	if err := s.listen(); err != nil {
		return err
	}
	defer s.closeListeners()
	if config.Dev != nil {
		if err := config.Dev.open(ctx, &s.world, &s.config, s); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		defer config.Dev.close()
	}
	s.assemble(stores)
	if s.certificates, err = s.openCertificates(ctx, stores.DB, stores.Keys); err != nil {
		return err
	}
	defer s.certificates.close()
	return s.run(ctx)
}

// mayWork refuses to work on a copy, which would do again what the original has done. In the sandbox nothing leaves the machine.
func (c Config) mayWork(ctx context.Context, d *db.DB) error {
	if !c.Workers || c.Dev != nil {
		return nil
	}
	aside, err := custody.Aside(ctx, d)
	if err == nil && aside == custody.Copied {
		err = errCopy
	}
	return err
}

// assemble builds the app with what only a listening server knows.
func (s *server) assemble(stores Stores) {
	s.config.Settings.Receives = s.mx != nil
	s.config.Checks.Certificate = s.mailCertificate
	_, s.config.Checks.Clock = s.world.Clock.(world.SystemClock)
	s.config.CustomerHosts = s.config.CustomerHosts || s.config.ACME != nil
	s.app = Assemble(s.world, stores.DB, stores.Blobs, stores.Keys, s.config.Settings)
}

// server is a running app with its doors.
type server struct {
	config Config
	world  world.World
	app    *App
	ready  Ready

	http, https, admin, submission, submissions, mx net.Listener

	certificates certificates
	readiness    readiness
	serving      sync.WaitGroup
	failed       chan error
}

// mailCertificate is what other servers are shown, nil before there is one.
func (s *server) mailCertificate() *x509.Certificate {
	return shown(s.certificates, domain.Hosts{Service: s.config.ServiceDomain}.MX()[0])
}

// checkDouble refuses a data directory that was copied from a node that runs. An embedded database has one process.
func (s *server) checkDouble(ctx context.Context) error {
	if !s.app.DB.Shared() {
		return nil
	}
	err := s.app.Nodes.CheckDouble(ctx)
	if errors.Is(err, node.ErrDouble) {
		err = Misconfigured{fmt.Errorf("%w: every node needs a data directory of its own; if %s is a copy of another's, remove the file node from it", err, s.config.Dir)}
	}
	return err
}

func (s *server) run(ctx context.Context) error {
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if err := s.app.Accounts.CheckPlans(ctx); err != nil {
		return err
	}
	if err := s.checkDouble(ctx); err != nil {
		return err
	}
	if err := s.app.Delivery.Start(working); err != nil {
		return err
	}
	if err := s.app.Nodes.CheckClock(ctx); err != nil { // before anything is claimed
		return err
	}
	s.failed = make(chan error, 8)
	web, mail, err := s.open(working)
	if err != nil {
		return err
	}
	var workers sync.WaitGroup
	if s.mx != nil {
		if _, err := s.app.Inbound.Beat(working); err != nil {
			return err
		}
		workers.Go(func() { s.app.work(working, s.app.Inbound.HeartBeat()) })
	}
	if s.config.BlobURL != "" {
		workers.Go(func() { s.tryBucket(working) })
	}
	workers.Go(func() { s.app.work(working, s.app.Logs.Writer()) })
	workers.Go(func() { s.app.work(working, s.app.API.Limits()) })
	if s.config.Workers {
		for _, w := range s.app.Workers() {
			workers.Go(func() { s.app.work(working, w) })
		}
	}
	if err = s.announce(ctx); err == nil {
		select {
		case <-ctx.Done():
		case err = <-s.failed:
		}
	}
	s.world.Log.Info("stopping", "within", drainFor.String())
	draining, done := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer done()
	s.shut(draining, web, mail)
	stopWork()
	workers.Wait()
	s.serving.Wait()
	err = errors.Join(err, s.app.Inbound.Closed(draining), s.app.Delivery.Drain(draining), s.app.Webhooks.Drain(draining),
		s.app.Automations.Drain(draining))
	// A slow server may have taken all of the time, and what it said is yet to be written.
	flushing, flushed := context.WithTimeout(context.WithoutCancel(ctx), flushFor)
	defer flushed()
	return errors.Join(err, s.app.Logs.Flush(flushing))
}

// flushFor is how long the last lines of the log may take to be written.
const flushFor = 3 * time.Second

// closeFor is how long clients may take to finish; what is left of drainFor belongs to the mail that is on its way.
const closeFor = drainFor / 3

// shut closes the doors, and tells the other nodes meanwhile: with the database away that takes long, and no door may stay open for it.
func (s *server) shut(ctx context.Context, web []*http.Server, mail []*smtp.Server) {
	ctx, done := context.WithTimeout(ctx, closeFor)
	defer done()
	var closing sync.WaitGroup
	for _, server := range web {
		closing.Go(func() { _ = server.Shutdown(ctx) }) // past the deadline the process ends anyway
	}
	for _, server := range mail {
		closing.Go(func() { _ = server.Shutdown(ctx) })
	}
	if err := s.app.Nodes.Leave(ctx); err != nil {
		s.world.Log.Warn("leaving could not be announced", "error", err) // the list shows it soon, all the same
	}
	closing.Wait()
}

// announce tells the terminal and the ready file, once everything is up.
func (s *server) announce(ctx context.Context) error {
	if s.config.Dev != nil {
		if err := s.config.Dev.seed(ctx, s.app, &s.ready); err != nil {
			return fmt.Errorf("prepare dev workspace: %w", err)
		}
	}
	if s.config.ReadyFile != "" {
		if err := writeAtomically(s.config.ReadyFile, s.ready); err != nil {
			return fmt.Errorf("ready file: %w", err)
		}
	}
	if s.config.Print != nil {
		s.config.Print(s.ready)
	}
	return nil
}
