package web

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
)

// receivedPage is one message that came in. What it says was written by strangers: its HTML is shown in a frame only.
type receivedPage struct {
	shell
	Message  receivedDetail
	Tab      string
	Tabs     []tab
	At       moment
	To       string
	Verdicts []verdict
	Files    []fileRow
	Facts    []fact
	Headers  []fact
	Body     []textPart
	Sent     []answerRow
	Answers  *answerRow
	Reply    replyForm
	Problem  *problem
	// Refused is why it could not be deleted.
	Refused *problem
	// Filters are those of the list that it was opened from.
	Filters string
}

type receivedDetail struct {
	receivedRecord
	HTML, Text   string
	StrippedText string                         `json:"stripped_text"`
	HeaderLines  []struct{ Name, Value string } `json:"header_lines"`
	Envelope     struct {
		MailFrom string   `json:"mail_from"`
		RcptTo   []string `json:"rcpt_to"`
		RemoteIP string   `json:"remote_ip"`
	}
	Raw struct {
		DownloadURL string `json:"download_url"`
	}
}

type fileRow struct{ Name, Kind, Size, Href string }

// textPart is a piece of a text; quoted pieces are folded away.
type textPart struct {
	Text   string
	Quoted bool
}

type answerRow struct{ Label, Href string }

type replyForm struct {
	From, To, Text string
	All, Quote     bool
	// Once names the form, so that pressing its button twice sends one answer.
	Once string
}

func (v *visit) receivedPage() (receivedPage, error) {
	p := receivedPage{Tab: v.query("tab"), Filters: orElse(v.value("filters"), v.query("filters"))}
	if err := v.get(apiPath("emails", "receiving", v.path("id")), nil, &p.Message); err != nil {
		return p, err
	}
	m := p.Message
	subject := subjectOrNone(m.Subject)
	p.shell = v.shell(subject, "inbox").under(crumb{"Inbox", v.filteredInbox(p.Filters)}).with("inbox.css", "unsaved.js")
	p.Message.Subject, p.Message.From, p.Message.HTML = subject, visible(m.From), visibleText(m.HTML)
	p.At, p.To = v.moment(m.CreatedAt), visible(strings.Join(m.ReceivedFor, ", "))
	for _, t := range []tab{{Name: "", Label: "Message"}, {Name: "text", Label: "Text"}, {Name: "headers", Label: "Headers and source"}} {
		t.Current = t.Name == p.Tab
		if t.Href = v.receivedLink(m.ID, p.Filters); t.Name != "" {
			t.Href = v.link("inbox", m.ID) + "?" + add(url.Values{"tab": {t.Name}}, map[string]string{"filters": p.Filters}).Encode()
		}
		p.Tabs = append(p.Tabs, t)
	}
	p.Verdicts = receivedVerdicts(m.receivedRecord)
	for _, f := range m.Attachments {
		name := visible(f.Filename)
		if name == "" {
			name = "(no name)"
		}
		p.Files = append(p.Files, fileRow{name, visible(f.ContentType), size(f.Size), v.link("inbox", m.ID, "files", f.ID)})
	}
	for _, line := range m.HeaderLines {
		p.Headers = append(p.Headers, fact{Name: visible(line.Name), Value: visible(line.Value), Code: true})
	}
	p.Body = foldQuoted(m.Text)
	p.Facts = v.receivedFacts(m)
	p.Reply = replyForm{Once: rand.Text(), Quote: true, To: visible(strings.Join(m.ReplyTo, ", "))}
	if p.Reply.To == "" {
		p.Reply.To = visible(m.From)
	}
	if len(m.ReceivedFor) > 0 {
		p.Reply.From = m.ReceivedFor[0]
	}
	if m.AnswersEmail != "" {
		p.Answers = &answerRow{"It answers an email of yours.", v.link("emails", m.AnswersEmail)}
	}
	for _, passed := range m.Forwarded {
		p.Sent = append(p.Sent, answerRow{visible(strings.Join(passed.To, ", ")), v.link("emails", passed.EmailID)})
	}
	return p, nil
}

