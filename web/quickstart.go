package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

func quickStartPages() []page { return []page{{"GET /quickstart", quickStart}} }

// quickStartPage shows how to send the first email, and waits for it.
type quickStartPage struct {
	shell
	URL, Sender, Receiver string
	Tabs                  []tab
	Tab                   dialect
	Code                  string
	SMTP                  []fact
	Blocks                []codeBlock
	Call                  *firstCall
}

// dialect is a way to send.
type dialect struct{ Name, Label, Hint string }

// languages are the ways to send, in the order of the tabs.
var languages = []dialect{
	{"curl", "curl", "Put the key into the environment, then paste this into a terminal: export POSTRIDER_API_KEY=…"},
	{"node", "Node", "Save it as send.mjs, then: node send.mjs. Needs Node 18 and nothing else."},
	{"python", "Python", "Save it as send.py, then: python3 send.py. Needs nothing but the standard library."},
	{"go", "Go", "Save it as main.go, then: go run main.go. Needs nothing but the standard library."},
	{"php", "PHP", "Save it as send.php, then: php send.php. Needs the curl extension."},
	{"ruby", "Ruby", "Save it as send.rb, then: ruby send.rb. Needs nothing but the standard library."},
	{"smtp", "SMTP", "For programs that know how to send mail already."},
}

// codeBlock is code with a heading.
type codeBlock struct{ Title, Code string }

// languageCookie remembers the tab.
const languageCookie = "language"

func quickStart(v *visit) error {
	p := quickStartPage{shell: v.shell("Quick start", "quickstart").with("build.css", "again.js"), URL: v.dashboard.config.BaseURL, Receiver: v.receiver(), Tab: v.wantedDialect()}
	sender, err := v.senderFor(nil)
	if err != nil {
		return err
	}
	p.Sender = sender
	if sender == "" {
		sender = "hello@your-domain.example"
	}
	for _, l := range languages {
		p.Tabs = append(p.Tabs, tab{Name: l.Name, Label: l.Label, Href: v.link("quickstart") + "?lang=" + l.Name, Current: l == p.Tab})
	}
	if p.Tab.Name == "smtp" {
		p.SMTP, p.Blocks = v.smtpFacts(), []codeBlock{{"Nodemailer", v.code("smtp-nodemailer", sample{From: sender})}, {"Django, settings.py", v.code("smtp-django", sample{From: sender})},
			{"Laravel, .env", v.code("smtp-laravel", sample{From: sender})}}
	} else {
		p.Code = v.snippet(p.Tab.Name, sample{From: sender})
	}
	if p.Call, err = v.newestCall(); err != nil {
		return err
	}
	return v.show("quickstart/quickstart", p)
}

