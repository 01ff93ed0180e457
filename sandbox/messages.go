package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"mime"
	"net/http"
	"unicode/utf8"

	mailmessage "postrider/mail/message"
)

// pageRows is how many messages the page shows.
const pageRows = 50

// timeFormat is that of every time in an answer.
const timeFormat = "2006-01-02T15:04:05.000Z"

// wireMessage is a message as the doors show it.
type wireMessage struct {
	ID         string       `json:"id"`
	ReceivedAt string       `json:"received_at"`
	Envelope   wireEnvelope `json:"envelope"`
	Provider   string       `json:"provider"`
	// Raw is the message if it is text; otherwise RawBase64 is.
	Raw            string         `json:"raw,omitempty"`
	RawBase64      []byte         `json:"raw_base64,omitempty"`
	Subject        string         `json:"subject"`
	Authentication authentication `json:"authentication"`
	TLS            bool           `json:"tls"`
}

type wireEnvelope struct {
	MailFrom string   `json:"mail_from"`
	RcptTo   []string `json:"rcpt_to"`
}

// show reads and judges a message; false means that it was dropped meanwhile.
func (s *Sandbox) show(ctx context.Context, e *entry) (wireMessage, bool) {
	raw, found := s.mailbox.raw(e)
	if !found {
		return wireMessage{}, false
	}
	m := wireMessage{
		ID:             e.ID,
		ReceivedAt:     e.ReceivedAt.UTC().Format(timeFormat),
		Envelope:       wireEnvelope{MailFrom: e.From, RcptTo: e.To},
		Provider:       e.Provider,
		Subject:        subjectOf(raw),
		Authentication: s.verdictOf(ctx, e, raw),
		TLS:            e.TLS,
	}
	if utf8.Valid(raw) {
		m.Raw = string(raw)
	} else {
		m.RawBase64 = raw
	}
	return m, true
}

// subjectOf returns the subject in readable form. An encoding that is not known is shown as it came.
func subjectOf(raw []byte) string {
	fields, _, err := mailmessage.ReadHeader(raw)
	if err != nil {
		return ""
	}
	for _, field := range fields {
		if !field.Is("Subject") {
			continue
		}
		if decoded, err := new(mime.WordDecoder).DecodeHeader(field.Value); err == nil {
			return decoded
		}
		return field.Value
	}
	return ""
}

// listMessages writes one message after the other, because together they may be larger than memory should hold.
func (s *Sandbox) listMessages(w http.ResponseWriter, r *http.Request) {
	limit, ok := limitOf(r.URL.Query().Get("limit"))
	if !ok {
		s.refuse(w, http.StatusBadRequest, fmt.Sprintf("The limit must be a number from 1 to %d.", maxLimit))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := json.NewEncoder(w)
	separator := `{"data":[`
	for _, e := range s.mailbox.find(r.URL.Query().Get("to"), limit) {
		m, found := s.show(r.Context(), e)
		if !found {
			continue
		}
		w.Write([]byte(separator))
		if out.Encode(m) != nil {
			return // the caller has left
		}
		separator = ","
	}
	if separator != "," {
		w.Write([]byte(separator))
	}
	w.Write([]byte("]}\n"))
}

func (s *Sandbox) getMessage(w http.ResponseWriter, r *http.Request) {
	if e := s.mailbox.get(r.PathValue("id")); e != nil {
		if m, found := s.show(r.Context(), e); found {
			s.answer(w, http.StatusOK, m)
			return
		}
	}
	s.refuse(w, http.StatusNotFound, "There is no such message.")
}

var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Sandbox mailbox</title></head>
<body>
<h1>Sandbox mailbox</h1>
<p>What the mailbox providers of the sandbox received, newest first. Mail here never left this machine.</p>
{{if .}}<table>
<thead><tr><th>Received</th><th>From</th><th>To</th><th>Subject</th><th>SPF</th><th>DKIM</th><th>DMARC</th><th>TLS</th></tr></thead>
<tbody>
{{range .}}<tr><td>{{.ReceivedAt}}</td><td>{{.Envelope.MailFrom}}</td><td>{{range .Envelope.RcptTo}}{{.}} {{end}}</td>` +
	`<td><a href="/sandbox/messages/{{.ID}}">{{or .Subject "(no subject)"}}</a></td><td>{{.Authentication.SPF}}</td>` +
	`<td>{{.Authentication.DKIM}}</td><td>{{.Authentication.DMARC}}</td><td>{{if .TLS}}yes{{else}}no{{end}}</td></tr>
{{end}}</tbody>
</table>
{{else}}<p>Nothing yet.</p>
{{end}}</body>
</html>
`))

// servePage shows the newest messages to a person.
func (s *Sandbox) servePage(w http.ResponseWriter, r *http.Request) {
	var rows []wireMessage
	for _, e := range s.mailbox.find("", pageRows) {
		if m, found := s.show(r.Context(), e); found {
			m.Raw, m.RawBase64 = "", nil
			rows = append(rows, m)
		}
	}
	// Everything on the page was written by strangers: whatever slips through the escaping must find nothing it may do.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if err := page.Execute(w, rows); err != nil {
		s.world.Log.Debug("sandbox page was not taken", "error", err)
	}
}
