package delivery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"postrider/mail/address"
	"postrider/mail/dkim"
	"postrider/mail/message"
	"postrider/product/email"
)

// tlsRequiredHeader lets a sender ask for delivery without regard to encryption, if it says "No" (RFC 8689 §5). Reports on broken
// encryption need that.
const tlsRequiredHeader = "TLS-Required"

// letter is a message, composed and signed once for all recipients that are mailed together.
type letter struct {
	once    sync.Once
	service *Service
	taken   email.Taken

	users    int   // guarded by letters.mu
	weight   int64 // what it takes of the room for large letters
	own      bool  // it is for one recipient alone
	raw      []byte
	headers  map[string]string
	utf8     bool // only a server with SMTPUTF8 may have it
	eightBit bool // it holds more than ASCII
	anyhow   bool // it must arrive even if encryption fails
	err      error
}

func (s *Service) newLetter(t email.Taken) *letter { return &letter{service: s, taken: t} }

// bytes returns the signed message. The same email gives the same message at every attempt, but for the time of the signature.
func (l *letter) bytes(ctx context.Context) ([]byte, error) {
	l.once.Do(func() {
		if l.err = l.enter(ctx); l.err == nil {
			l.err = l.compose(ctx)
		}
	})
	return l.raw, l.err
}

func (l *letter) compose(ctx context.Context) error {
	s, e := l.service, l.taken.Email
	said, err := s.emails.Letter(ctx, l.taken)
	if err != nil {
		return fmt.Errorf("load content: %w", err)
	}
	l.headers = said.Headers
	l.anyhow = slices.ContainsFunc(slices.Collect(maps.Keys(said.Headers)), func(name string) bool {
		return strings.EqualFold(name, tlsRequiredHeader) && strings.EqualFold(said.Headers[name], "no")
	})
	if said.Raw != nil {
		l.utf8 = message.NeedsUTF8(said.Raw)
		l.eightBit = slices.ContainsFunc(said.Raw, func(b byte) bool { return b >= utf8.RuneSelf })
		return l.sign(ctx, said.Raw)
	}
	m := message.Message{Subject: e.Subject, Date: e.CreatedAt, MessageID: e.MessageID, Text: said.Text, HTML: said.HTML, Seed: string(e.ID)}
	if !e.QueuedAt.IsZero() {
		m.Date = e.QueuedAt
	}
	if m.From, err = address.Parse(e.From); err != nil {
		return fmt.Errorf("stored sender: %w", err)
	}
	l.utf8 = m.From.NeedsUTF8()
	for _, list := range []struct {
		from []string
		to   *[]address.Address
	}{{e.Addresses.To, &m.To}, {e.Addresses.Cc, &m.Cc}, {e.Addresses.ReplyTo, &m.ReplyTo}} {
		for _, text := range list.from {
			a, err := address.Parse(text)
			if err != nil {
				return fmt.Errorf("stored address: %w", err)
			}
			l.utf8 = l.utf8 || a.NeedsUTF8()
			*list.to = append(*list.to, a)
		}
	}
	m.Headers = s.headersOf(l.taken, said.Headers)
	for _, a := range said.Attachments {
		m.Attachments = append(m.Attachments, message.Attachment{Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline,
			Open: func() (io.ReadCloser, error) { return s.emails.OpenAttachment(ctx, a) }})
	}
	var buffer bytes.Buffer
	if _, err := m.WriteTo(&buffer); err != nil {
		return fmt.Errorf("compose: %w", err)
	}
	return l.sign(ctx, buffer.Bytes())
}

// sign puts one signature of each key in front of the message.
func (l *letter) sign(ctx context.Context, composed []byte) error {
	signers, err := l.service.domains.Signers(ctx, l.taken.Domain)
	if err != nil {
		return err
	}
	signatures, err := l.service.signatures(composed, signers)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	l.raw = slices.Concat(signatures, composed)
	return nil
}

// signatures signs no more letters at once than keep the processors busy, and lets everybody else go first. Hundreds of conversations would share
// the processors out among their signatures, and whoever writes down what has been sent would wait for all of them.
func (s *Service) signatures(composed []byte, signers []*dkim.Signer) ([]byte, error) {
	s.pens <- struct{}{}
	defer func() { <-s.pens }()
	runtime.Gosched() // a pen that is handed on hands on the processor too
	return dkim.SignAll(composed, s.world.Clock.Now(), signers...)
}