// wantedDialect is the tab of the address, or else the one of the last visit.
func (v *visit) wantedDialect() dialect {
	wanted := v.query("lang")
	if wanted != "" {
		http.SetCookie(v.w, &http.Cookie{Name: languageCookie, Value: url.QueryEscape(wanted), Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	} else if cookie, err := v.r.Cookie(languageCookie); err == nil {
		wanted = cookie.Value
	}
	for _, l := range languages {
		if l.Name == wanted {
			return l
		}
	}
	return languages[0]
}

func (v *visit) smtpFacts() []fact {
	host, port := v.submission()
	return []fact{{Name: "Server", Value: host, Code: true, Copy: true}, {Name: "Port", Value: port, Code: true, Copy: true}, {Name: "Encryption", Value: "STARTTLS"},
		{Name: "User", Value: "postrider", Code: true, Copy: true}, {Name: "Password", Value: "An API key that may send"}}
}

// firstCall is what the newest attempt to send with a key led to.
type firstCall struct {
	State       badge
	Title, Text string
	Wrong       []string
	Href        string
	At          moment
	// Settled tells that nothing more is waited for.
	Settled bool
}

// newestCall returns the newest email that a program sent, or the newest refusal if that is newer. It is nil as long as there is
// neither.
func (v *visit) newestCall() (*firstCall, error) {
	if !v.can("logs:read") || !v.can("email:read") {
		return nil, nil
	}
	sent, err := v.newestSent()
	if err != nil {
		return nil, err
	}
	refused, err := v.newestRefusal()
	switch {
	case err != nil:
		return nil, err
	case refused != nil && (sent == nil || refused.CreatedAt.After(sent.CreatedAt)):
		return v.refusedCall(*refused)
	case sent != nil:
		return v.acceptedCall(*sent), nil
	}
	return nil, nil
}

// sentRecord is an email, and the key that it was sent with; mail of people, broadcasts and automations has none.
type sentRecord struct {
	emailRecord
	KeyID       string    `json:"api_key_id"`
	DeliveredAt time.Time `json:"delivered_at"`
}

// newestSent returns the newest email that a program sent. Behind many emails of a broadcast it is found by the request that was taken.
func (v *visit) newestSent() (*sentRecord, error) {
	var list listOf[sentRecord]
	if err := v.get("/v1/emails", url.Values{"limit": {strconv.Itoa(largestPage)}}, &list); err != nil {
		return nil, err
	}
	for _, one := range list.Data {
		if one.KeyID != "" {
			return &one, nil
		}
	}
	if !list.HasMore {
		return nil, nil
	}
	call, err := v.newestLogged(func(e logRecord) bool { return e.EmailID != "" },
		url.Values{"kind": {"api_request"}, "search": {"emails"}, "status": {"202"}},
		url.Values{"kind": {"smtp_submission"}, "status": {"accepted"}})
	if call == nil || err != nil {
		return nil, err
	}
	var sent sentRecord
	if err := v.get(apiPath("emails", call.EmailID), nil, &sent); err != nil {
		if isRefused(err, "not_found") {
			return nil, nil
		}
		return nil, err
	}
	return &sent, nil
}

func (v *visit) newestRefusal() (*logRecord, error) {
	return v.newestLogged(func(e logRecord) bool { return e.EmailID == "" },
		url.Values{"kind": {"api_request"}, "search": {"emails"}, "status": {"4xx", "5xx"}},
		url.Values{"kind": {"smtp_submission"}, "status": {"refused"}})
}

// newestLogged returns the newest call of a program to send that is wanted, among those that the queries find.
func (v *visit) newestLogged(wanted func(logRecord) bool, queries ...url.Values) (newest *logRecord, err error) {
	for _, query := range queries {
		query.Set("limit", strconv.Itoa(largestPage))
		var list listOf[logRecord]
		if err := v.get("/v1/logs", query, &list); err != nil {
			return nil, err
		}
		for _, e := range list.Data {
			sends := e.Kind == "smtp_submission" || e.KeyID != "" && e.Method == http.MethodPost && (e.Endpoint == "/emails" || e.Endpoint == "/emails/batch")
			if sends && wanted(e) && (newest == nil || e.CreatedAt.After(newest.CreatedAt)) {
				newest = &e
			}
		}
	}
	return newest, nil
}

func (v *visit) acceptedCall(sent sentRecord) *firstCall {
	state := newBadge(sent.Status)
	c := &firstCall{State: state, Title: "Got it: " + state.Label, Text: "To " + visible(recipients(sent.To)) + ": " + visible(sent.Subject),
		Href: v.link("emails", sent.ID), At: v.ago(sent.CreatedAt), Settled: true}
	if took := sent.DeliveredAt.Sub(sent.CreatedAt); !sent.DeliveredAt.IsZero() && took >= 0 {
		c.Title = "Got it: delivered in " + duration(took)
	}
	return c
}

func (v *visit) refusedCall(e logRecord) (*firstCall, error) {
	c := &firstCall{State: badge{"bounced", "circle-x", "Refused"}, Title: "Refused: " + e.Message, Href: v.link("logs", e.ID), At: v.ago(e.CreatedAt)}
	var whole struct {
		ResponseBody json.RawMessage `json:"response_body"`
	}
	if err := v.get(apiPath("logs", e.ID), nil, &whole); err != nil {
		return nil, err
	}
	if code, said, wrong := errorIn(whole.ResponseBody); code != "" {
		c.Title, c.Text, c.Wrong = fmt.Sprintf("Refused: %d %s", e.ResponseStatus, code), said, wrong
	}
	return c, nil
}
