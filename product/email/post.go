package email

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"postrider/mail/address"
	"postrider/mail/blocked"
	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/product/domain"
)

// Posted is a message that came ready made. It is sent as it came: signed parts stay signed, an invitation stays one.
type Posted struct {
	// Recipients are those of the envelope; the header decides nothing.
	Recipients []address.Address
	// Host is the name of the server that took the message, for its trace.
	Host string
	// Message has lines that end with CRLF.
	Message io.Reader
}

// MaxPostedBytes is the largest message that is taken ready made, as it comes.
const MaxPostedBytes = message.MaxBytes

// maxAdded is more than we add to a message: a trace, and the fields it lacks, with host names of 255 bytes. It comes on top, so that a
// message of the size that is announced is taken.
const maxAdded = 4 << 10

// inlineMessage is the largest message kept in the database; more goes to the blob store. It is larger than inlineContent because
// a message is read as a whole and once, and a file of its own costs an fsync of its own.
const inlineMessage = 128 << 10

// ErrPostedTooLarge means that a message, or a file in it, is larger than is taken.
var ErrPostedTooLarge = api.NewError(413, "payload_too_large", "validation_error", "The message is too large.")

// readyMade is a posted message on its way into the store.
type readyMade struct {
	id   ID
	raw  []byte   // if it is small
	blob blob.Ref // if it is not
	size int64
}

// AcceptPosted takes responsibility for a message that came ready made, as Accept does for one that we shall make.
func (s *Service) AcceptPosted(ctx context.Context, sender Sender, p Posted) (Receipt, bool, error) {
	in := bufio.NewReader(p.Message)
	head, err := message.CutHeader(in)
	if err != nil {
		return Receipt{}, false, postedProblem(err)
	}
	fields, _, err := message.ReadHeader(head)
	if err != nil {
		return Receipt{}, false, postedProblem(err)
	}
	var wrong api.Fields
	h := readPosted(&wrong, fields, p.Recipients, s.world.Clock.Now())
	h.plain = message.IsText(fields) && !message.IsEncoded(fields)
	from, err := s.permitPosted(ctx, sender, h, wrong)
	if err != nil && (h.draft.IdempotencyKey == "" || len(wrong["idempotency_key"]) > 0) {
		return Receipt{}, false, err
	}
	if err != nil {
		return s.earlierPosted(ctx, sender, h, io.MultiReader(bytes.NewReader(head), in), err)
	}
	files, err := s.keepPosted(ctx, h, p.Host, in)
	if err != nil {
		return Receipt{}, false, err
	}
	return s.acceptReadyMade(ctx, sender, h.draft, from, files)
}

// permitPosted returns the domain of the message if nothing is wrong with its header and the sender may speak for all it names.
func (s *Service) permitPosted(ctx context.Context, sender Sender, h *postedHeader, wrong api.Fields) (from domain.Domain, err error) {
	if err := wrong.Err(); err != nil {
		return from, err
	}
	if from, err = s.permit(ctx, sender, h.draft.From.Domain); err != nil {
		return from, err
	}
	for _, speaker := range h.speakers {
		if _, err := s.permit(ctx, sender, speaker); err != nil {
			return from, err
		}
	}
	return from, nil
}

// earlierPosted reads a message that is refused now, because what it says tells whether it was accepted before under its key.
func (s *Service) earlierPosted(ctx context.Context, sender Sender, h *postedHeader, whole io.Reader, refusal error) (Receipt, bool, error) {
	files, err := s.inspect(ctx, h, whole)
	if err != nil {
		return Receipt{}, false, refusal
	}
	return earlier[Receipt](ctx, s, files.request(sender, h.draft), refusal)
}

func (s *Service) acceptReadyMade(ctx context.Context, sender Sender, draft Draft, from domain.Domain, files inspection) (Receipt, bool, error) {
	request := files.request(sender, draft)
	rows, err := s.prepare(ctx, sender, draft, from)
	if err != nil {
		return earlier[Receipt](ctx, s, request, err)
	}
	rows.email.Attachments = files.files
	return s.commit(ctx, sender, rows, request)
}

