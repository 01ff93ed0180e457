package email

import (
	"fmt"
	"net/textproto"
	"strings"
	"time"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/platform/api"
)

// postedHeader is the header of a message that came ready made, read for what it tells us.
type postedHeader struct {
	draft Draft
	// kept are the fields that travel on, byte for byte.
	kept [][]byte
	// speakers are domains that the message claims to be sent by, besides that of From.
	speakers []string
	dated    bool
	// controls are the values of fields that speak to us and may be given once, by their names in lower case.
	controls map[string]string
	// plain tells that the message is a text and nothing else, and stands there as it is read.
	plain bool
}

// Fields that speak to us and are taken out.
const (
	fieldTag         = "x-tag-"
	fieldSchedule    = "x-scheduled-at"
	fieldIdempotency = "x-idempotency-key"
	fieldTopic       = "x-topic-id"
)

// maxShownAddresses bounds how many addresses of a header are shown; the envelope says who really gets the message.
const maxShownAddresses = 200

// readPosted reads the header. Whatever stands in it goes on as it is, but for fields that speak to us, and those that servers
// must not pass on: Bcc, and the traces of a journey that has not begun.
func readPosted(wrong *api.Fields, fields []message.Field, envelope []address.Address, now time.Time) *postedHeader {
	h := &postedHeader{}
	var from, subjects int
	var to, cc []address.Address
	for _, f := range fields {
		name := strings.ToLower(f.Name)
		keep := true
		switch {
		case name == "":
			wrong.Add("headers", fmt.Sprintf("The line %.40q is not a header field.", f.Raw))
		case name == "from":
			from++
			h.draft.From = checkPostedSender(wrong, "from", f.Value)
		case name == "sender" || name == "resent-from" || name == "resent-sender":
			h.speakers = append(h.speakers, checkPostedSender(wrong, name, f.Value).Domain)
		case name == "to":
			to = append(to, shownList(f.Value)...)
		case name == "cc":
			cc = append(cc, shownList(f.Value)...)
		case name == "reply-to":
			h.draft.ReplyTo = shownList(f.Value)
		case name == "subject":
			subjects++
			h.draft.Subject = cut(message.DecodeHeader(f.Value), maxSubject)
		case name == "message-id":
			id := cut(message.DecodeHeader(f.Value), maxSubject)
			if keep = id != ""; keep { // an empty one is against the grammar (RFC 5322 §3.6.4), and there must be one that is not
				h.draft.MessageID = id
			}
		case name == "date":
			keep = f.Value != "" // RFC 5322 §3.6.1
			h.dated = h.dated || keep
		case name == "bcc" || name == "resent-bcc" || name == "return-path" || name == "content-length":
			keep = false
		default:
			keep = !h.readControl(wrong, name, f.Value, now)
			if keep && !message.Reserved(name) {
				h.remember(f)
			}
		}
		if keep {
			h.kept = append(h.kept, f.Raw)
		}
	}
	if from != 1 {
		wrong.Add("from", "The message must have exactly one From field.")
	}
	if subjects > 1 {
		wrong.Add("headers.Subject", "The message must have at most one Subject field.")
	}
	h.draft.Tags = checkTags(wrong, h.draft.Tags)
	h.group(envelope, to, cc)
	return h
}

// readControl takes a field that speaks to us and tells whether it was one.
func (h *postedHeader) readControl(wrong *api.Fields, name, value string, now time.Time) bool {
	switch tag, isTag := strings.CutPrefix(name, fieldTag); {
	case isTag:
		h.draft.Tags = append(h.draft.Tags, Tag{Name: tag, Value: value})
	case name == fieldSchedule:
		h.once(wrong, "scheduled_at", name, value)
		h.draft.ScheduledAt, h.draft.scheduledAs = checkSchedule(wrong, value, now), value
	case name == fieldIdempotency:
		h.draft.IdempotencyKey = api.CheckIdempotencyKey(wrong, value, h.draft.IdempotencyKey)
	case name == fieldTopic:
		h.once(wrong, fieldTopic, name, value)
		h.draft.Topic = checkTopic(wrong, fieldTopic, value)
	default:
		return false
	}
	return true
}

// once notes that a field is given twice and says two things, or something and nothing.
func (h *postedHeader) once(wrong *api.Fields, field, name, value string) {
	if before, again := h.controls[name]; again && before != value {
		wrong.Add(field, fmt.Sprintf("The message has two %s fields that differ.", textproto.CanonicalMIMEHeaderKey(name)))
	}
	if h.controls == nil {
		h.controls = map[string]string{}
	}
	h.controls[name] = value
}

// remember keeps the sender's own header fields, for the record and for webhooks.
func (h *postedHeader) remember(f message.Field) {
	if h.draft.Content.Headers == nil {
		h.draft.Content.Headers = map[string]string{}
	}
	if len(h.draft.Content.Headers) < maxHeaders && len(f.Value) <= maxHeaderValue {
		h.draft.Content.Headers[f.Name] = message.DecodeHeader(f.Value)
	}
}

// checkPostedSender reads a field that says who speaks. It goes on to programs that may read it differently, so only forms that
// all of them read alike are taken.
func checkPostedSender(wrong *api.Fields, field, value string) address.Address {
	a, err := address.Parse(value)
	switch {
	case err != nil:
		wrong.Add(field, invalidAddress(err))
	case strings.HasPrefix(a.Local, `"`) || strings.ContainsRune(value, '('):
		wrong.Add(field, "Quoted local parts and comments are not allowed here.")
	}
	a.Name = message.DecodeHeader(a.Name)
	return a
}

func shownList(value string) []address.Address {
	list, err := address.ParseList(value)
	if err != nil {
		return nil // undisclosed-recipients:; and the like: shown nowhere, sent on as it is
	}
	for i := range list {
		list[i].Name = message.DecodeHeader(list[i].Name)
	}
	return list[:min(len(list), maxShownAddresses)]
}

// group sorts the recipients of the envelope by where the header names them. Whom it does not name gets a blind copy.
func (h *postedHeader) group(envelope, to, cc []address.Address) {
	named := map[string]*[]address.Address{}
	shown := map[string]address.Address{}
	for _, list := range []struct {
		from []address.Address
		into *[]address.Address
	}{{cc, &h.draft.Cc}, {to, &h.draft.To}} {
		for _, a := range list.from {
			named[a.Key()], shown[a.Key()] = list.into, a
		}
	}
	seen := map[string]bool{}
	for _, a := range envelope {
		if seen[a.Key()] {
			continue
		}
		seen[a.Key()] = true
		if list, ok := named[a.Key()]; ok {
			a.Name = shown[a.Key()].Name
			*list = append(*list, a)
			continue
		}
		h.draft.Bcc = append(h.draft.Bcc, a)
	}
}

func cut(s string, limit int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), limit)])
}
