package inbound

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/mail/arc"
	"postrider/mail/authres"
	"postrider/mail/message"
	"postrider/product/email"
)

// dropped are fields that a message leaves behind in any case: they are about its journey up to here, or about whom nobody may see.
var dropped = []string{"return-path", "bcc", "resent-bcc", "content-length"}

// rewrite makes a message that speaks in the name of the domain: every check of the next server is about us, and passes. An answer
// goes to the author.
func (s *Service) rewrite(f forwarding, fields []message.Field, p *email.PassedOn) error {
	author, err := address.Parse(f.message.From)
	name := author.Name
	if err != nil || name == "" {
		name = f.message.From
	}
	p.From = address.Address{Name: shown(name+" via "+f.domain.Name, maxShownText), Local: "fwd+" + strings.ReplaceAll(string(f.message.ID), "-", ""), Domain: f.domain.Name}
	answer := f.message.Addresses.ReplyTo
	if len(answer) == 0 && err == nil {
		answer = []string{f.message.From}
	}
	head, err := message.AppendField(s.forwardHead(f), "From", p.From.Header())
	if err != nil {
		return err
	}
	if list := headerList(answer); list != "" {
		if head, err = message.AppendField(head, "Reply-To", list); err != nil {
			return err
		}
	}
	// A signature over another From is broken, and some servers hold that against a message.
	gone := append([]string{"from", "sender", "reply-to", "dkim-signature", "domainkey-signature"}, dropped...)
	p.Head = appendFields(head, authres.Remove(fields, s.host), gone)
	return nil
}

// headerList writes addresses as the value of a field; what cannot be one is left out.
func headerList(list []string) string {
	var texts []string
	for _, text := range list {
		if a, err := address.Parse(text); err == nil {
			texts = append(texts, a.Header())
		}
	}
	return strings.Join(texts, ", ")
}

// passThrough leaves the message as it is, under an envelope of ours, with a seal about what we saw of it (RFC 8617).
func (s *Service) passThrough(ctx context.Context, f forwarding, fields []message.Field, p *email.PassedOn) error {
	author, err := address.Parse(f.message.From)
	if err != nil {
		author = address.Address{Local: "unknown", Domain: f.domain.Name}
	}
	p.From, p.ReturnPath = author, s.rewriteSender(f.message.Envelope.MailFrom, f.domain)
	p.Head = appendFields(s.forwardHead(f), authres.Remove(fields, s.host), dropped)
	seal, err := s.seal(ctx, f, p.Head)
	if err != nil {
		return err
	}
	p.Head = append(seal, p.Head...)
	return nil
}

// seal returns the fields that seal the message, or nothing if nobody may add to its chain.
func (s *Service) seal(ctx context.Context, f forwarding, head []byte) ([]byte, error) {
	within, done := context.WithTimeout(ctx, checkWithin)
	defer done()
	chain, err := s.verifyChain(ctx, within, f.content.content, f.message.CreatedAt)
	if err != nil {
		return nil, err
	}
	signers, err := s.domains.Signers(ctx, f.domain)
	if err != nil {
		return nil, err
	}
	going, _, err := message.ReadHeader(head)
	if err != nil {
		return nil, nil // too large for another field
	}
	in, err := s.openParts(ctx, f.content.content)
	if err != nil {
		return nil, err
	}
	defer in.close()
	results := f.content.results
	if results == "" {
		results = s.host + "; none"
	}
	seal, err := chain.Seal(signers[0], going, in.body, results, s.world.Clock.Now())
	for _, reason := range []error{arc.ErrEnded, arc.ErrUnjudged, arc.ErrFolded, arc.ErrResults} {
		if errors.Is(err, reason) {
			return nil, nil
		}
	}
	return seal, err
}

// forwardHead is what a message that is passed on begins with: the trace of its coming here, and a mark against loops.
func (s *Service) forwardHead(f forwarding) []byte {
	_, received, _ := strings.Cut(f.content.trace, "\r\n") // the return path is not passed on
	head := []byte(received)
	if f.content.results != "" {
		head = append(head, "Authentication-Results: "+f.content.results+"\r\n"...)
	}
	return append(head, forwardedField+": "+f.domain.Name+"\r\n"...)
}

// appendFields adds fields as they are, but for those that go. Lines that are no fields would end the header for some readers.
func appendFields(head []byte, fields []message.Field, gone []string) []byte {
	for _, f := range fields {
		if f.Name == "" || slices.Contains(gone, strings.ToLower(f.Name)) {
			continue
		}
		head = append(head, f.Raw...)
		if !bytes.HasSuffix(f.Raw, []byte("\n")) {
			head = append(head, "\r\n"...)
		}
	}
	return head
}