// keepPosted puts the message together as it will be sent, looks at the files in it, and stores it if it is too large for a row.
func (s *Service) keepPosted(ctx context.Context, h *postedHeader, host string, body io.Reader) (inspection, error) {
	made := &readyMade{id: ID(s.world.NewID())}
	h.draft.posted = made
	if h.draft.MessageID == "" {
		h.draft.MessageID = message.NewMessageID(string(made.id), h.draft.From.Domain)
		h.kept = append(h.kept, []byte("Message-ID: "+h.draft.MessageID+"\r\n"))
	}
	now := s.world.Clock.Now().UTC().Format(time.RFC1123Z)
	if !h.dated {
		h.kept = append(h.kept, []byte("Date: "+now+"\r\n"))
	}
	trace := fmt.Sprintf("Received: by %s with ESMTPSA id %s;\r\n\t%s\r\n", host, made.id, now)
	raw := append([]byte(trace), bytes.Join(h.kept, nil)...)
	if err := s.keep(ctx, made, append(raw, "\r\n"...), body); err != nil {
		return inspection{}, err
	}
	if made.blob == "" {
		return s.inspect(ctx, h, bytes.NewReader(made.raw))
	}
	r, err := s.blobs.Open(ctx, made.blob)
	if err != nil {
		return inspection{}, api.ErrUnavailable.Because(fmt.Errorf("read message: %w", err))
	}
	defer r.Close()
	return s.inspect(ctx, h, r)
}

// keep stores the message that begins with head and goes on with body: with its row if it is small, else in the blob store.
func (s *Service) keep(ctx context.Context, made *readyMade, head []byte, body io.Reader) error {
	raw, err := fill(head, body)
	if err != nil {
		return err
	}
	if len(raw) <= inlineMessage {
		made.raw, made.size = raw, int64(len(raw))
		return nil
	}
	info, err := s.blobs.Put(ctx, io.MultiReader(bytes.NewReader(raw), body), MaxPostedBytes+maxAdded)
	if errors.Is(err, blob.ErrTooLarge) {
		return ErrPostedTooLarge
	}
	if err != nil {
		return api.ErrUnavailable.Because(fmt.Errorf("store message: %w", err))
	}
	made.blob, made.size = info.Ref, info.Size
	return nil
}

const (
	firstRoom    = 4 << 10
	smallMessage = 24 << 10
)

// fill appends what r holds, until it is more than a row may have. Small messages stay small, and others get all the room they may have
// at once, because many are on their way at a time and every step would be left to the collector.
func fill(raw []byte, r io.Reader) ([]byte, error) {
	for len(raw) <= inlineMessage {
		if len(raw) == cap(raw) {
			room := inlineMessage + 1
			if len(raw) < smallMessage {
				room = min(max(firstRoom, 2*len(raw)), smallMessage)
			}
			raw = append(make([]byte, 0, room), raw...)
		}
		n, err := r.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		if errors.Is(err, io.EOF) {
			return raw, nil
		}
		if err != nil {
			return raw, err
		}
	}
	return raw, nil
}

// inspection is what was found in a message that came ready made.
type inspection struct {
	files int // everything that is not there to be read
	named int // those that go by a name
	total int64
	hash  hash.Hash // of what the message says; nil if nobody will ask
}

// inspect refuses files that nobody may send, as an API call would.
func (s *Service) inspect(ctx context.Context, h *postedHeader, r io.Reader) (inspection, error) {
	found := inspection{}
	if h.draft.IdempotencyKey != "" {
		found.hash = sha256.New()
	} else if h.plain {
		return found, s.inspectText(ctx, r)
	}
	err := message.WalkStrictly(r, func(p *message.Part) error { return s.inspectPart(ctx, &found, p, 0) })
	return found, postedProblem(err)
}

