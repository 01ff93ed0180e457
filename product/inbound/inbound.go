// Package inbound takes mail from other servers: on port 25, with STARTTLS, for recipients we know.
//
// Today these are the return paths of mail we sent: bounce messages and complaints come there, and reach the email they are
// about. Whatever else is offered is refused while the other server can still tell its sender.
package inbound

import (
	"context"
	"crypto/tls"
	"io"

	"postrider/mail/smtp"
	"postrider/product/delivery"
	"postrider/product/email"
	"postrider/world"
)

// maxReport is the largest message that is taken at a return path; a bounce may bring the whole message back.
const maxReport = 45 << 20

// Service answers other mail servers.
type Service struct {
	world    world.World
	delivery *delivery.Service
	host     string
}

// New returns the service. host is the name it greets with.
func New(w world.World, d *delivery.Service, host string) *Service {
	return &Service{world: w, delivery: d, host: host}
}

// Server returns a server for the door.
func (s *Service) Server(settings *tls.Config) (*smtp.Server, error) {
	return smtp.NewServer(smtp.Config{Hostname: s.host, Clock: s.world.Clock, Log: s.world.Log, TLS: settings, MaxMessageBytes: maxReport,
		Handler: func(context.Context, *smtp.ConnInfo) (smtp.Session, *smtp.Reply) { return &session{service: s}, nil }})
}

// session is one connection of another server.
type session struct {
	service *Service
	// returned is the recipient of ours that the message under way came back for.
	returned email.RecipientID
}

var (
	replyNoAuth  = smtp.NewReply(535, "5.7.8", "Authentication is not offered here")
	replyOneOnly = smtp.NewReply(452, "4.5.3", "One return path a message, please")
	replyNobody  = smtp.NewReply(550, "5.1.1", "No such recipient here")
	replyTrouble = smtp.NewReply(451, "4.3.0", "The message could not be stored, try again later")
	replyStored  = smtp.NewReply(250, "2.0.0", "Stored")
)

// Auth is for customers, and they come by another door.
func (*session) Auth(context.Context, string, string, string) *smtp.Reply { return replyNoAuth }

// Mail begins a message. Bounces have no sender, and every other sender is only a claim.
func (s *session) Mail(context.Context, smtp.Path, smtp.MailParams) *smtp.Reply {
	s.returned = ""
	return nil
}

// Rcpt takes the return paths that we made, and nothing else.
func (s *session) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	id, ok := s.service.delivery.ReturnedTo(to.Local)
	switch {
	case !ok:
		return replyNobody
	case s.returned != "":
		return replyOneOnly
	}
	s.returned = id
	return nil
}

// Data takes the message, and answers when what it says is stored.
func (s *session) Data(ctx context.Context, r io.Reader) *smtp.Reply {
	kind, err := s.service.delivery.Reported(ctx, s.returned, r)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		s.service.world.Log.Error("report could not be stored", "recipient", s.returned, "error", err)
		return replyTrouble
	}
	s.service.world.Log.Info("message to a return path", "recipient", s.returned, "kind", kind)
	return replyStored
}

// Reset forgets the message.
func (s *session) Reset() { s.returned = "" }

// Logout has nothing to forget.
func (*session) Logout() {}
