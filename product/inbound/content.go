package inbound

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"postrider/mail/authres"
	"postrider/mail/message"
	"postrider/mail/smtp"
	"postrider/platform/blob"
)

// content is a message as it came: in memory, and later in the database, if it is small; else in the blob store.
type content struct {
	head   []byte // up to the blank line
	fields []message.Field
	raw    []byte
	blob   blob.Ref
	size   int64
}

const (
	// inlineMessage is the largest message kept in the database: a file of its own costs an fsync of its own.
	inlineMessage = 128 << 10
	// usualMessage fits most messages that people write.
	usualMessage = 8 << 10
)

// readContent reads a message off a connection. In memory it never holds more of it than inlineMessage and its header.
func (s *Service) readContent(ctx context.Context, r io.Reader, limit int64) (content, *smtp.Reply) {
	c, err := s.spool(ctx, r, limit)
	if err == nil {
		return c, nil
	}
	if _, rest := io.Copy(io.Discard, r); rest != nil {
		return content{}, replyTrouble // the connection broke; nobody hears it
	}
	switch {
	case errors.Is(err, blob.ErrTooLarge):
		return content{}, replyTooLarge
	case errors.Is(err, message.ErrHeaderTooLarge):
		return content{}, replyBroken
	}
	s.world.Log.Error("message could not be stored", "error", err)
	return content{}, replyTrouble
}

func (s *Service) spool(ctx context.Context, r io.Reader, limit int64) (c content, err error) {
	in := bufio.NewReader(r)
	if c.head, err = message.CutHeader(in); err != nil {
		return c, err
	}
	if c.fields, _, err = message.ReadHeader(c.head); err != nil {
		return c, err
	}
	start := bytes.NewBuffer(append(make([]byte, 0, max(usualMessage, len(c.head)+bytes.MinRead)), c.head...))
	if len(c.head) <= inlineMessage {
		if _, err := start.ReadFrom(io.LimitReader(in, int64(inlineMessage+1-len(c.head)))); err != nil {
			return c, err
		}
		if start.Len() <= inlineMessage {
			c.raw, c.size = start.Bytes(), int64(start.Len())
			return c, nil
		}
	}
	info, err := s.blobs.Put(ctx, io.MultiReader(start, in), limit)
	c.blob, c.size = info.Ref, info.Size
	return c, err
}

// open returns the message as it came.
func (s *Service) open(ctx context.Context, c content) (io.ReadCloser, error) {
	if c.blob == "" {
		return io.NopCloser(bytes.NewReader(c.raw)), nil
	}
	r, err := s.blobs.Open(ctx, c.blob)
	if err != nil {
		return nil, fmt.Errorf("open message: %w", err)
	}
	return r, nil
}

// opened is a stored message that is being read: the header as it came, and the body.
type opened struct {
	fields []message.Field
	body   io.Reader
	close  func() error
}

// openParts opens a message and reads its header off it.
func (s *Service) openParts(ctx context.Context, c content) (opened, error) {
	r, err := s.open(ctx, c)
	if err != nil {
		return opened{}, err
	}
	in := bufio.NewReaderSize(r, 32<<10)
	head, err := message.CutHeader(in)
	if err == nil {
		var fields []message.Field
		if fields, _, err = message.ReadHeader(head); err == nil {
			return opened{fields: fields, body: in, close: r.Close}, nil
		}
	}
	r.Close()
	return opened{}, err
}

// addedHead is what we put before a message: what we found out about it, and how it came. Results that claim to be ours and are not
// must not be seen by anybody behind us (RFC 8601 §5), so the head of the message goes without them.
func addedHead(trace, results, host string, fields []message.Field) []byte {
	head := []byte(trace)
	if results != "" {
		head = append(head, "Authentication-Results: "+results+"\r\n"...)
	}
	for i, f := range authres.Remove(fields, host) {
		if i == 0 && (f.Raw[0] == ' ' || f.Raw[0] == '\t') {
			continue // a message that begins with the rest of a field would add to the last of ours
		}
		head = append(head, f.Raw...)
	}
	return head
}
