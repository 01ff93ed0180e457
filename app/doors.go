package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"postrider/mail/smtp"
)

// door is an address that people and programs come to, and where its listener and its real address are kept.
type door struct {
	flag, address string
	// wished is an address that is taken instead if nobody has it.
	wished   string
	listener *net.Listener
	shown    *string
}

func (s *server) doors() []door {
	return []door{
		{"--http", s.config.HTTP, "", &s.http, &s.ready.HTTP},
		{"--https", s.config.HTTPS, "", &s.https, &s.ready.HTTPS},
		{"--submission", s.config.Submission, s.config.WishedSubmission, &s.submission, &s.ready.Submission},
		{"--submissions", s.config.Submissions, "", &s.submissions, &s.ready.Submissions},
		{"--mx", s.config.MX, "", &s.mx, &s.ready.MX},
		{"--admin", s.config.Admin, "", &s.admin, &s.ready.Admin},
	}
}

// checkDoors finds addresses that can never be listened on, before anything is made.
func (s *server) checkDoors() error {
	taken := map[string]string{}
	for _, door := range s.doors() {
		if door.address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(door.address)
		if err != nil {
			return doorError(door.flag, door.address, err)
		}
		if other := taken[door.address]; other != "" && port != "0" {
			return Misconfigured{fmt.Errorf("%s and %s have the same address %s; give one of them another port", other, door.flag, door.address)}
		}
		taken[door.address] = door.flag
	}
	return nil
}

func (s *server) listen() error {
	for _, door := range s.doors() {
		listener, err := door.listen()
		if err != nil {
			s.closeListeners()
			return doorError(door.flag, door.address, err)
		}
		if listener != nil {
			*door.listener, *door.shown = listener, listener.Addr().String()
		}
	}
	if s.http != nil {
		s.ready.HTTP = "http://" + s.ready.HTTP
	}
	if s.https != nil {
		s.ready.HTTPS = "https://" + s.ready.HTTPS
	}
	switch {
	case s.config.BaseURL != "":
	case s.https != nil && s.config.Dev == nil:
		s.config.BaseURL = "https://" + s.config.ServiceDomain + portOf(s.https)
	default:
		s.config.BaseURL = s.ready.HTTP
	}
	return nil
}

// listen opens the TCP address of a door; the empty address opens none.
func (d door) listen() (net.Listener, error) {
	if d.address == "" {
		return nil, nil
	}
	if d.wished != "" {
		if listener, err := net.Listen("tcp", d.wished); err == nil {
			return listener, nil
		}
	}
	return net.Listen("tcp", d.address)
}

// doorError says which door could not be opened, and what to do about it.
func doorError(flag, address string, err error) error {
	var reason *net.DNSError
	var malformed *net.AddrError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s: another program uses this address; stop it (ss -ltnp shows which) or choose another address for %s",
			flag, address, flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: only privileged programs may use this port; choose one above 1023, or give the program the right: "+
			"setcap cap_net_bind_service=+ep on it, or AmbientCapabilities=CAP_NET_BIND_SERVICE in its systemd unit", flag, address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s: this machine does not have the address; use one that ip addr shows, or 0.0.0.0 for all", flag, address)
	case errors.As(err, &malformed):
		return Misconfigured{fmt.Errorf("%s %s: %s; write it as host:port, such as 0.0.0.0:25", flag, address, malformed.Err)}
	case errors.As(err, &reason):
		return fmt.Errorf("%s %s: host or port is not known (%s); use an address of this machine and a number, such as 0.0.0.0:25",
			flag, address, reason.Err)
	}
	return fmt.Errorf("%s %s: %w", flag, address, err)
}

func (s *server) closeListeners() {
	for _, listener := range []net.Listener{s.http, s.https, s.admin, s.submission, s.submissions, s.mx} {
		if listener != nil {
			listener.Close()
		}
	}
}

const (
	// A client that sends its headers slower than this is not a client.
	headerTimeout = 10 * time.Second
	bodyTimeout   = 5 * time.Minute
	// answerTimeout is enough for the largest export on a slow line. Streams have deadlines of their own.
	answerTimeout = 30 * time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// open starts every door.
func (s *server) open(ctx context.Context) ([]*http.Server, []*smtp.Server, error) {
	var web []*http.Server
	plain := s.publicHandler()
	if s.https != nil && s.config.Dev == nil {
		plain = s.plainHandler()
	}
	for _, door := range []struct {
		listener net.Listener
		handler  http.Handler
	}{{s.http, plain}, {s.https, s.withPolicy(s.withSecurity(s.publicHandler()))}, {s.admin, s.adminHandler()}} {
		if door.listener == nil {
			continue
		}
		server := &http.Server{
			Handler: door.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, WriteTimeout: answerTimeout,
			IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx },
			ErrorLog: slog.NewLogLogger(s.world.Log.Handler(), slog.LevelDebug),
		}
		server.RegisterOnShutdown(s.app.API.EndStreams)
		web = append(web, server)
		serve := func() error { return server.Serve(door.listener) }
		if door.listener == s.https {
			server.TLSConfig = webTLS(s.certificates)
			serve = func() error { return server.ServeTLS(door.listener, "", "") }
		}
		s.serving.Go(func() {
			if err := serve(); !errors.Is(err, http.ErrServerClosed) {
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
	var all []*smtp.Server
	for _, door := range []struct {
		listener net.Listener
		make     func() (*smtp.Server, error)
	}{
		{s.mx, func() (*smtp.Server, error) {
			settings := mailTLS(s.certificates)
			s.app.Inbound.Opened(s.mx.Addr(), settings)
			return s.app.Inbound.Server(settings)
		}},
		{s.submission, func() (*smtp.Server, error) { return s.app.Submission.Server(mailTLS(s.certificates), false) }},
		{s.submissions, func() (*smtp.Server, error) { return s.app.Submission.Server(mailTLS(s.certificates), true) }},
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
