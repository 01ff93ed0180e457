package inbound

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/domain"
	"postrider/product/email"
)

// ingestBody is a message that a customer hands in: as it would come over the wire, or in parts.
type ingestBody struct {
	Raw         string            `json:"raw" doc:"The whole message (RFC 5322), plain or in base64, instead of its parts."`
	MailFrom    string            `json:"mail_from" example:"ann@example.net"`
	RcptTo      api.Strings       `json:"rcpt_to" doc:"Defaults to to, cc and bcc." example:"[\"support@acme.test\"]"`
	From        string            `json:"from" example:"Ann <ann@example.net>"`
	To          api.Strings       `json:"to" example:"[\"support@acme.test\"]"`
	Cc          api.Strings       `json:"cc"`
	Bcc         api.Strings       `json:"bcc"`
	Subject     string            `json:"subject" example:"Re: Welcome"`
	Text        string            `json:"text" example:"Thanks!"`
	HTML        string            `json:"html" example:"<p>Thanks!</p>"`
	Headers     map[string]string `json:"headers"`
	Attachments []email.FileBody  `json:"attachments"`
	InReplyTo   string            `json:"in_reply_to" example:"<0193a1ef0d5c7c338e0a2b7c1d9e4f00@acme.test>"`
	DryRun      bool              `json:"dry_run" doc:"Only store it: no webhooks, nothing passed on." example:"false"`
}

func (s *Service) handleIngest(ctx context.Context, caller api.Caller, r struct{ Body ingestBody }) (Record, error) {
	var wrong api.Fields
	raw := r.Body.message(&wrong, s.world.NewID(), s.world.Clock.Now())
	recipients := r.Body.recipients(&wrong)
	if err := wrong.Err(); err != nil {
		return Record{}, err
	}
	people := make([]mailbox, len(recipients))
	for i, to := range recipients {
		d, err := s.domains.ByName(ctx, caller.Workspace, to.Domain)
		if errors.Is(err, domain.ErrNotYours) {
			return Record{}, api.Invalid(to.field, to.Domain+" is not a domain of this workspace.")
		}
		if err != nil {
			return Record{}, err
		}
		if !caller.MayUseDomain(string(d.ID)) {
			return Record{}, api.DomainNotAllowed(d.Name)
		}
		people[i] = mailbox{address: to.Addr(), domain: d}
	}
	return s.ingest(ctx, Envelope{MailFrom: r.Body.sender()}, people, raw, !r.Body.DryRun, caller.Test)
}

// ingest stores a message that did not come over the wire. It is checked first, so that it is complete when its caller gets it; one that is
// only passed on cannot be looked at later.
func (s *Service) ingest(ctx context.Context, e Envelope, people []mailbox, raw []byte, tell, test bool) (record Record, err error) {
	c, refusal := s.readContent(ctx, bytes.NewReader(raw), maxMessage)
	switch {
	case refusal == replyTooLarge:
		return record, api.ErrTooLarge
	case refusal == replyBroken:
		return record, api.Invalid("raw", "The header of the message cannot be read.")
	case refusal != nil:
		return record, api.ErrUnavailable
	}
	l := readLetter(c.fields)
	if l.hops > maxHops {
		return record, api.Invalid("raw", "The message has passed too many servers.")
	}
	arrivals, err := s.newArrivals(ctx, e, people, c, l)
	if err != nil {
		return record, err
	}
	findings := make([]finding, len(arrivals))
	for i := range arrivals {
		arrivals[i].message.Source, arrivals[i].message.test = SourceIngest, test
		if findings[i], err = s.check(ctx, arrivals[i].message, c); err != nil {
			return record, err
		}
	}
	settled := make([]Message, len(arrivals))
	err = s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if err := insertArrivals(tx, arrivals); err != nil {
			return err
		}
		for i, a := range arrivals {
			if settled[i], err = s.settle(tx, a.message, findings[i], tell); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return record, err
	}
	first := arrivals[0]
	return s.recordOf(ctx, settled[0], stored{content: first.content, id: first.message.ID, trace: first.trace, results: findings[0].results}, nil, true)
}

// sender is that of the envelope, or else the author.
func (b ingestBody) sender() string {
	if a, err := address.Parse(cmp.Or(b.MailFrom, b.From)); err == nil {
		return a.Addr()
	}
	return ""
}

// recipient is somebody whom a message is for, and the field that says so.
type recipient struct {
	address.Address
	field string
}