func (s *Service) inspectPart(ctx context.Context, found *inspection, p *message.Part, depth int) error {
	body := p.Body
	if found.hash != nil {
		fmt.Fprintf(found.hash, "\n%s %q\n", p.Type, p.Names)
		body = io.TeeReader(p.Body, found.hash)
	}
	if !p.Attached {
		return s.inspectText(ctx, body)
	}
	if depth == 0 {
		found.files++
	}
	if len(p.Names) > 0 {
		if found.named++; found.named > maxFiles {
			return ErrPostedTooLarge.Saying(fmt.Sprintf("At most %d attachments are allowed.", maxFiles))
		}
	}
	for _, name := range namesOf(p) {
		if problem := blocked.Name(name); problem != "" {
			return api.Invalid("attachments", problem)
		}
		if blocked.IsDisguised(name) {
			return api.Invalid("attachments", "The name of a file must not contain control characters.")
		}
	}
	if p.Type == "message/partial" || p.Type == "message/external-body" {
		return api.Invalid("attachments", fmt.Sprintf("A part of type %s is not allowed: what the recipient gets is not in the message.", p.Type))
	}
	counted := &countingReader{from: body, left: min(maxFileBytes, maxFilesBytes-found.total)}
	err := s.inspectEnclosed(ctx, found, p, counted, depth)
	if err == nil {
		_, err = io.Copy(io.Discard, counted)
	}
	found.total += counted.size
	return err
}

// inspectText reads a text to its end, for the files that stand in it.
func (s *Service) inspectText(ctx context.Context, r io.Reader) error {
	return message.WalkText(r, func(name string, content io.Reader) error {
		if problem := blocked.Name(name); problem != "" {
			return api.Invalid("attachments", problem)
		}
		return s.inspectFile(ctx, []string{name}, content)
	})
}

// inspectFile looks for programs, and for what an archive holds. An archive has its list at the end, so it must be read whole;
// only so many are in memory at a time.
func (s *Service) inspectFile(ctx context.Context, names []string, r io.Reader) error {
	start := make([]byte, 8)
	n, err := io.ReadFull(r, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	content := start[:n]
	if blocked.IsArchive(content, names...) {
		if err := s.archives.Acquire(ctx, 1); err != nil {
			return api.ErrUnavailable.Because(err)
		}
		defer s.archives.Release(1)
		rest, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		content = append(content, rest...)
	}
	if problem := blocked.Content(content, names...); problem != "" {
		return api.Invalid("attachments", problem)
	}
	return nil
}

// request names the message by its key, if it has one.
func (i inspection) request(sender Sender, d Draft) api.Idempotency {
	if d.IdempotencyKey == "" {
		return api.Idempotency{}
	}
	return api.Idempotency{Workspace: sender.Workspace, Operation: "SMTP", Key: d.IdempotencyKey, Hash: i.sum(d), Test: sender.Test}
}

// sum tells messages apart by what they say. A program that tries again gives the same message a new date and new boundaries.
func (i inspection) sum(d Draft) string {
	fmt.Fprintf(i.hash, "\n%q %q %q %q %q %q %s", d.From, d.To, d.Cc, d.Bcc, d.Subject, d.Tags, d.scheduledAs)
	return hex.EncodeToString(i.hash.Sum(nil))
}

// countingReader fails once more was read than a file may have.
type countingReader struct {
	from io.Reader
	size int64
	left int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.size += int64(n)
	if c.size > c.left {
		return n, ErrPostedTooLarge.Saying("A file must have at most 10 MB, and all together at most 25 MB.")
	}
	return n, err
}

// postedProblem turns what is wrong with the structure of a message into an answer.
func postedProblem(err error) error {
	switch {
	case errors.Is(err, message.ErrHeaderTooLarge):
		return ErrPostedTooLarge.Saying("The header of the message is too large.")
	case errors.Is(err, message.ErrTooManyParts):
		return api.Invalid("attachments", "The message has too many parts.")
	case errors.Is(err, message.ErrAmbiguous):
		return api.Invalid("attachments", "Programs disagree about what parts the message has.")
	}
	return err
}
