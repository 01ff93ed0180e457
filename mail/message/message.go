// Package message composes internet messages and splits them.
//
// Composing is deterministic: the same Message gives the same bytes on every retry and every machine, so that a message can be
// signed, sent, and sent again after a crash without having been stored. What it writes is plain RFC 5322 and MIME that needs
// no extension of any server on the way: ASCII, CRLF, no line over 998 bytes (addresses with UTF-8 local parts excepted).
//
// Pure: no clock, no network, no state.
package message

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"postrider/mail/address"
)

// MaxBytes is the largest message that is composed. Few mailbox providers take more, and most take less.
const MaxBytes = 40 << 20

// Errors of composing. All but ErrTooLarge mean that a caller handed over what it should have validated.
var (
	// ErrTooLarge means the composed message would exceed MaxBytes.
	ErrTooLarge = errors.New("message is larger than 40 MB")
	// ErrHeader means a header name or value cannot be written without becoming something else.
	ErrHeader = errors.New("header field is not valid")
	// ErrMessageID means the message id is not of the form <left@right>.
	ErrMessageID = errors.New("message id is not valid")
	// ErrContentID means the content id of an attachment holds more than printable ASCII.
	ErrContentID = errors.New("content id is not valid")
)

// Message is what a sender wants to say, before it is bytes. There is no Bcc: those recipients exist only in the envelope.
type Message struct {
	From    address.Address
	To      []address.Address
	Cc      []address.Address
	ReplyTo []address.Address
	Subject string
	Date    time.Time
	// MessageID includes its angle brackets; see NewMessageID.
	MessageID string
	// Headers are the sender's own, in their order. Values may hold UTF-8.
	Headers []Header
	// Text and HTML are the same words twice; either may be empty. Line ends of any kind are fine.
	Text        string
	HTML        string
	Attachments []Attachment
	// Seed makes the boundaries. It must differ between messages and stay the same for one.
	Seed string
}

// Header is one header field in the sender's words: not folded, not encoded.
type Header struct {
	Name  string
	Value string
}

// Attachment is a file that travels with a message.
type Attachment struct {
	Filename string
	// ContentType falls back to application/octet-stream if it is empty or cannot be used.
	ContentType string
	// ContentID is what the HTML calls the file after "cid:", without angle brackets.
	ContentID string
	// Inline means the file is part of the page rather than beside it.
	Inline bool
	// Open returns the content and is called once per composing. If it is nil, Content is used.
	Open    func() (io.ReadCloser, error)
	Content []byte
}

func (a Attachment) open() (io.ReadCloser, error) {
	if a.Open != nil {
		return a.Open()
	}
	return io.NopCloser(bytes.NewReader(a.Content)), nil
}

// NewMessageID returns the message id for the thing with the given id, sent by domain.
func NewMessageID(id, domain string) string {
	return "<" + strings.ReplaceAll(id, "-", "") + "@" + domain + ">"
}

// WriteTo composes the message into w and returns the number of bytes written. After an error w holds a torso.
func (m Message) WriteTo(w io.Writer) (int64, error) {
	c := composer{w: w, buf: make([]byte, 0, flushAt+flushAt/4)}
	m.compose(&c)
	c.flush()
	return c.flushed, c.err
}

// Bytes composes the message in memory.
func (m Message) Bytes() ([]byte, error) {
	const headers = 2 << 10
	size := headers + (len(m.Text)+len(m.HTML))*5/4
	for _, a := range m.Attachments {
		size += len(a.Content)*11/8 + headers/4
	}
	c := composer{buf: make([]byte, 0, min(size, MaxBytes))}
	m.compose(&c)
	if c.err != nil {
		return nil, c.err
	}
	return c.buf, nil
}

func (m Message) compose(c *composer) {
	if !ValidMessageID(m.MessageID) {
		c.fail(ErrMessageID)
		return
	}
	if m.From.Local == "" || m.From.Domain == "" {
		c.fail(ErrHeader)
		return
	}
	c.dateField(m.Date)
	c.addressField("From", []address.Address{m.From})
	c.addressField("To", m.To)
	if len(m.To)+len(m.Cc) == 0 {
		c.field("To", "undisclosed-recipients:;") // some filters distrust mail to nobody
	}
	c.addressField("Cc", m.Cc)
	c.addressField("Reply-To", m.ReplyTo)
	c.textField("Subject", m.Subject)
	c.field("Message-ID", m.MessageID)
	for _, h := range m.Headers {
		if len(m.ReplyTo) > 0 && strings.EqualFold(h.Name, "Reply-To") {
			continue // there can be one only (RFC 5322 §3.6), and the field of its own is the clearer wish
		}
		c.customField(h)
	}
	c.field("MIME-Version", "1.0")
	m.composeBody(c)
	c.endLine()
}
