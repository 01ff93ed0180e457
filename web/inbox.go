package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

func inboxPages() []page {
	return []page{
		{"GET /inbox", listInbox}, {"POST /inbox/try", tryInbox},
		{"GET /inbox/forwarding", listForwarding}, {"POST /inbox/forwarding", addForwarding},
		{"GET /inbox/forwarding/rules/{rule}", showForwarding}, {"POST /inbox/forwarding/rules/{rule}", changeForwarding}, {"POST /inbox/forwarding/rules/{rule}/remove", removeForwarding},
		{"GET /inbox/{id}", showReceived}, {"GET /inbox/{id}/body", showReceivedBody}, {"GET /inbox/{id}/files/{file}", getReceivedFile},
		{"POST /inbox/{id}/mark", markReceived}, {"POST /inbox/{id}/reply", replyReceived}, {"POST /inbox/{id}/delete", deleteReceived},
	}
}

// inboxPage is the mail that came in, newest first.
type inboxPage struct {
	shell
	Rows    []inboxRow
	Pager   pager
	Health  *inboxHealth
	Domains []string
	// Query, Domain and Only are the filters.
	Query, Domain, Only string
	// Receiver is an address at which a message can be tried; empty if there is no domain.
	Receiver string
	// Filters are those of the address, to come back to.
	Filters string
}

type inboxRow struct {
	ID, From, Subject, To, Href string
	Unread, Starred, Files      bool
	// Spam tells that it looks like spam beyond doubt.
	Spam bool
	At   moment
}

// Filtered tells whether the list shows a choice of all messages.
func (p inboxPage) Filtered() bool { return p.Query != "" || p.Domain != "" || p.Only != "" }

// receivedRecord is a received message as the API tells it.
type receivedRecord struct {
	ID, From, Subject string
	To, Cc            []string
	ReceivedFor       []string  `json:"received_for"`
	ReplyTo           []string  `json:"reply_to"`
	MessageID         string    `json:"message_id"`
	AnswersEmail      string    `json:"in_reply_to_email_id"`
	Thread            string    `json:"thread_id"`
	CreatedAt         time.Time `json:"created_at"`
	Read, Starred     bool
	TenantID          string `json:"managed_tenant_id"`
	SizeBytes         int64  `json:"size_bytes"`
	Authentication    *struct {
		SPF, DKIM, DMARC, ARC string
		DKIMDomain            string `json:"dkim_domain"`
	}
	Spam *struct {
		Score   float64
		Verdict string
	}
	Automatic bool `json:"auto_submitted"`
	Bulk      bool `json:"bulk"`
	Truncated bool
	Source    string
	Forwarded []struct {
		EmailID string `json:"email_id"`
		To      []string
	}
	Attachments []receivedFile
}

type receivedFile struct {
	ID, Filename string
	ContentType  string `json:"content_type"`
	Size         int64
}

// inboxFilters are the choices of the list, as the API calls them.
var inboxFilters = map[string][2]string{"unread": {"read", "false"}, "starred": {"starred", "true"}, "files": {"has_attachments", "true"}}

func listInbox(v *visit) error {
	p := inboxPage{shell: v.shell("Inbox", "inbox").with("inbox.css"), Query: v.query("q"), Domain: v.query("domain"), Only: v.query("only"), Filters: "?" + v.r.URL.RawQuery}
	query := v.pageQuery()
	for name, value := range map[string]string{"search": p.Query, "domain": p.Domain} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if only, ok := inboxFilters[p.Only]; ok {
		query.Set(only[0], only[1])
	}
	var list listOf[receivedRecord]
	if err := v.get("/v1/emails/receiving", query, &list); err != nil {
		return err
	}
	for _, m := range list.Data {
		row := inboxRow{ID: m.ID, From: visible(m.From), Subject: subjectOrNone(m.Subject), To: visible(recipients(m.ReceivedFor)), Unread: !m.Read, Starred: m.Starred,
			Files: len(m.Attachments) > 0, At: v.moment(m.CreatedAt),
			Href: v.receivedLink(m.ID, v.r.URL.RawQuery), Spam: m.Spam != nil && m.Spam.Verdict == "spam"}
		p.Rows = append(p.Rows, row)
	}
	p.Pager = beside(v, list)
	if err := v.addInboxDomains(&p); err != nil {
		return err
	}
	return v.show("inbox/list", p)
}

