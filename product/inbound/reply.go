package inbound

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"

	"postrider/mail/address"
	"postrider/mail/message"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/product/email"
)

const (
	// maxQuoted is how much of the message is quoted; mail programs fold longer ones away.
	maxQuoted = 100 << 10
	// maxReferenceBytes keeps the References of a long thread on lines that every server takes; the oldest go first, but for the
	// very first, which names the thread (RFC 5322 §3.6.4).
	maxReferenceBytes = 4 << 10
)

// replyBody is an answer. What it does not say follows from the message.
type replyBody struct {
	Text           string            `json:"text" example:"You are welcome!"`
	HTML           string            `json:"html" example:"<p>You are welcome!</p>"`
	From           string            `json:"from" doc:"Defaults to the address that the message came to." example:"support@acme.test"`
	To             api.Strings       `json:"to" doc:"Defaults to whom the author wants answers sent to." example:"[\"ann@example.net\"]"`
	ReplyAll       bool              `json:"reply_all" doc:"Also to everybody else the message names." example:"false"`
	Cc             api.Strings       `json:"cc"`
	Bcc            api.Strings       `json:"bcc"`
	Subject        string            `json:"subject" example:"Re: Welcome"`
	Attachments    []email.FileBody  `json:"attachments"`
	Headers        map[string]string `json:"headers"`
	Quote          *bool             `json:"quote" doc:"Quote the message below the answer; true if absent." example:"true"`
	IdempotencyKey string            `json:"idempotency_key" doc:"The same as the Idempotency-Key header."`
}

