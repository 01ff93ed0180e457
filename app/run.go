package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"postrider/mail/smtp"
	"postrider/world"
)

// Config says what to open and where to listen.
type Config struct {
	Storage
	Settings
	// HTTP, Submission, Submissions, MX and Admin are addresses to listen on; port 0 picks a free one, empty opens none.
	HTTP, Submission, Submissions, MX, Admin string
	// TLSCert and TLSKey are PEM files for the mail doors; without them a self-signed certificate is made.
	TLSCert, TLSKey string
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
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	config.API.SpoolDir = config.Dir // the machine's own may be in memory
	release, err := lockDir(config.Dir)
	if err != nil {
		return err
	}
	defer release()
	if config.Delivery.Node, err = nodeID(config.Dir, w); err != nil {
		return fmt.Errorf("id of this node: %w", err)
	}
	stores, err := config.Storage.Open(ctx, w)
	if err != nil {
		return err
	}
	defer stores.DB.Close()
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
	s.config.Settings.Receives = s.mx != nil
	s.app = Assemble(s.world, stores.DB, stores.Blobs, stores.Keys, s.config.Settings)
	return s.run(ctx)
}

// server is a running app with its doors.
type server struct {
	config Config
	world  world.World
	app    *App
	ready  Ready

	http, admin, submission, submissions, mx net.Listener
	serving                                  sync.WaitGroup
	failed                                   chan error
}

func (s *server) listen() error {
	for _, door := range []struct {
		name, address string
		listener      *net.Listener
		shown         *string
	}{
		{"--http", s.config.HTTP, &s.http, &s.ready.HTTP},
		{"--submission", s.config.Submission, &s.submission, &s.ready.Submission},
		{"--submissions", s.config.Submissions, &s.submissions, &s.ready.Submissions},
		{"--mx", s.config.MX, &s.mx, &s.ready.MX},
		{"--admin", s.config.Admin, &s.admin, &s.ready.Admin},
	} {
		listener, err := listen(door.address)
		if err != nil {
			s.closeListeners()
			return fmt.Errorf("%s %s: %w", door.name, door.address, err)
		}
		if listener != nil {
			*door.listener, *door.shown = listener, listener.Addr().String()
		}
	}
	if s.http != nil {
		s.ready.HTTP = "http://" + s.ready.HTTP
	}
	if s.config.BaseURL == "" {
		s.config.BaseURL = s.ready.HTTP
	}
	return nil
}

func (s *server) closeListeners() {
	for _, listener := range []net.Listener{s.http, s.admin, s.submission, s.submissions, s.mx} {
		if listener != nil {
			listener.Close()
		}
	}
}

func (s *server) run(ctx context.Context) error {
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	if err := s.app.Delivery.Start(working); err != nil {
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
	workers.Go(func() { s.app.work(working, s.app.Logs.Writer()) })
	if s.config.Workers {
		for _, w := range s.app.Workers() {
			workers.Go(func() { s.app.work(working, w) })
		}
	}
	if err := s.announce(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	s.world.Log.Info("stopping", "within", drainFor.String())
	draining, done := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer done()
	if err := s.app.Nodes.Leave(draining); err != nil {
		s.world.Log.Warn("leaving could not be announced", "error", err) // the list shows it soon, all the same
	}
	for _, server := range web {
		_ = server.Shutdown(draining) // past the deadline the process ends anyway
	}
	for _, server := range mail {
		_ = server.Shutdown(draining)
	}
	stopWork()
	workers.Wait()
	s.serving.Wait()
	return errors.Join(err, s.app.Inbound.Closed(draining), s.app.Delivery.Drain(draining), s.app.Webhooks.Drain(draining), s.app.Automations.Drain(draining), s.app.Logs.Flush(draining))
}

const (
	// A client that sends its headers slower than this is not a client.
	headerTimeout = 10 * time.Second
	bodyTimeout   = 5 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// open starts every door.
func (s *server) open(ctx context.Context) ([]*http.Server, []*smtp.Server, error) {
	var web []*http.Server
	for _, door := range []struct {
		listener net.Listener
		handler  http.Handler
	}{{s.http, s.publicHandler()}, {s.admin, s.adminHandler()}} {
		if door.listener == nil {
			continue
		}
		server := &http.Server{Handler: door.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout,
			MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx }}
		server.RegisterOnShutdown(s.app.API.EndStreams)
		web = append(web, server)
		s.serving.Go(func() {
			if err := server.Serve(door.listener); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- err
			}
		})
	}
	mail, err := s.openMail(ctx)
	return web, mail, err
}

func (s *server) openMail(ctx context.Context) ([]*smtp.Server, error) {
	if s.mx == nil && s.submission == nil && s.submissions == nil {
		return nil, nil
	}
	host := "mx1." + s.config.ServiceDomain
	certificate, err := s.certificate(host)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	var all []*smtp.Server
	for _, door := range []struct {
		listener net.Listener
		make     func() (*smtp.Server, error)
	}{
		{s.mx, func() (*smtp.Server, error) {
			settings := serverTLS(certificate)
			s.app.Inbound.Opened(s.mx.Addr(), settings)
			return s.app.Inbound.Server(settings)
		}},
		{s.submission, func() (*smtp.Server, error) { return s.app.Submission.Server(serverTLS(certificate), false) }},
		{s.submissions, func() (*smtp.Server, error) { return s.app.Submission.Server(serverTLS(certificate), true) }},
	} {
		if door.listener == nil {
			continue
		}
		server, err := door.make()
		if err != nil {
			return nil, err
		}
		all = append(all, server)
		s.serving.Go(func() {
			if err := server.Serve(ctx, door.listener); err != nil && ctx.Err() == nil {
				s.failed <- err
			}
		})
	}
	return all, nil
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
