package email

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"postrider/mail/blocked"
	"postrider/mail/message"
	"postrider/platform/api"
)

// maxEnclosed is how deep messages inside messages are looked into; deeper ones are refused, for they hide something.
const maxEnclosed = 4

// enclosure is what a part of a certain type may hold.
type enclosure int

const (
	aFile enclosure = iota
	aMessage
	// either is a type that few know. Some programs open every message/*, the others take what they do not know for a file
	// (RFC 2046 §5.2.4).
	either
)

// fileTypes are those message/* that hold no message: reports made of fields, and requests of other protocols.
var fileTypes = []string{"message/delivery-status", "message/global-delivery-status", "message/disposition-notification",
	"message/global-disposition-notification", "message/feedback-report", "message/tracking-status", "message/imdn+xml",
	"message/http", "message/s-http", "message/sip", "message/sipfrag"}

func enclosureOf(mediaType string) enclosure {
	switch {
	case mediaType == "message/rfc822" || mediaType == "message/global" || mediaType == "message/news":
		return aMessage
	case strings.HasPrefix(mediaType, "message/") && !slices.Contains(fileTypes, mediaType):
		return either
	}
	return aFile
}

// inspectEnclosed looks at what a part holds besides a text.
func (s *Service) inspectEnclosed(ctx context.Context, found *inspection, p *message.Part, content io.Reader, depth int) error {
	names := namesOf(p)
	kind := enclosureOf(p.Type)
	if kind == aFile && !strings.HasPrefix(p.Type, "text/") {
		return s.inspectFile(ctx, names, content)
	}
	in := bufio.NewReaderSize(content, headerStart)
	start, err := in.Peek(headerStart)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if kind == aFile && blocked.IsArchive(start) { // nobody shows it as the text it is said to be
		return s.inspectFile(ctx, names, in)
	}
	if blocked.IsArchive(start, names...) { // to look at it both ways would take it into memory for as long as that takes
		return api.Invalid("attachments", fmt.Sprintf("A part of type %s must not be an archive.", p.Type))
	}
	if problem := blocked.Content(start, names...); problem != "" {
		return api.Invalid("attachments", problem)
	}
	switch kind {
	case aMessage:
		return s.inspectMessage(ctx, found, in, depth)
	case either:
		return s.inspectEither(ctx, found, start, in, depth)
	}
	return s.inspectText(ctx, in)
}

// namesOf are the names that programs may call a part by; one that has none is called by its type.
func namesOf(p *message.Part) []string {
	if name := blocked.NameOf(p.Type); len(p.Names) == 0 && name != "" {
		return []string{name}
	}
	return p.Names
}

func (s *Service) inspectMessage(ctx context.Context, found *inspection, r io.Reader, depth int) error {
	if depth == maxEnclosed {
		return api.Invalid("attachments", "Messages inside messages are nested too deep.")
	}
	return message.WalkStrictly(r, func(inner *message.Part) error { return s.inspectPart(ctx, found, inner, depth+1) })
}

// headerStart is how much of a part is looked at to tell whether it begins with a header.
const headerStart = 4 << 10

// messageStart is what lenient programs take for the beginning of a message: a field, one that goes on, or the line before it in a mailbox file.
var messageStart = regexp.MustCompile(`^(>?From |[ \t]|[!-9;-~]+([ \t]*:|\z))`)

// inspectEither looks at a part that may be a message. What does not begin like one need not obey the limits of one.
func (s *Service) inspectEither(ctx context.Context, found *inspection, start []byte, r io.Reader, depth int) error {
	begins := messageStart.Match(start)
	if !begins && depth == maxEnclosed {
		return nil
	}
	err := s.inspectMessage(ctx, found, r, depth)
	if !begins && errors.Is(err, message.ErrHeaderTooLarge) {
		return nil
	}
	return err
}
