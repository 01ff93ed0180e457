package inbound

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/mail/report"
)

// Limits of what is shown of a message. The message itself is kept as it came.
const (
	maxShownText      = 998
	maxShownAddresses = 200
	maxReferences     = 100
	maxMessageID      = 998
	maxFiles          = 500
	maxFilename       = 255
)

// letter is what the header of a message says, fit to be stored and shown.
type letter struct {
	messageID string
	from      string
	addresses Addresses
	subject   string
	ancestors Ancestors
	automatic bool
	bulk      bool
	hops      int
}

func readLetter(fields []message.Field) letter {
	l := letter{automatic: report.IsAutomatic(fields), bulk: report.IsBulk(fields)}
	for _, f := range fields {
		switch strings.ToLower(f.Name) {
		case "received":
			l.hops++
		case "from":
			if l.from == "" {
				l.from = strings.Join(shownAddresses(nil, f.Value), ", ")
			}
		case "to":
			l.addresses.To = shownAddresses(l.addresses.To, f.Value)
		case "cc":
			l.addresses.Cc = shownAddresses(l.addresses.Cc, f.Value)
		case "bcc":
			l.addresses.Bcc = shownAddresses(l.addresses.Bcc, f.Value)
		case "reply-to":
			l.addresses.ReplyTo = shownAddresses(l.addresses.ReplyTo, f.Value)
		case "subject":
			if l.subject == "" {
				l.subject = shown(message.DecodeHeader(f.Value), maxShownText)
			}
		case "message-id":
			if ids := messageIDs(f.Value); l.messageID == "" && len(ids) > 0 {
				l.messageID = ids[0]
			}
		case "in-reply-to":
			if ids := messageIDs(f.Value); l.ancestors.InReplyTo == "" && len(ids) > 0 {
				l.ancestors.InReplyTo = ids[0]
			}
		case "references":
			l.ancestors.References = append(l.ancestors.References, messageIDs(f.Value)...)
		}
	}
	if extra := len(l.ancestors.References) - maxReferences; extra > 0 {
		l.ancestors.References = l.ancestors.References[extra:]
	}
	return l
}

// shownAddresses adds the addresses of a field to a list. What nobody can read as an address is shown as the text it is.
func shownAddresses(list []string, value string) []string {
	parts := address.Split(value)
	for _, part := range parts[:min(len(parts), max(maxShownAddresses-len(list), 0))] {
		text := shown(message.DecodeHeader(part), maxShownText)
		if a, err := address.Parse(part); err == nil {
			a.Name = shown(message.DecodeHeader(a.Name), maxShownText)
			text = a.String()
		}
		if text != "" {
			list = append(list, text)
		}
	}
	return list
}

// messageIDs returns the ids in a field, with their brackets.
func messageIDs(value string) []string {
	var ids []string
	for rest := value; len(ids) < maxReferences; {
		_, after, found := strings.Cut(rest, "<")
		id, tail, closed := strings.Cut(after, ">")
		if !found || !closed {
			break
		}
		if id != "" && len(id) < maxMessageID && strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
			ids = append(ids, "<"+id+">")
		}
		rest = tail
	}
	return ids
}

// shown makes a text fit for one line: valid, without control characters, and no longer than limit.
func shown(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	runes := []rune(strings.TrimSpace(text))
	return string(runes[:min(len(runes), limit)])
}

// errEnough ends a walk that has seen as much as is kept.
var errEnough = errors.New("enough")

// filesOf lists what is in a message besides its text. A message that cannot be taken apart is listed as far as it can.
func (s *Service) filesOf(ctx context.Context, c content) (files []File, truncated bool, err error) {
	if message.IsText(c.fields) {
		return nil, false, nil
	}
	r, err := s.open(ctx, c)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	err = eachFile(r, func(index int, p *message.Part) error {
		if index > maxFiles {
			return errEnough
		}
		size, err := io.Copy(io.Discard, p.Body)
		files = append(files, newFile(index, p, size))
		return err
	})
	if isCutShort(err) {
		return files, true, nil
	}
	return files, false, err
}

// isCutShort tells whether a walk ended early because of the message, rather than because it could not be read.
func isCutShort(err error) bool {
	return errors.Is(err, errEnough) || errors.Is(err, message.ErrTooManyParts) || errors.Is(err, message.ErrHeaderTooLarge)
}

// eachFile visits what is in a message besides its text; the first has index 1.
func eachFile(r io.Reader, visit func(index int, p *message.Part) error) error {
	index := 0
	return message.Walk(r, func(p *message.Part) error {
		if !p.Attached {
			return nil
		}
		index++
		return visit(index, p)
	})
}

// named returns the files of a message with ids of their own.
func named(id ID, files []File) []File {
	own := slices.Clone(files)
	for i := range own {
		own[i].ID = derivedID(string(id), strconv.Itoa(i+1))
	}
	return own
}

func newFile(index int, p *message.Part, size int64) File {
	f := File{Filename: shown(plainName(p.Filename()), maxFilename), ContentType: shown(p.Type, maxFilename),
		Disposition: disposition(p), ContentID: shown(p.ContentID, maxFilename), Size: size}
	if f.Filename == "" {
		f.Filename = "part-" + strconv.Itoa(index)
	}
	return f
}

// plainName leaves out where the sender wants a file put: whoever saves it under its name must not be led elsewhere (RFC 2183 §2.3).
func plainName(name string) string {
	name = strings.TrimSpace(name[strings.LastIndexAny(name, `/\`)+1:])
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// disposition is what a part says it is. Only of one that says nothing a content id tells: some programs give every file one.
func disposition(p *message.Part) string {
	for _, f := range p.Fields {
		said, _, _ := strings.Cut(strings.ToLower(f.Value), ";")
		said = strings.TrimSpace(said)
		if f.Is("Content-Disposition") && (said == "inline" || said == "attachment") {
			return said
		}
	}
	if p.ContentID != "" {
		return "inline"
	}
	return "attachment"
}