func (v *visit) receivedFacts(m receivedDetail) []fact {
	facts := []fact{{Name: "Message ID", Value: visible(m.MessageID), Code: true, Copy: m.MessageID != ""}, {Name: "Sent by", Value: visible(m.Envelope.MailFrom)},
		{Name: "Came from", Value: m.Envelope.RemoteIP, Code: true}, {Name: "Came by", Value: map[string]string{"smtp": "SMTP", "ingest": "The API, as a test"}[m.Source]}, {Name: "Size", Value: size(m.SizeBytes)}}
	var known []fact
	for _, f := range facts {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	if m.Automatic {
		known = append(known, fact{Name: "Written by", Value: "A program"})
	}
	if m.Bulk {
		known = append(known, fact{Name: "Sent to", Value: "Many at once, by a list or as a newsletter"})
	}
	if m.TenantID != "" {
		known = append(known, fact{Name: "Customer", Value: m.TenantID, Code: true, Href: v.linkFor("tenant:read", "customers", m.TenantID)})
	}
	return known
}

// foldQuoted cuts a text where quoting begins and ends.
func foldQuoted(text string) []textPart {
	var parts []textPart
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		quoted := strings.HasPrefix(strings.TrimLeft(line, " \t"), ">")
		if last := len(parts) - 1; last >= 0 && parts[last].Quoted == quoted {
			parts[last].Text += "\n" + shownLine(line)
			continue
		}
		parts = append(parts, textPart{shownLine(line), quoted})
	}
	return parts
}

// shownLine makes hidden characters of a line visible, and keeps its indentation.
func shownLine(line string) string {
	return visible(strings.ReplaceAll(line, "\t", "    "))
}

// showReceived shows a message. Who opens it has read it.
func showReceived(v *visit) error {
	p, err := v.receivedPage()
	if err != nil {
		return err
	}
	if !p.Message.Read && v.r.Method == http.MethodGet {
		// It stays unread if the mark is refused, as when a link on another site leads here.
		if err := v.send(http.MethodPatch, apiPath("emails", "receiving", p.Message.ID), map[string]bool{"read": true}, nil); err == nil {
			p.Message.Read = true
		}
	}
	return v.show("inbox/message", p)
}

func showReceivedBody(v *visit) error {
	var m receivedDetail
	if err := v.get(apiPath("emails", "receiving", v.path("id")), url.Values{"html_format": {"data_uri"}}, &m); err != nil {
		return err
	}
	return v.showHostile(m.HTML, m.Text)
}

// getReceivedFile leads to the content of an attachment, which is always downloaded and never shown.
func getReceivedFile(v *visit) error {
	var file struct {
		DownloadURL string `json:"download_url"`
	}
	if err := v.get(apiPath("emails", "receiving", v.path("id"), "attachments", v.path("file")), nil, &file); err != nil {
		return err
	}
	http.Redirect(v.w, v.r, file.DownloadURL, http.StatusSeeOther)
	return nil
}

// markReceived changes the marks of a message: read, unread, star or nostar.
func markReceived(v *visit) error {
	id, to := v.path("id"), v.receivedLink(v.path("id"), v.value("filters"))
	body, said := map[string]bool{}, ""
	switch v.value("as") {
	case "read":
		body["read"] = true
	case "unread":
		body["read"], to, said = false, v.filteredInbox(v.value("filters")), "Marked as unread."
	case "star":
		body["starred"] = true
	case "nostar":
		body["starred"] = false
	}
	if err := v.send(http.MethodPatch, apiPath("emails", "receiving", id), body, nil); err != nil {
		return err
	}
	if v.checked("list") {
		to = v.link("inbox")
		if filters := v.value("list"); strings.HasPrefix(filters, "?") {
			to += filters
		}
	}
	return v.redirect(to, said)
}

func deleteReceived(v *visit) error {
	err := v.send(http.MethodDelete, apiPath("emails", "receiving", v.path("id")), nil, nil)
	if isRefused(err, "invalid_state") {
		p, failed := v.receivedPage()
		if failed != nil {
			return failed
		}
		p.Refused = refusal(err)
		return v.showStatus(p.Refused.Status, "inbox/message", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.filteredInbox(v.value("filters")), "Message deleted.")
}

func replyReceived(v *visit) error {
	id := v.path("id")
	asked := replyForm{From: v.value("from"), To: v.value("to"), Text: newlines(v.value("text")), All: v.checked("reply_all"), Quote: v.checked("quote"), Once: v.value("once")}
	body := once(asked.Once, map[string]any{"text": asked.Text, "from": asked.From, "to": addresses(asked.To), "reply_all": asked.All, "quote": asked.Quote})
	var sent struct{ ID string }
	err := v.send(http.MethodPost, apiPath("emails", "receiving", id, "reply"), body, &sent)
	if refused, ok := err.(*problem); ok && refused.Status != http.StatusNotFound {
		p, err := v.receivedPage()
		if err != nil {
			return err
		}
		p.Reply, p.Problem = asked, refused
		return v.showStatus(refused.Status, "inbox/message", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("emails", sent.ID), "Answer accepted. What happens to it appears below.")
}

// visibleText makes hidden characters of a text visible, line by line.
func visibleText(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = shownLine(line)
	}
	return strings.Join(lines, "\n")
}