type replyAnswer struct {
	Object     string      `json:"object" example:"email"`
	ID         email.ID    `json:"id" example:"0193a1f2-0000-7000-8000-000000000102"`
	State      email.State `json:"status" example:"queued"`
	InReplyTo  api.Ref     `json:"in_reply_to" example:"<CAF123@mail.gmail.com>"`
	Thread     string      `json:"thread_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	Idempotent bool        `json:"idempotent,omitempty"`
}

// Status is 200 for a replay, whatever the route says.
func (a replyAnswer) Status() int {
	if a.Idempotent {
		return http.StatusOK
	}
	return 0
}

func (s *Service) handleReply(ctx context.Context, caller api.Caller, r struct {
	idRequest
	IdempotencyKey string `header:"Idempotency-Key" doc:"8 to 128 letters, digits, dots, underscores, colons or hyphens." example:"answer:u_42:1"`
	Raw            api.Raw
	Body           replyBody
}) (replyAnswer, error) {
	m, c, _, err := s.load(ctx, caller, r.ID)
	if err != nil {
		return replyAnswer{}, err
	}
	var wrong api.Fields
	if r.Body.Text == "" && r.Body.HTML == "" {
		wrong.Add("text", "One of text and html is required.")
	}
	request := idempotencyOf(&wrong, caller, string(m.ID), api.CheckIdempotencyKey(&wrong, r.IdempotencyKey, r.Body.IdempotencyKey), r.Raw)
	if err := wrong.Err(); err != nil {
		return replyAnswer{}, err
	}
	body, err := s.answer(ctx, m, c, r.Body)
	if err != nil {
		return replyAnswer{}, err
	}
	receipt, replayed, err := s.emails.Compose(ctx, email.SenderOf(caller, email.SourceReply), body, request)
	if err != nil {
		return replyAnswer{}, err
	}
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return insertAnswer(tx, m, receipt.ID) })
	if err != nil { // the answer is on its way, and whoever heard of an error would send another
		s.world.Log.Error("answer could not be put into its thread", "email", receipt.ID, "error", err)
	}
	return replyAnswer{Object: "email", ID: receipt.ID, State: receipt.Status, InReplyTo: api.Ref(m.MessageID), Thread: m.Thread, Idempotent: replayed}, nil
}

func idempotencyOf(wrong *api.Fields, caller api.Caller, id, key string, raw []byte) api.Idempotency {
	if key == "" || wrong.Err() != nil {
		return api.Idempotency{}
	}
	hash, err := api.HashBody(raw)
	if err != nil {
		wrong.Add("_body", "Malformed JSON.")
	}
	return api.Idempotency{Workspace: caller.Workspace, Operation: "POST /emails/receiving/" + id + "/reply", Key: key, Hash: hash, Test: caller.Test}
}

// answer fills in what follows from the message.
func (s *Service) answer(ctx context.Context, m Message, c stored, wish replyBody) (email.Body, error) {
	body := email.Body{From: wish.From, To: wish.To, Cc: wish.Cc, Bcc: wish.Bcc, Subject: wish.Subject, HTML: wish.HTML, Headers: map[string]string{},
		Attachments: wish.Attachments}
	if body.From == "" && len(m.Addresses.ReceivedFor) > 0 {
		body.From = m.Addresses.ReceivedFor[0]
	}
	if len(body.To) == 0 {
		body.To = answerTo(m)
	}
	if len(body.To) == 0 {
		return body, api.Invalid("to", "The message does not say where an answer would arrive. Name a recipient.")
	}
	if wish.ReplyAll {
		body.Cc = append(body.Cc, everybodyElse(m, body)...)
	}
	if body.Subject == "" {
		body.Subject = answerSubject(m.Subject)
	}
	for name, value := range wish.Headers {
		if !strings.EqualFold(name, "In-Reply-To") && !strings.EqualFold(name, "References") {
			body.Headers[name] = value
		}
	}
	if message.ValidHeaderValue(m.MessageID) && m.MessageID != "" {
		body.Headers["In-Reply-To"] = m.MessageID
		body.Headers["References"] = referencesOf(m)
	}
	text := wish.Text
	if wish.Quote == nil || *wish.Quote {
		said, err := s.read(ctx, c, false)
		if err != nil {
			return body, err
		}
		quoteInto(&body, &text, m, said.plain())
	}
	if text != "" {
		body.Text = &text
	}
	return body, nil
}

// answerTo is whom the author wants answers sent to.
func answerTo(m Message) api.Strings {
	for _, list := range [][]string{m.Addresses.ReplyTo, {m.From}} {
		var good api.Strings
		for _, text := range list {
			for _, part := range address.Split(text) { // a comma in a name is often not quoted
				if a, err := address.Parse(part); err == nil {
					good = append(good, a.String())
				}
			}
		}
		if len(good) > 0 {
			return good
		}
	}
	return nil
}

// everybodyElse is whom the message was sent to besides us, and who is not answered already.
func everybodyElse(m Message, body email.Body) []string {
	known := map[string]bool{}
	for _, list := range [][]string{m.Addresses.ReceivedFor, body.To, body.Cc, body.Bcc, {body.From}} {
		for _, text := range list {
			if a, err := address.Parse(text); err == nil {
				known[a.Key()] = true
			}
		}
	}
	var others []string
	for _, text := range slices.Concat(m.Addresses.To, m.Addresses.Cc) {
		if a, err := address.Parse(text); err == nil && !known[a.Key()] {
			known[a.Key()] = true
			others = append(others, a.String())
		}
	}
	return others
}

// answerSubject puts Re: before a subject that has none.
func answerSubject(subject string) string {
	if len(subject) >= 3 && strings.EqualFold(subject[:3], "re:") {
		return subject
	}
	return shown(strings.TrimSpace("Re: "+subject), maxShownText)
}

// referencesOf names the thread of an answer: what the message names, and the message itself.
func referencesOf(m Message) string {
	list := slices.Clone(m.Ancestors.References)
	if len(list) == 0 && m.Ancestors.InReplyTo != "" {
		list = []string{m.Ancestors.InReplyTo}
	}
	list = append(list, m.MessageID)
	list = slices.DeleteFunc(list, func(id string) bool { return !message.ValidHeaderValue(id) }) // no line of ours holds a longer one
	for len(list) > 2 && len(strings.Join(list, " ")) > maxReferenceBytes {
		list = slices.Delete(list, 1, 2)
	}
	return strings.Join(list, " ")
}

// quoteInto puts what is answered below the answer, as text in both forms: the page of a stranger is not ours to send.
func quoteInto(body *email.Body, text *string, m Message, said string) {
	said = strings.TrimRight(strings.ToValidUTF8(said[:min(len(said), maxQuoted)], ""), "\r\n ")
	introduction := fmt.Sprintf("On %s, %s wrote:", m.CreatedAt.UTC().Format("Mon, 2 Jan 2006 at 15:04 MST"), m.From)
	lines := strings.Split(strings.ReplaceAll(said, "\r\n", "\n"), "\n")
	if *text != "" {
		*text += "\n\n" + introduction + "\n> " + strings.Join(lines, "\n> ") + "\n"
	}
	if body.HTML != "" {
		body.HTML += "<br><div>" + html.EscapeString(introduction) + "</div>\n<blockquote style=\"margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex\">" +
			strings.ReplaceAll(html.EscapeString(strings.Join(lines, "\n")), "\n", "<br>\n") + "</blockquote>"
	}
}
