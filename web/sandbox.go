package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func sandboxPages() []page {
	return []page{
		{"GET /sandbox", needsSandbox(listSandbox)}, {"POST /sandbox/send", needsSandbox(sendToSandbox)}, {"POST /sandbox/empty", needsSandbox(emptySandbox)},
		{"GET /sandbox/{id}", needsSandbox(showSandboxMessage)}, {"GET /sandbox/{id}/body", needsSandbox(showSandboxBody)},
	}
}

// needsSandbox hides a page where mail goes to the internet.
func needsSandbox(answer func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if v.dashboard.config.Sandbox == nil {
			return &problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page: mail of this installation goes to the internet."}
		}
		return answer(v)
	}
}

// askSandbox asks the small internet beside this process, as its own door at /sandbox is asked.
func (v *visit) askSandbox(method, path string, out any) error {
	r, err := http.NewRequestWithContext(v.r.Context(), method, path, bytes.NewReader(nil))
	if err != nil {
		return fmt.Errorf("ask sandbox for %s: %w", path, err)
	}
	got := &answer{status: http.StatusOK, header: http.Header{}}
	v.dashboard.config.Sandbox.ServeHTTP(got, r)
	if got.status >= 400 {
		return got.problem()
	}
	if err := json.Unmarshal(got.body.Bytes(), out); err != nil {
		return fmt.Errorf("read sandbox's answer for %s: %w", path, err)
	}
	return nil
}

// sandboxRecord is a message that a provider of the sandbox took.
type sandboxRecord struct {
	ID         string
	ReceivedAt time.Time `json:"received_at"`
	Envelope   struct {
		MailFrom string   `json:"mail_from"`
		RcptTo   []string `json:"rcpt_to"`
	}
	Provider       string
	Raw            string
	RawBase64      []byte `json:"raw_base64"`
	Subject        string
	Authentication struct{ SPF, DKIM, DMARC string }
	TLS            bool
}

// bytes are the message as it came.
func (m sandboxRecord) bytes() []byte {
	if len(m.RawBase64) > 0 {
		return m.RawBase64
	}
	return []byte(m.Raw)
}

// sandboxPage is the mailbox of everybody: what was sent, and never left this machine.
type sandboxPage struct {
	shell
	Rows    []sandboxRow
	Refused []emailRow
	Query   string
	Magic   []magicAddress
}

type sandboxRow struct {
	ID, To, Subject, Href string
	Verdicts              []verdict
	At                    moment
}

// magicAddress is a mailbox that ends a delivery in its own way.
type magicAddress struct{ Mood, Title, Text string }

var magicAddresses = []magicAddress{
	{"delivered", "Delivered", "Accepted and kept, as mail to any other address is."},
	{"bounce", "Bounced", "550 5.1.1, no such mailbox. The address is suppressed."},
	{"full", "Mailbox full", "552 5.2.2, the recipient is over quota."},
	{"block", "Blocked", "550 5.7.1, refused for the reputation of the sender."},
	{"defer", "Deferred", "451 at first, accepted at the second try."},
	{"dsn", "Bounced later", "Accepted, then a bounce message comes back."},
	{"complain", "Complained", "Accepted, then reported as spam."},
	{"open", "Opened", "Accepted, then its pictures are loaded. Needs open tracking."},
	{"click", "Clicked", "Accepted, then its first link is followed. Needs click tracking."},
}

// sandboxRows is how many messages the page shows; older ones are found by their recipient.
const sandboxRows = 50

func listSandbox(v *visit) error {
	p := sandboxPage{shell: v.shell("Sandbox mailbox", "sandbox").with("inbox.css", "ask.css"), Query: v.query("q"), Magic: magicAddresses}
	var list struct{ Data []sandboxRecord }
	query := url.Values{"limit": {strconv.Itoa(sandboxRows)}}
	if p.Query != "" {
		query.Set("to", p.Query)
	}
	if err := v.askSandbox(http.MethodGet, "/sandbox/messages?"+query.Encode(), &list); err != nil {
		return err
	}
	for _, m := range list.Data {
		p.Rows = append(p.Rows, sandboxRow{ID: m.ID, To: visible(recipients(m.Envelope.RcptTo)), Subject: subjectOrNone(m.Subject), Verdicts: m.verdicts(), At: v.moment(m.ReceivedAt),
			Href: v.link("sandbox", m.ID)})
	}
	if v.can("email:read") && p.Query == "" {
		refused, err := v.emailRows(url.Values{"limit": {"10"}, "status": {"bounced", "failed"}})
		if err != nil {
			return err
		}
		p.Refused = refused.Rows
	}
	return v.show("sandbox/list", p)
}

// verdicts are what a provider concluded about a message.
func (m sandboxRecord) verdicts() []verdict {
	a := m.Authentication
	list := []verdict{newVerdict("SPF", a.SPF), newVerdict("DKIM", a.DKIM), newVerdict("DMARC", a.DMARC)}
	if a.DKIM == "pass" {
		list[1].Detail = "Verified with the key that the domain publishes."
	}
	return list
}

// sendToSandbox sends a mail to a magic address. Its label differs each time, so that what came of the last one does not matter.
func sendToSandbox(v *visit) error {
	senders, err := v.knownSenders()
	if err != nil {
		return err
	}
	from := v.dashboard.config.SandboxDomain
	if len(senders) > 0 {
		from = senders[0]
	}
	mood := v.value("mood")
	body := map[string]any{"from": "Acme <hello@" + from + ">", "to": []string{mood + "+" + strconv.FormatInt(v.now.UnixMilli()%1_000_000, 10) + "@sandbox.test"},
		"subject": "A test: " + strings.ToLower(mood), "text": "Hello from the sandbox. A link to follow: https://example.com/hello",
		"html": `<p>Hello from the sandbox.</p><p><a href="https://example.com/hello">A link to follow</a></p>`}
	var sent struct{ ID string }
	if err := v.send(http.MethodPost, "/v1/emails", body, &sent); err != nil {
		return err
	}
	return v.redirect(v.link("emails", sent.ID), "Accepted. What happens to it appears below.")
}

func emptySandbox(v *visit) error {
	if !v.can("email:send") {
		return &problem{Status: http.StatusForbidden, Code: "forbidden", Message: "Your role may look at the mailbox, but not empty it."}
	}
	var gone struct{ Deleted int64 }
	if err := v.askSandbox(http.MethodDelete, "/sandbox/messages", &gone); err != nil {
		return err
	}
	return v.redirect(v.link("sandbox"), "Emptied: "+v.plural(gone.Deleted, "message", "messages")+".")
}