// receivedLink leads to a message, which knows the filters of the list to come back to.
func (v *visit) receivedLink(id, filters string) string {
	if filters == "" {
		return v.link("inbox", id)
	}
	return v.link("inbox", id) + "?" + url.Values{"filters": {filters}}.Encode()
}

// filteredInbox leads back to the list as it was.
func (v *visit) filteredInbox(filters string) string {
	if filters == "" {
		return v.link("inbox")
	}
	return v.link("inbox") + "?" + filters
}

func (v *visit) addInboxDomains(p *inboxPage) error {
	if v.can("domain:read") {
		found, err := every[struct{ Domain string }](v, "/v1/domains", nil, maxOffered)
		if err != nil {
			return err
		}
		for _, d := range found {
			p.Domains = append(p.Domains, d.Domain)
		}
		if len(p.Domains) > 0 {
			p.Receiver = "hello@" + p.Domains[0]
		}
		if p.Domain != "" && !slices.Contains(p.Domains, p.Domain) {
			p.Domains = append(p.Domains, p.Domain)
		}
	}
	if v.r.Header.Get(scripted) != "" {
		return nil // a script wants the rows; the health of all domains is slow to learn
	}
	var err error
	p.Health, err = v.inboxHealth()
	return err
}

func subjectOrNone(subject string) string {
	if strings.TrimSpace(subject) == "" {
		return "(no subject)"
	}
	return visible(subject)
}

// inboxHealth says what keeps mail from coming in. It is nil if nothing does.
type inboxHealth struct {
	State, Title, Text string
	// Domains are those that need a hand.
	Domains []inboxDomain
}

type inboxDomain struct{ Domain, Text, Href string }

// healthWithin is how long a list waits for the name servers of strangers.
const healthWithin = 2 * time.Second

func (v *visit) inboxHealth() (*inboxHealth, error) {
	ctx, done := context.WithTimeout(v.r.Context(), healthWithin)
	defer done()
	whole := v.r
	v.r = v.r.WithContext(ctx)
	defer func() { v.r = whole }()
	var found struct {
		Status  string
		Domains []struct {
			DomainID string `json:"domain_id"`
			Domain   string
			Status   string
			Message  string
		}
	}
	if err := v.get("/v1/emails/receiving/health", nil, &found); err != nil {
		if ctx.Err() != nil {
			return nil, nil // it took too long; the list is worth more
		}
		return nil, err
	}
	h := &inboxHealth{State: "warning"}
	enabled := 0
	for _, d := range found.Domains {
		if d.Status != "not_enabled" {
			enabled++
		}
		if d.Message != "" {
			h.Domains = append(h.Domains, inboxDomain{d.Domain, d.Message, v.linkFor("domain:read", "domains", d.DomainID)})
		}
	}
	switch {
	case found.Status == "disabled":
		h.Title, h.Text = "This installation does not receive mail.", "Whoever runs it can switch the receiver on; until then only test messages arrive here."
	case found.Status == "unhealthy":
		h.State, h.Title, h.Text = "error", "The receiver is not in order.", "Mail for your domains waits at its senders, who try again for some days. Whoever runs this installation should look at it now."
	case enabled == 0:
		h.Title, h.Text = "Receiving is off for all your domains.", "Switch it on at a domain and publish its MX record. Until then only test messages arrive here."
	case len(h.Domains) > 0:
		h.Title, h.Text = "Mail for some domains does not arrive here.", ""
	default:
		return nil, nil
	}
	return h, nil
}

// tryInbox hands in a message as if somebody had written it.
func tryInbox(v *visit) error {
	to := v.value("to")
	body := map[string]any{"from": "Ada Lovelace <ada@example.com>", "to": []string{to}, "subject": "Is anybody there?",
		"text": "Hello,\n\nI wanted to see whether mail to you arrives. If you can read this, it does.\n\nAda\n\nOn Sunday you wrote:\n> Write to us any time.\n> We read everything.\n",
		"html": "<p>Hello,</p><p>I wanted to see whether mail to you arrives. If you can read this, <b>it does</b>.</p><p>Ada</p><blockquote>Write to us any time.<br>We read everything.</blockquote>"}
	var received receivedRecord
	if err := v.send(http.MethodPost, "/v1/emails/receiving", body, &received); err != nil {
		return err
	}
	return v.redirect(v.link("inbox", received.ID), "Handed in. Webhooks and forwarding rules have seen it, too.")
}
