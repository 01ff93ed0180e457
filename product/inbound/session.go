package inbound

import (
	"context"
	"crypto/tls"
	"io"
	"net/netip"
	"strings"

	"postrider/mail/address"
	"postrider/mail/smtp"
	"postrider/product/domain"
	"postrider/product/email"
)

// Limits of the door.
const (
	// maxMessage is the largest message that is taken for people.
	maxMessage = 35 << 20
	// maxReport is the largest message that is taken at a return path; a bounce may bring the whole message back.
	maxReport = 45 << 20
	// maxRecipients is the number every server must be able to take (RFC 5321 §4.5.3.1.8).
	maxRecipients = 100
	// maxConnections bounds memory; maxConnectionsPerIP leaves room for others when one address opens as many as it can.
	maxConnections      = 4000
	maxConnectionsPerIP = 1500
	// maxHops is how many servers a message may have passed; more is a loop (RFC 5321 §6.3).
	maxHops = 100
)

// Server returns a server for the door.
func (s *Service) Server(settings *tls.Config) (*smtp.Server, error) {
	return smtp.NewServer(smtp.Config{Hostname: s.host, Clock: s.world.Clock, Log: s.world.Log, TLS: settings, MaxMessageBytes: maxReport,
		MaxRecipients: maxRecipients, MaxConnections: maxConnections, MaxConnectionsPerIP: maxConnectionsPerIP,
		Handler: func(_ context.Context, conn *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
			return &session{service: s, conn: conn, peer: addressOf(conn.Remote)}, nil
		}})
}

// session is one connection of another server. A message is for people, or for one return path, or for the installation.
type session struct {
	service *Service
	conn    *smtp.ConnInfo
	peer    netip.Addr

	from smtp.Path
	size int64
	// people are whom the message under way is for.
	people []mailbox
	// returned is the recipient of ours that it came back for, and forwarded the one it was passed on for.
	returned  email.RecipientID
	forwarded string
	// operator is an address of the installation itself.
	operator string
}

// mailbox is an address of a domain that receives.
type mailbox struct {
	address string
	domain  domain.Domain
}

var (
	replyNoAuth   = smtp.NewReply(535, "5.7.8", "Authentication is not offered here")
	replyOneOnly  = smtp.NewReply(452, "4.5.3", "One kind of recipient a message, please")
	replyNobody   = smtp.NewReply(550, "5.1.1", "No such recipient here")
	replyNoRelay  = smtp.NewReply(550, "5.7.1", "Mail for this domain is not taken here")
	replyTooLarge = smtp.NewReply(552, "5.3.4", "The message is too large")
	replyBroken   = smtp.NewReply(554, "5.6.0", "The header of the message cannot be read")
	replyLoop     = smtp.NewReply(554, "5.4.6", "The message has passed too many servers")
	replyTrouble  = smtp.NewReply(451, "4.3.0", "The message could not be stored, try again later")
	replyTooSoon  = smtp.NewReply(451, "4.3.0", "What became of the message is not known yet, try again later")
	replyStored   = smtp.NewReply(250, "2.0.0", "Stored")
)

// Auth is for customers, and they come by another door.
func (*session) Auth(context.Context, string, string, string) *smtp.Reply { return replyNoAuth }

// Mail begins a message. Bounces have no sender, and every other sender is only a claim.
func (s *session) Mail(_ context.Context, from smtp.Path, params smtp.MailParams) *smtp.Reply {
	if !s.service.throttle.message(s.peer) {
		return replySlowDown
	}
	s.forget()
	s.from, s.size = from, params.Size
	return nil
}

// Rcpt takes the return paths that we made, the addresses of domains that receive, those of the installation, and nothing else.
func (s *session) Rcpt(ctx context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	refusal := s.recipient(ctx, to)
	if refusal != nil && refusal.Permanent() && !s.service.throttle.refused(s.peer) {
		return replySlowDown
	}
	return refusal
}

func (s *session) recipient(ctx context.Context, to smtp.Path) *smtp.Reply {
	if id, ok := s.service.delivery.ReturnedTo(to.Local); ok {
		if s.taken() {
			return replyOneOnly
		}
		s.returned = id
		return nil
	}
	if sender, ok := s.service.forwardedFor(to.Local); ok && s.from.IsNull() {
		if s.taken() {
			return replyOneOnly
		}
		s.forwarded = sender
		return nil
	}
	if s.service.isOperators(to) {
		if s.taken() && s.operator == "" {
			return replyOneOnly
		}
		s.operator = to.String()
		return nil
	}
	return s.person(ctx, to)
}

// person takes an address of a domain that receives. Addresses that ask to be sent on to another host are relaying by other means.
func (s *session) person(ctx context.Context, to smtp.Path) *smtp.Reply {
	name, err := address.ParseDomain(to.Domain)
	if err != nil || strings.ContainsAny(to.Local, "%!@") {
		return replyNoRelay
	}
	d, receives, err := s.service.domains.ForReceiving(ctx, name)
	switch {
	case err != nil:
		s.service.world.Log.Error("recipient could not be looked up", "domain", name, "error", err)
		return replyTrouble
	case !receives && s.service.isReturnHost(name):
		return replyNobody
	case !receives:
		return replyNoRelay
	case s.size > maxMessage:
		return replyTooLarge
	case s.returned != "" || s.forwarded != "" || s.operator != "":
		return replyOneOnly
	}
	s.people = append(s.people, mailbox{address: smtp.Path{Local: to.Local, Domain: name}.String(), domain: d})
	return nil
}

// taken tells whether there is a recipient already.
func (s *session) taken() bool {
	return s.returned != "" || s.forwarded != "" || s.operator != "" || len(s.people) > 0
}

// Data takes the message, and answers when it is stored.
func (s *session) Data(ctx context.Context, r io.Reader) *smtp.Reply {
	limit := int64(maxReport)
	if len(s.people) > 0 {
		limit = maxMessage
	}
	content, refusal := s.service.readContent(ctx, r, limit)
	if refusal != nil {
		return refusal
	}
	switch envelope := s.envelope(); {
	case s.returned != "":
		return s.service.takeReport(ctx, s.returned, envelope, content)
	case s.forwarded != "" || s.operator != "":
		return s.service.takeOperators(ctx, envelope, content)
	default:
		return s.service.takeMail(ctx, envelope, s.people, content)
	}
}

// envelope is what the other server said before the message.
func (s *session) envelope() Envelope {
	e := Envelope{MailFrom: s.from.String(), Helo: s.conn.Hello, TLS: s.conn.TLS != nil, extended: s.conn.Extended}
	if s.peer.IsValid() {
		e.RemoteIP = s.peer.String()
	}
	for _, m := range s.people {
		e.RcptTo = append(e.RcptTo, m.address)
	}
	switch {
	case s.operator != "":
		e.RcptTo = []string{s.operator}
	case s.forwarded != "":
		e.RcptTo = []string{s.forwarded}
	}
	return e
}

// Reset forgets the message.
func (s *session) Reset() { s.forget() }

func (s *session) forget() {
	s.from, s.size, s.people, s.returned, s.forwarded, s.operator = smtp.Path{}, 0, nil, "", "", ""
}

// Logout has nothing to forget.
func (*session) Logout() {}
