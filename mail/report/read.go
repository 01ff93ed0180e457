package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"postrider/mail/message"
)

const (
	// maxNotice is how much of a message's text is looked at. What matters stands first; copies of the original may follow.
	maxNotice = 64 << 10
	// maxStatus bounds the part of a report that is for machines.
	maxStatus = 64 << 10
	// maxOriginal bounds how much of the original message's header is kept.
	maxOriginal = 64 << 10
)

// Kind is what a message to a return path is.
type Kind string

// The kinds of messages.
const (
	KindDSN       Kind = "dsn"        // a server says what became of a message
	KindFeedback  Kind = "feedback"   // a provider passes on what a reader said, most often "this is spam"
	KindMDN       Kind = "mdn"        // a reader's program says that the message was shown or deleted
	KindAutoReply Kind = "auto_reply" // a program answers for a person
	KindDMARC     Kind = "dmarc"      // statistics about mail that claims to be of a domain
	KindTLS       Kind = "tls"        // statistics about encryption on the way to a domain
	KindOrdinary  Kind = "ordinary"   // a person writes, or we cannot tell
)

// Report is what a message says about our mail. Of the pointers that of its kind is set, if it has one.
type Report struct {
	Kind Kind
	// Reason says how the kind was told.
	Reason   string
	DSN      *DSN
	Feedback *Feedback
	DMARC    *Aggregate
	TLS      *TLSReport
}

// Read tells what a message is and what it says. It reads the message once, in memory that does not depend on its size, and
// makes the best of those that break the rules: most reports come from programs older than the rules. What a message claims is
// not thereby true; that it answers a message of ours, the caller must know from elsewhere. The error is that of r, or
// message.ErrHeaderTooLarge.
func Read(r io.Reader) (Report, error) {
	in := bufio.NewReader(r)
	raw, err := message.CutHeader(in)
	if err != nil {
		return Report{}, fmt.Errorf("read header: %w", err)
	}
	header, _, err := message.ReadHeader(raw)
	if err != nil {
		return Report{}, fmt.Errorf("read header: %w", err)
	}
	l := letter{header: header}
	content, err := message.ReadContent(io.MultiReader(bytes.NewReader(raw), in), maxNotice, l.part)
	if err != nil {
		return Report{}, fmt.Errorf("read message: %w", err)
	}
	text := content.Text
	if strings.TrimSpace(text) == "" {
		text = message.TextFromHTML(content.HTML)
	}
	l.readNotice(text[:min(len(text), maxNotice)])
	return l.judge(), nil
}

// letter is what was found in a message.
type letter struct {
	header   []message.Field
	notice   notice
	status   *DSN
	feedback *Feedback
	receipt  bool
	original []message.Field // the header of the message that is spoken of
	dmarc    *Aggregate
	tls      *TLSReport
	unpacked int
}

// part looks at everything in a message but its texts.
func (l *letter) part(p *message.Part) error {
	switch p.Type {
	case "message/delivery-status", "message/global-delivery-status":
		return l.keep(p, maxStatus, func(body []byte) {
			if l.status == nil {
				l.status = parseStatus(body)
			}
		})
	case "message/feedback-report":
		return l.keep(p, maxStatus, func(body []byte) {
			if l.feedback == nil {
				l.feedback = parseFeedback(body)
			}
		})
	case "message/disposition-notification", "message/global-disposition-notification":
		l.receipt = true
	case "message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers", "message/global-headers":
		return l.keep(p, maxOriginal, func(body []byte) {
			if l.original == nil {
				l.original, _, _ = message.ReadHeader(body) // one that is too large to read is not kept
			}
		})
	default:
		return l.unpack(p)
	}
	return nil
}

// keep reads the beginning of a part.
func (l *letter) keep(p *message.Part, limit int64, use func(body []byte)) error {
	body, err := io.ReadAll(io.LimitReader(p.Body, limit))
	use(body)
	return err
}

// judge asks first for what has a form of its own, and only then for what has to be guessed.
func (l *letter) judge() Report {
	answer, automatic := autoReply(l.header)
	switch {
	case l.status != nil && len(l.status.Recipients) > 0:
		l.complete(l.status)
		return Report{Kind: KindDSN, Reason: "delivery status", DSN: l.status}
	case l.feedback != nil:
		l.feedback.OriginalMessageID = l.originalID()
		return Report{Kind: KindFeedback, Reason: "feedback report", Feedback: l.feedback}
	case l.receipt:
		return Report{Kind: KindMDN, Reason: "disposition notification"}
	case l.dmarc != nil:
		return Report{Kind: KindDMARC, Reason: "aggregate report", DMARC: l.dmarc}
	case l.tls != nil:
		return Report{Kind: KindTLS, Reason: "aggregate report", TLS: l.tls}
	}
	if f := l.bareComplaint(); f != nil {
		return Report{Kind: KindFeedback, Reason: "complaint without a report", Feedback: f}
	}
	if dsn, reason := l.bounce(); dsn != nil {
		return Report{Kind: KindDSN, Reason: reason, DSN: dsn}
	}
	if automatic {
		return Report{Kind: KindAutoReply, Reason: answer}
	}
	return Report{Kind: KindOrdinary, Reason: "no mark of a report"}
}

// originalID returns the id of the message that is spoken of: its own word first, then what the report says it answers.
func (l *letter) originalID() string {
	if id := messageID(fieldOf(l.original, "Message-ID")); id != "" {
		return id
	}
	if id := messageID(fieldOf(l.header, "In-Reply-To")); id != "" {
		return id
	}
	references := fieldOf(l.header, "References")
	return messageID(references[max(strings.LastIndexByte(references, '<'), 0):])
}

// messageID returns the first id in a text, with its brackets.
func messageID(text string) string {
	_, rest, found := strings.Cut(text, "<")
	id, _, closed := strings.Cut(rest, ">")
	if !found || !closed || id == "" || len(id) > maxValue || strings.ContainsAny(id, " \t") {
		return ""
	}
	return clean("<"+id+">", maxValue)
}

// fieldOf returns the value of the first field with the given name, or nothing.
func fieldOf(header []message.Field, name string) string {
	for _, f := range header {
		if f.Is(name) {
			return f.Value
		}
	}
	return ""
}

// clean makes a text fit to be stored and shown: valid, on one line, with single spaces, and no longer than limit bytes.
func clean(s string, limit int) string {
	s = strings.ToValidUTF8(s[:min(len(s), 4*limit)], "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || 0x7f <= r && r <= 0xa0 || r == '\u2028' || r == '\u2029'
	}), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "")
	}
	return s
}
