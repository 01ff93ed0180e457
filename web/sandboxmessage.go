package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"postrider/mail/message"
)

// sandboxMessagePage is one message as its reader would get it.
type sandboxMessagePage struct {
	shell
	Message  sandboxRecord
	Tab      string
	Tabs     []tab
	At       moment
	From, To string
	HTML     string
	Text     string
	Source   string
	Headers  []fact
	Verdicts []verdict
	Files    []fileRow
	Facts    []fact
	// Timeline is the page of the email that the message was made from.
	Timeline string
}

// maxSandboxText is how much of a part is read; the source shows the rest.
const maxSandboxText = 2 << 20

func (v *visit) sandboxMessage() (sandboxRecord, message.Content, []fileRow, error) {
	var m sandboxRecord
	if err := v.askSandbox(http.MethodGet, "/sandbox/messages/"+url.PathEscape(v.path("id")), &m); err != nil {
		return m, message.Content{}, nil, err
	}
	var files []fileRow
	content, err := message.ReadContent(bytes.NewReader(m.bytes()), maxSandboxText, func(part *message.Part) error {
		length, err := io.Copy(io.Discard, part.Body)
		name := visible(part.Filename())
		if name == "" {
			name = "(no name)"
		}
		files = append(files, fileRow{Name: name, Kind: visible(part.Type), Size: size(length)})
		return err
	})
	if err != nil {
		return m, content, files, fmt.Errorf("read message of sandbox: %w", err)
	}
	return m, content, files, nil
}

func showSandboxMessage(v *visit) error {
	m, content, files, err := v.sandboxMessage()
	if err != nil {
		return err
	}
	p := sandboxMessagePage{Message: m, Tab: v.query("tab"), At: v.exact(m.ReceivedAt), HTML: visibleText(content.HTML), Text: visibleText(content.Text), Files: files, Verdicts: m.verdicts(),
		To: visible(strings.Join(m.Envelope.RcptTo, ", "))}
	p.shell = v.shell(subjectOrNone(m.Subject), "sandbox").under(crumb{"Sandbox mailbox", v.link("sandbox")}).with("inbox.css")
	here := v.link("sandbox", m.ID)
	for _, t := range []tab{{Name: "", Label: "HTML"}, {Name: "text", Label: "Text"}, {Name: "source", Label: "Source"}, {Name: "headers", Label: "Headers"}} {
		t.Href, t.Current = here, t.Name == p.Tab
		if t.Name != "" {
			t.Href += "?tab=" + t.Name
		}
		p.Tabs = append(p.Tabs, t)
	}
	fields, _, err := message.ReadHeader(m.bytes())
	if err != nil {
		return fmt.Errorf("read header of sandbox message: %w", err)
	}
	v.addSandboxHeaders(&p, fields)
	if p.Tab == "source" {
		p.Source = visibleText(string(m.bytes()))
	}
	return v.show("sandbox/message", p)
}

// addSandboxHeaders reads what the header says, and finds the email that the message was made from.
func (v *visit) addSandboxHeaders(p *sandboxMessagePage, fields []message.Field) {
	unsubscribe, id := false, ""
	for _, field := range fields {
		value := visible(message.DecodeHeader(field.Value))
		p.Headers = append(p.Headers, fact{Name: visible(field.Name), Value: value, Code: true})
		switch {
		case field.Is("From") && p.From == "":
			p.From = value
		case field.Is("List-Unsubscribe"):
			unsubscribe = true
		case field.Is("Message-ID"):
			id = strings.Trim(strings.TrimSpace(field.Value), "<>")
		}
	}
	secure := verdict{"TLS", "pass", "Encrypted", "It came over an encrypted connection."}
	if !p.Message.TLS {
		secure = verdict{"TLS", "warning", "Not encrypted", "It came over a plain connection."}
	}
	leave := verdict{"One-click unsubscribe", "info", "Not offered", "Mail to many must offer it; a receipt need not."}
	if unsubscribe {
		leave = verdict{"One-click unsubscribe", "pass", "Offered", "Mail programs show a button of their own."}
	}
	p.Verdicts = append(p.Verdicts, secure, leave)
	p.Facts = []fact{{Name: "Envelope from", Value: visible(p.Message.Envelope.MailFrom)}, {Name: "Provider", Value: visible(p.Message.Provider)},
		{Name: "Message-ID", Value: visible(id), Code: true, Copy: id != ""}, {Name: "Size", Value: size(int64(len(p.Message.bytes())))}}
	if id == "" || !v.can("email:read") {
		return
	}
	if found, err := v.emailRows(url.Values{"limit": {"1"}, "search": {id}}); err == nil && len(found.Rows) == 1 {
		p.Timeline = found.Rows[0].Href
	}
}

func showSandboxBody(v *visit) error {
	_, content, _, err := v.sandboxMessage()
	if err != nil {
		return err
	}
	return v.showHostile(content.HTML, content.Text)
}
