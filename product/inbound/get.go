package inbound

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"

	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
)

// Limits of one answer.
const (
	// maxShownBody is how much of each text is shown; raw has the rest.
	maxShownBody = 5 << 20
	// maxImages bounds the pictures that are put into a page, together; the others stay references.
	maxImages = 8 << 20
	// maxEmbedded bounds what they make of the page: it could name one picture a million times.
	maxEmbedded = 12 << 20
	// maxHeaderLines and maxHeaderBytes bound the header; honest mail has a tenth.
	maxHeaderLines = 1000
	maxHeaderBytes = 256 << 10
)

// find returns a message that is there for the caller; a foreign, missing or malformed id is one answer. For a key that is restricted to
// some domains the mail of others is foreign.
func find(tx *db.Tx, caller api.Caller, id string) (Message, error) {
	if !api.IsID(id) {
		return Message{}, api.NotFound("email")
	}
	m, err := selectMessage(tx, caller.Workspace, ID(id))
	if errors.Is(err, db.ErrNotFound) || err == nil && !caller.MayUseDomain(string(m.Domain)) {
		return Message{}, api.NotFound("email")
	}
	return m, err
}

// load returns a message with what is kept of it.
func (s *Service) load(ctx context.Context, caller api.Caller, id string) (m Message, c stored, passedOn []forwarded, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if m, err = find(tx, caller, id); err != nil {
			return err
		}
		if c, err = selectContent(tx, m.Workspace, m.ID); err != nil {
			return err
		}
		all, err := selectForwards(tx, m.Workspace, []ID{m.ID})
		passedOn = all[m.ID]
		return err
	})
	return m, c, passedOn, err
}

// record returns a message with all that it says.
func (s *Service) record(ctx context.Context, caller api.Caller, id string, embed bool) (Record, error) {
	m, c, passedOn, err := s.load(ctx, caller, id)
	if err != nil {
		return Record{}, err
	}
	return s.recordOf(ctx, m, c, passedOn, embed)
}

func (s *Service) recordOf(ctx context.Context, m Message, c stored, passedOn []forwarded, embed bool) (Record, error) {
	said, err := s.read(ctx, c, embed)
	if err != nil {
		return Record{}, err
	}
	m.Truncated = m.Truncated || said.truncated
	record := Record{Row: newRow(m, passedOn), HTML: api.Ref(said.html), Text: api.Ref(said.text), StrippedText: api.Ref(said.stripped()), Headers: said.headers(),
		HeaderLines: said.lines, Envelope: m.Envelope, Raw: s.linkToRaw(m)}
	if record.Envelope.RcptTo == nil {
		record.Envelope.RcptTo = []string{}
	}
	return record, nil
}

// reading is what a message says, in UTF-8 whatever it was in.
type reading struct {
	html, text string
	lines      []headerLine
	truncated  bool
}

// read reads a message as far as it can be read.
func (s *Service) read(ctx context.Context, c stored, embed bool) (reading, error) {
	in, err := s.openParts(ctx, c.content)
	if err != nil {
		return reading{}, err
	}
	defer in.close()
	head := addedHead(c.trace, c.results, s.host, in.fields)
	var out reading
	shownFields, _, err := message.ReadHeader(head)
	if err != nil { // it was at its limit before we added to it
		shownFields = in.fields
	}
	out.readHeader(shownFields)
	var original []byte
	for _, f := range in.fields {
		original = append(original, f.Raw...)
	}
	pictures := pictures{}
	said, err := message.ReadContent(io.MultiReader(bytes.NewReader(original), strings.NewReader("\r\n"), in.body), maxShownBody, func(p *message.Part) error {
		if !embed {
			return nil
		}
		return pictures.take(p)
	})
	if errors.Is(err, message.ErrHeaderTooLarge) {
		said.Truncated, err = true, nil
	}
	out.html, out.text, out.truncated = pictures.embed(said.HTML), said.Text, out.truncated || said.Truncated
	return out, err
}

func (r *reading) readHeader(fields []message.Field) {
	left := maxHeaderBytes
	for _, f := range fields {
		if f.Name == "" {
			continue
		}
		value := message.DecodeHeader(f.Value)
		if left -= len(f.Name) + len(value); left < 0 || len(r.lines) == maxHeaderLines {
			r.truncated = true
			return
		}
		r.lines = append(r.lines, headerLine{Name: f.Name, Value: value})
	}
}

// headers are the header lines by name. What is there more than once is joined: SDKs take text only.
func (r *reading) headers() map[string]string {
	joined := make(map[string]string, len(r.lines))
	for _, line := range r.lines {
		name := strings.ToLower(line.Name)
		if before, ok := joined[name]; ok {
			joined[name] = before + ", " + line.Value
			continue
		}
		joined[name] = line.Value
	}
	return joined
}

// plain is the text of a message, made from its page if it has no other.
func (r *reading) plain() string {
	if strings.TrimSpace(r.text) == "" && r.html != "" {
		return message.TextFromHTML(r.html)
	}
	return r.text
}

func (r *reading) stripped() string { return message.Unquoted(r.plain()) }

// pictures are the pictures in a message, by their content id, as addresses that hold them.
type pictures struct {
	data map[string]string
	size int64
}

func (p *pictures) take(part *message.Part) error {
	if part.ContentID == "" || !strings.HasPrefix(part.Type, "image/") {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(part.Body, maxImages-p.size+1))
	if err != nil || p.size+int64(len(raw)) > maxImages {
		return err
	}
	if p.data == nil {
		p.data = map[string]string{}
	}
	p.size += int64(len(raw))
	p.data[part.ContentID] = "data:" + mediaType(part.Type) + ";base64," + base64.StdEncoding.EncodeToString(raw)
	return nil
}

// mediaType leaves out what could end an attribute.
func mediaType(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '+' || r > 'z' || strings.ContainsRune(";,<>\\", r) {
			return -1
		}
		return r
	}, name)
}

var contentReference = regexp.MustCompile(`(?i)cid:([^"'\s<>)]{1,255})`)

// embed puts the pictures into the page in place of references to them.
func (p *pictures) embed(page string) string {
	if len(p.data) == 0 {
		return page
	}
	left := maxEmbedded
	return contentReference.ReplaceAllStringFunc(page, func(reference string) string {
		id := reference[len("cid:"):]
		if unescaped, err := url.PathUnescape(id); err == nil {
			id = unescaped
		}
		data, ok := p.data[id]
		if left -= len(data); !ok || left < 0 {
			return reference
		}
		return data
	})
}
