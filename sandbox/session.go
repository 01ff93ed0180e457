package sandbox

import (
	"bytes"
	"context"
	"io"
	"net"

	"postrider/mail/smtp"
)

// session is one connection to the mail server. All recipients of one domain are at one provider, which stores one message
// for them.
type session struct {
	box  *Sandbox
	conn *smtp.ConnInfo
	line *line

	from      smtp.Path
	accepted  []smtp.Path    // recipients with mailboxes here
	relayed   []smtp.Path    // recipients whose mail belongs to the product
	delivered map[string]int // messages of this connection by provider; holds every provider with limits it came to
}

func (s *Sandbox) openSession(_ context.Context, conn *smtp.ConnInfo) (smtp.Session, *smtp.Reply) {
	return &session{box: s, conn: conn, line: conn.Remote.(lineAddr).line, delivered: make(map[string]int)}, nil
}

// leaving makes reply the last word of the connection (RFC 5321 §3.8).
func (s *session) leaving(reply *smtp.Reply) *smtp.Reply {
	s.line.leaving.Store(true)
	return reply
}

// Auth refuses: providers take mail from strangers, and nothing else.
func (s *session) Auth(context.Context, string, string, string) *smtp.Reply {
	return smtp.NewReply(535, "5.7.8", "Authentication failed")
}

// Mail notes the return path.
func (s *session) Mail(_ context.Context, from smtp.Path, _ smtp.MailParams) *smtp.Reply {
	s.from = from
	return nil
}

// isReport reports whether the message is a bounce or a complaint. Its recipients are always calm: a mood that answers mail with
// mail would otherwise answer itself.
func (s *session) isReport() bool { return s.from.IsNull() || s.from.Local == complainer }

// Rcpt decides by the recipient's provider and mood.
func (s *session) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	if s.box.isOurs(s.box.zone.mailHost(to.Domain)) {
		s.relayed = append(s.relayed, to)
		return nil
	}
	if refusal := s.overLimit(providerOf(to)); refusal != nil {
		return refusal
	}
	if !s.isReport() {
		if refusal := s.refusal(moodOf(to.Local), to); refusal != nil {
			return refusal
		}
	}
	s.accepted = append(s.accepted, to)
	return nil
}

// providerOf names the provider of a mailbox: its domain.
func providerOf(to smtp.Path) string {
	if to.Domain == "" {
		return hostname
	}
	return canonicalName(to.Domain)
}

// Data takes the message for all recipients that were accepted.
func (s *session) Data(ctx context.Context, r io.Reader) *smtp.Reply {
	if s.any(moodDrop) {
		io.ReadFull(r, make([]byte, 1)) // the client has its 354 and is talking
		s.line.Close()
		return replyNoRoom
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(r); err != nil {
		return replyNoRoom
	}
	if s.any(moodSlow) && !s.box.wait(ctx, slowFor) {
		return replyNoRoom
	}
	if len(s.relayed) > 0 {
		if refusal := s.box.relay(ctx, s.from, s.relayed, raw.Bytes()); refusal != nil {
			return refusal
		}
	}
	return s.store(raw.Bytes())
}

func (s *session) any(m mood) bool {
	for _, to := range s.accepted {
		if !s.isReport() && moodOf(to.Local) == m {
			return true
		}
	}
	return false
}

// store puts one message for each provider into the mailbox and lets the recipients react.
func (s *session) store(raw []byte) *smtp.Reply {
	byProvider := map[string][]smtp.Path{}
	var order []string
	for _, to := range s.accepted {
		name := providerOf(to)
		if byProvider[name] == nil {
			order = append(order, name)
		}
		byProvider[name] = append(byProvider[name], to)
	}
	for _, name := range order {
		m := s.message(name, byProvider[name], raw)
		if err := s.box.mailbox.add(m, s.box.zone.moment()); err != nil {
			s.box.world.Log.Error("sandbox could not store a message", "error", err)
			return replyNoRoom
		}
		if _, counted := s.delivered[name]; counted {
			s.delivered[name]++
		}
		if !s.isReport() {
			s.box.react(m.ID, byProvider[name])
		}
	}
	return nil
}

func (s *session) message(provider string, to []smtp.Path, raw []byte) *message {
	m := &message{
		ID:         s.box.world.NewID(),
		ReceivedAt: s.box.world.Clock.Now(),
		From:       s.from.String(),
		Provider:   provider,
		TLS:        s.conn.TLS != nil,
		Hello:      s.conn.Hello,
		Raw:        raw,
	}
	m.RemoteIP, _, _ = net.SplitHostPort(s.conn.Remote.String())
	for _, path := range to {
		m.To = append(m.To, path.String())
	}
	return m
}

// Reset forgets the transaction.
func (s *session) Reset() { s.from, s.accepted, s.relayed = smtp.Path{}, nil, nil }

// Logout ends the connection's stay at the providers.
func (s *session) Logout() { s.leaveProviders() }

// isOurs reports whether a mail server is one of the product.
func (s *Sandbox) isOurs(host string) bool {
	return host != "" && isUnder(host, s.config.ServiceDomain)
}
