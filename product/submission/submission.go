// Package submission is the door for programs that hand in mail over SMTP: on port 587 after STARTTLS, on port 465 under TLS from
// the first byte, with an API key as password.
//
// What is handed in is sent as it came. The same rules hold as for the API, and the same error codes stand behind the replies.
package submission

import (
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"

	"postrider/mail/smtp"
	"postrider/platform/api"
	"postrider/product/email"
	"postrider/world"
)

// Limits of the door.
const (
	// maxRecipients is that of one email.
	maxRecipients = 50
	// maxConnections and maxConnectionsPerIP let one busy application in without letting it shut out the others.
	maxConnections      = 2000
	maxConnectionsPerIP = 500
)

// users are the names that may stand before a key. All say the same; the second is what programs written for another service say.
var users = []string{"postrider", "resend"}

// Service answers programs that hand in mail.
type Service struct {
	world  world.World
	keys   *api.Server
	emails *email.Service
	host   string
	// observe is told of each message that was handed in.
	observe func(Submitted)
}

// New returns the service. host is the name it greets with.
func New(w world.World, keys *api.Server, emails *email.Service, host string) *Service {
	return &Service{world: w, keys: keys, emails: emails, host: host, observe: func(Submitted) {}}
}

// Server returns a server for one door; implicit means TLS from the first byte.
func (s *Service) Server(settings *tls.Config, implicit bool) (*smtp.Server, error) {
	return smtp.NewServer(smtp.Config{
		Hostname: s.host, Clock: s.world.Clock, Log: s.world.Log, TLS: settings, ImplicitTLS: implicit,
		RequireTLS: true, Auth: true, RequireAuth: true, MaxMessageBytes: email.MaxPostedBytes, MaxRecipients: maxRecipients,
		MaxConnections: maxConnections, MaxConnectionsPerIP: maxConnectionsPerIP, Handler: s.open,
	})
}

func (s *Service) open(_ context.Context, conn *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
	return &session{service: s, from: addressOf(conn.Remote)}, nil
}

func addressOf(remote net.Addr) netip.Addr {
	peer, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// authenticate returns whom the key stands for, if it may send.
func (s *Service) authenticate(ctx context.Context, key string, from netip.Addr) (api.Principal, error) {
	principal, err := s.keys.CheckKey(ctx, key, from)
	if err != nil {
		return principal, err
	}
	if !slices.Contains(principal.Scopes, "email:send") {
		return principal, api.ErrScope
	}
	return principal, nil
}

// replyTo turns an error into what the client is told.
func (s *Service) replyTo(err error) *smtp.Reply {
	var public *api.Error
	if !errors.As(err, &public) || public.Status >= 500 {
		s.world.Log.Error("mail could not be taken over SMTP", "error", err)
		return smtp.NewReply(451, "4.3.0", "Local trouble, try again later")
	}
	switch public.Status {
	case 402, 429:
		return smtp.NewReply(452, "4.5.3", public.Message)
	case 413:
		return smtp.NewReply(552, "5.3.4", public.Message)
	case 400:
		return invalid(public)
	}
	return smtp.NewReply(550, "5.7.1", public.Message)
}

// identityFields are those whose mistakes are about who speaks.
var identityFields = []string{"from", "sender", "resent-from", "resent-sender"}

func invalid(public *api.Error) *smtp.Reply {
	fields, _ := public.Details["fieldErrors"].(api.Fields)
	for _, name := range identityFields {
		if len(fields[name]) > 0 {
			return smtp.NewReply(550, "5.7.1", name+": "+fields[name][0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		return smtp.NewReply(554, "5.6.0", name+": "+fields[name][0])
	}
	return smtp.NewReply(554, "5.6.0", public.Message)
}