// recipients are those of the envelope, or else those that the message names.
func (b ingestBody) recipients(wrong *api.Fields) []recipient {
	named, count := slices.Concat(recipientsIn(wrong, "to", b.To), recipientsIn(wrong, "cc", b.Cc), recipientsIn(wrong, "bcc", b.Bcc)), len(b.To)+len(b.Cc)+len(b.Bcc)
	field := "to"
	if len(b.RcptTo) > 0 || b.Raw != "" && count == 0 {
		field, named, count = "rcpt_to", recipientsIn(wrong, "rcpt_to", b.RcptTo), len(b.RcptTo)
	}
	if count == 0 || count > maxRecipients {
		wrong.Add(field, fmt.Sprintf("Must have 1 to %d recipients.", maxRecipients))
	}
	if _, err := address.Parse(b.MailFrom); b.MailFrom != "" && err != nil {
		wrong.Add("mail_from", "Invalid email address: "+strings.TrimSuffix(err.Error(), ".")+".")
	}
	return named
}

func recipientsIn(wrong *api.Fields, field string, texts api.Strings) (list []recipient) {
	for i, text := range texts[:min(len(texts), maxRecipients)] {
		path := fmt.Sprintf("%s[%d]", field, i)
		a, err := address.Parse(text)
		if err != nil {
			wrong.Add(path, "Invalid email address: "+strings.TrimSuffix(err.Error(), ".")+".")
			continue
		}
		list = append(list, recipient{a, path})
	}
	return list
}

// message returns the bytes of the message, with line ends as they would come over the wire.
func (b ingestBody) message(wrong *api.Fields, id string, now time.Time) []byte {
	if b.Raw != "" {
		return withCRLF(decodeRaw(b.Raw))
	}
	m := message.Message{Subject: b.Subject, Text: b.Text, HTML: b.HTML, Date: now, MessageID: message.NewMessageID(id, "ingest.invalid"), Seed: id}
	var err error
	if m.From, err = address.Parse(b.From); err != nil {
		wrong.Add("from", "Invalid email address: "+strings.TrimSuffix(err.Error(), ".")+".")
	}
	for _, list := range []struct {
		from api.Strings
		to   *[]address.Address
	}{{b.To, &m.To}, {b.Cc, &m.Cc}} {
		for _, text := range list.from {
			if a, err := address.Parse(text); err == nil { // else the recipients say what is wrong
				*list.to = append(*list.to, a)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		value := b.Headers[name]
		if !message.ValidHeaderName(name) || !message.ValidHeaderValue(value) || message.Reserved(name) {
			wrong.Add("headers."+name, "Not a header that can be given here.")
			continue
		}
		m.Headers = append(m.Headers, message.Header{Name: name, Value: value})
	}
	if b.InReplyTo != "" {
		if len(messageIDs(b.InReplyTo)) != 1 || !message.ValidHeaderValue(b.InReplyTo) {
			wrong.Add("in_reply_to", "Must have the form <local@domain>.")
		}
		m.Headers = append(m.Headers, message.Header{Name: "In-Reply-To", Value: b.InReplyTo})
	}
	for i, f := range b.Attachments {
		if f.Path != "" || f.URL != "" {
			wrong.Add(fmt.Sprintf("attachments[%d].path", i), "Give the content itself.")
		}
		contentID := cmp.Or(f.ContentID, f.ContentIDCamel, f.InlineContentID)
		m.Attachments = append(m.Attachments, message.Attachment{Filename: f.Filename, ContentType: cmp.Or(f.ContentType, f.ContentTypeCamel), ContentID: contentID,
			Inline: contentID != "", Content: f.Content})
	}
	if wrong.Err() != nil {
		return nil
	}
	raw, err := m.Bytes()
	if err != nil {
		wrong.Add("_body", "The message cannot be composed: "+err.Error()+".")
	}
	return raw
}

// decodeRaw undoes base64. A message has a colon in its first line, and base64 has none.
func decodeRaw(text string) []byte {
	compact := strings.NewReplacer("\r", "", "\n", "").Replace(strings.TrimSpace(text))
	if !strings.ContainsRune(compact, ':') {
		if raw, err := base64.StdEncoding.DecodeString(compact); err == nil {
			return raw
		}
	}
	return []byte(text)
}

// withCRLF ends every line as SMTP does.
func withCRLF(raw []byte) []byte {
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	raw = bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n"))
	if !bytes.HasSuffix(raw, []byte("\r\n")) {
		raw = append(raw, "\r\n"...)
	}
	return raw
}
