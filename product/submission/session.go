package submission

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/mail/smtp"
	"postrider/platform/api"
	"postrider/product/domain"
	"postrider/product/email"
	"postrider/product/plan"
)

// session is one connection. It keeps the key and asks about it again with every message, so that a key that was revoked, or a
// workspace that was stopped, is refused at once.
type session struct {
	service *Service
	from    netip.Addr
	key     string

	caller     api.Principal
	recipients []address.Address
}

var (
	replyBadKey  = smtp.NewReply(535, "5.7.8", "Authentication failed: the user name is postrider and the password is an API key that may send")
	replyGuesser = smtp.NewReply(454, "4.7.0", "Too many failed authentications, try again later")
	replyTrouble = smtp.NewReply(454, "4.7.0", "Authentication is not possible now, try again later")
	replyNobody  = smtp.NewReply(550, "5.7.1", "A sender is required; bounces are not taken here")
)

// Auth takes a key. Every refusal of a key is one answer, whatever is wrong with it.
func (s *session) Auth(ctx context.Context, _, user, password string) *smtp.Reply {
	if !slices.Contains(users, strings.ToLower(user)) {
		return replyBadKey
	}
	_, err := s.service.authenticate(ctx, password, s.from)
	if err != nil {
		return s.refuseKey(err)
	}
	s.key = password
	return nil
}

func (s *session) refuseKey(err error) *smtp.Reply {
	var public *api.Error
	switch {
	case errors.Is(err, api.ErrRateLimit):
		return replyGuesser
	case !errors.As(err, &public) || public.Status >= 500:
		s.service.world.Log.Error("key could not be checked", "error", err)
		return replyTrouble
	}
	return replyBadKey
}

// Mail begins a message. The envelope's sender must be the caller's to use, as that of the header must.
func (s *session) Mail(ctx context.Context, from smtp.Path, _ smtp.MailParams) *smtp.Reply {
	caller, err := s.service.authenticate(ctx, s.key, s.from)
	if err != nil {
		return s.refuseKey(err)
	}
	s.caller, s.recipients = caller, nil
	if from.IsNull() {
		return replyNobody
	}
	sender, err := address.Parse(from.String())
	if err != nil {
		return smtp.NewReply(553, "5.1.7", "Sender refused: "+err.Error())
	}
	if err := s.service.keys.Count(ctx, caller, api.BucketSend); err != nil {
		return s.service.replyTo(err)
	}
	if err := s.service.emails.Permit(ctx, s.sender(), sender.Domain); err != nil {
		return s.service.replyTo(err)
	}
	return nil
}

// sender is the caller as the email slice knows it.
func (s *session) sender() email.Sender {
	caller := api.Caller{Principal: s.caller}
	return email.Sender{Workspace: caller.Workspace, Plan: plan.Name(caller.Plan), KeyID: caller.KeyID, Source: email.SourceSMTP, Test: caller.Test,
		MayUse: func(id domain.ID) bool { return caller.MayUseDomain(string(id)) }}
}

// Rcpt adds a recipient.
func (s *session) Rcpt(_ context.Context, to smtp.Path, _ smtp.RcptParams) *smtp.Reply {
	recipient, err := address.Parse(to.String())
	if err != nil {
		return smtp.NewReply(553, "5.1.3", "Recipient refused: "+err.Error())
	}
	s.recipients = append(s.recipients, recipient)
	return nil
}

// Data takes the message. The reply is given when it is stored.
func (s *session) Data(ctx context.Context, r io.Reader) *smtp.Reply {
	started := s.service.world.Clock.Now()
	message := &lastLook{Reader: r, look: func() error {
		_, err := s.service.authenticate(ctx, s.key, s.from)
		return err
	}}
	receipt, _, err := s.service.emails.AcceptPosted(ctx, s.sender(), email.Posted{Recipients: s.recipients, Host: s.service.host, Message: message})
	reply := smtp.NewReply(250, "2.0.0", "queued as "+string(receipt.ID))
	switch {
	case message.refused != nil:
		reply = s.refuseKey(message.refused)
	case message.broken != nil:
		reply = replyUnread(message.broken)
	case err != nil:
		reply = s.service.replyTo(err)
	}
	s.service.observe(Submitted{At: started, Took: s.service.world.Clock.Now().Sub(started), Caller: s.caller, From: s.from, Recipients: len(s.recipients),
		Receipt: receipt, Reply: reply})
	return reply
}

// replyUnread is what becomes of a message that did not come to its end. The server has its own words for it, if anybody still listens.
func replyUnread(err error) *smtp.Reply {
	var refused *smtp.RefusedError
	if errors.As(err, &refused) {
		return refused.Reply
	}
	return smtp.NewReply(451, "4.4.2", "The connection ended before the message did")
}

// lastLook is a message at whose end something is looked at once more: its key may have been revoked while it came, which can take long.
type lastLook struct {
	io.Reader
	look    func() error
	refused error
	broken  error
}

func (l *lastLook) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		l.broken = err
	case l.refused == nil:
		l.refused = l.look()
	}
	if l.refused != nil {
		err = l.refused
	}
	return n, err
}

// Reset forgets the message.
func (s *session) Reset() { s.recipients = nil }

// Logout forgets the key.
func (s *session) Logout() { s.key = "" }
