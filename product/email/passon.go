package email

import (
	"context"
	"io"

	"postrider/mail/address"
	"postrider/platform/api"
)

const (
	// SourceReply is an answer to received mail.
	SourceReply Source = "reply"
	// SourceForward is received mail that is passed on.
	SourceForward Source = "forward"
)

// PassedOn is received mail on its way to others. It is sent as it is: what a reader may see is the business of whoever wrote it.
type PassedOn struct {
	// Domain is whose mail it was: its keys sign, and its standing decides whether it may go.
	Domain string
	// From is the author that the message shows; it may be anybody.
	From      address.Address
	To        []address.Address
	Subject   string
	MessageID string
	// ReturnPath is the envelope sender; empty means one of ours.
	ReturnPath string
	// Files is how many files are in it.
	Files int
	// Head are its header fields, and Body what follows the blank line; their lines end with CRLF.
	Head []byte
	Body io.Reader
	// Key names the act of passing it on: with the same key it is done once.
	Key string
}

// PassOn takes responsibility for a message that is passed on, as Accept does for one that we shall make.
func (s *Service) PassOn(ctx context.Context, sender Sender, p PassedOn) (Receipt, bool, error) {
	request := api.Idempotency{Workspace: sender.Workspace, Operation: "FORWARD", Key: p.Key, Hash: p.Key}
	from, err := s.permit(ctx, sender, p.Domain)
	if err != nil {
		return earlier[Receipt](ctx, s, request, err)
	}
	made := &readyMade{id: ID(s.world.NewID())}
	if err := s.keep(ctx, made, append(p.Head, "\r\n"...), p.Body); err != nil {
		return Receipt{}, false, err
	}
	untouched := false // links and pictures of somebody else's mail are not ours to count
	draft := Draft{From: p.From, To: p.To, Subject: cut(p.Subject, maxSubject), MessageID: p.MessageID, TrackOpens: &untouched, TrackClicks: &untouched, posted: made}
	rows, err := s.prepare(ctx, sender, draft, from)
	if err != nil {
		return Receipt{}, false, err
	}
	rows.email.Attachments, rows.email.ReturnPath = p.Files, p.ReturnPath
	return s.commit(ctx, sender, rows, request)
}
