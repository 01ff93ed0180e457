package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// emailPage is everything about one email. Its tabs are addresses of their own.
type emailPage struct {
	shell
	Email      emailDetail
	At         moment
	Sentence   string
	To         string
	Tab        string
	Tabs       []tab
	Recipients []recipientRow
	Timeline   []happening
	// Later leads to the events that are not in the timeline, which says how many are in Told.
	Later, Told string
	Phases      []phase
	Took        string
	Attempts    []attemptRow
	Events      []eventRow
	// Pager leads through the tab of attempts or of events; Drawn and More say on the first tab how many of all attempts it shows.
	Pager       pager
	Drawn, More string
	Raw         string
	Facts       []fact
	Why         *bounce
	Shared      string
	// Zones tell when it goes out, by several clocks, as long as it can still be moved or cancelled; When is the time that the form
	// to move it shows.
	Zones   []string
	When    string
	Problem *problem
}

// tab is one view of a record.
type tab struct {
	Name, Label, Href, Count string
	Current                  bool
}

type emailDetail struct {
	emailRecord
	From        string            `json:"from"`
	HTML        string            `json:"html"`
	Text        string            `json:"text"`
	MessageID   string            `json:"message_id"`
	Headers     map[string]string `json:"headers"`
	Source      string            `json:"source"`
	Provider    string            `json:"provider"`
	SizeBytes   int64             `json:"size_bytes"`
	APIKeyID    *string           `json:"api_key_id"`
	TemplateID  *string           `json:"template_id"`
	Tags        []struct{ Name, Value string }
	NextAttempt *time.Time `json:"next_attempt_at"`
	Failure     *struct{ Reason, Message string }
	Recipients  []struct {
		Email, Kind, Status, ISP string
		Attempts, Opens, Clicks  int
		LastResponse             *string `json:"last_response"`
		Bounce                   *bounce
	}
	Timeline []struct {
		Type, Status, Message, Recipient string
		EventID                          string    `json:"event_id"`
		OccurredAt                       time.Time `json:"occurred_at"`
	}
}

type bounce struct {
	Message, Class, Category string
	Suppressed               bool
	EnhancedCode             string `json:"enhanced_code"`
	Recipient                string `json:"-"`
	// Others is how many recipients bounced besides this one.
	Others int64 `json:"-"`
}

type recipientRow struct{ Address, Kind, Status, Provider, Response, Href string }

type happening struct {
	State, Title, Text, Recipient string
	At                            moment
}

type fact struct {
	Name, Value, Href string
	Code, Copy        bool
}

func showEmail(v *visit) error { return v.showEmail(emailPage{Tab: v.query("tab")}) }

// showEmail draws the email in the address. The page brings what the action before it has to say.
func (v *visit) showEmail(p emailPage) error {
	id := v.path("id")
	if err := v.get(apiPath("emails", id), nil, &p.Email); err != nil {
		return err
	}
	tried, err := v.attemptsFor(&p, id)
	if err != nil {
		return err
	}
	v.describe(&p, tried)
	if p.Tab == "" {
		if err := v.findLater(&p); err != nil {
			return err
		}
	}
	if p.Tab == "events" {
		if err := v.addEvents(&p, id); err != nil {
			return err
		}
	}
	if p.Tab == "source" {
		var raw struct{ URL string }
		if err := v.get(apiPath("emails", id, "raw"), nil, &raw); err == nil {
			p.Raw = raw.URL
		}
	}
	if p.Problem != nil {
		return v.showStatus(p.Problem.Status, "emails/detail", p)
	}
	return v.show("emails/detail", p)
}

// longTimeline is how many events the API tells in a timeline, the oldest of all; its list of events has the rest.
const longTimeline = 500

// findLater looks for events that came after those of the timeline.
func (v *visit) findLater(p *emailPage) error {
	told := 0
	for _, t := range p.Email.Timeline {
		if t.EventID != "" {
			told++
		}
	}
	if told < longTimeline {
		return nil
	}
	var later listOf[struct{}]
	if err := v.get(apiPath("emails", p.Email.ID, "events"), url.Values{"limit": {"1"}, "offset": {strconv.Itoa(told)}}, &later); err != nil || len(later.Data) == 0 {
		return err
	}
	p.Told = "These are the first " + v.number(int64(told)) + " events; there were more since."
	p.Later = v.link("emails", p.Email.ID) + "?" + url.Values{"tab": {"events"}, "offset": {strconv.Itoa(told)}}.Encode()
	return nil
}

func (v *visit) describe(p *emailPage, tried attempts) {
	e := p.Email
	subject := visible(e.Subject)
	if subject == "" {
		subject = "(no subject)"
	}
	p.shell = v.shell(subject, "emails").under(crumb{"Emails", v.link("emails")})
	p.Email.From, p.Email.Subject = visible(e.From), subject
	p.At, p.Sentence, p.To = v.moment(e.CreatedAt), sentences[e.Status], visible(strings.Join(e.To, ", "))
	if more := len(e.To) - 1; more > 2 { // the list beside the timeline has them all
		p.To = visible(e.To[0]) + " and " + v.number(int64(more)) + " others"
	}
	if e.Status == "scheduled" && e.ScheduledAt != nil {
		p.Zones, p.When = v.inZones(*e.ScheduledAt), orElse(v.value("scheduled_at"), e.ScheduledAt.In(v.zone()).Format(momentLayout))
	}
	here := v.link("emails", e.ID)
	for _, t := range []tab{{Name: "", Label: "Timeline"}, {Name: "preview", Label: "Preview"}, {Name: "source", Label: "Headers and source"},
		{Name: "attempts", Label: "SMTP attempts", Count: v.number(tried.all)}, {Name: "events", Label: "Webhook events"}} {
		t.Href, t.Current = here, t.Name == p.Tab
		if t.Name != "" {
			t.Href += "?tab=" + t.Name
		}
		p.Tabs = append(p.Tabs, t)
	}
	for _, r := range e.Recipients {
		row := recipientRow{Address: visible(r.Email), Kind: r.Kind, Status: r.Status, Provider: words(r.ISP), Href: v.link("people", r.Email)}
		if r.LastResponse != nil {
			row.Response = visible(*r.LastResponse)
		}
		if r.Bounce != nil && p.Why == nil {
			p.Why = r.Bounce
			p.Why.Recipient = r.Email
		} else if r.Bounce != nil {
			p.Why.Others++
		}
		p.Recipients = append(p.Recipients, row)
	}
	for i := len(e.Timeline) - 1; i >= 0; i-- {
		t := e.Timeline[i]
		p.Timeline = append(p.Timeline, happening{State: t.Status, Title: titleOf(t.Type, t.Status), Text: v.timely(visible(t.Message)), Recipient: t.Recipient, At: v.exact(t.OccurredAt)})
	}
	for _, a := range tried.read {
		p.Attempts = append(p.Attempts, v.attemptRow(a))
	}
	if p.Tab == "" && len(tried.read) > 0 {
		p.Phases, p.Took = phases(e, tried.read, tried.last)
		if tried.all > maxPhases {
			p.Drawn = "the first " + v.number(maxPhases) + " of " + v.number(tried.all) + " attempts"
		}
		if shown := int64(len(tried.read)); shown < tried.all {
			p.More = "These are the first " + v.number(shown) + " of " + v.number(tried.all) + " attempts."
		}
	}
	p.Facts = v.emailFacts(e)
}

// timely writes the time that a message of the API tells as the clocks of the visitor show it.
func (v *visit) timely(message string) string {
	const scheduled = "Scheduled for "
	at, err := time.Parse(scheduled+time.RFC3339+".", message)
	if err != nil {
		return message
	}
	return scheduled + v.inZones(at)[0] + "."
}

// titleOf names what happened: by its state if it led to one, else by its type.
func titleOf(kind, status string) string {
	if kind == "email.delivery_delayed" || status == "" {
		return words(strings.TrimPrefix(kind, "email."))
	}
	return newBadge(status).Label
}

func (v *visit) emailFacts(e emailDetail) []fact {
	facts := []fact{{Name: "Email ID", Value: e.ID, Code: true, Copy: true}, {Name: "Message-ID", Value: e.MessageID, Code: true, Copy: true},
		{Name: "Source", Value: words(e.Source)}, {Name: "Size", Value: size(e.SizeBytes)}}
	if e.TemplateID != nil {
		facts = append(facts, fact{Name: "Template", Value: *e.TemplateID, Code: true, Href: v.link("templates", *e.TemplateID)})
	}
	for _, tag := range e.Tags {
		facts = append(facts, fact{Name: "Tag", Value: tag.Name + " = " + tag.Value, Code: true})
	}
	if e.NextAttempt != nil && (e.Status == "queued" || e.Status == "sending") {
		facts = append(facts, fact{Name: "Next try", Value: v.ago(*e.NextAttempt).Text})
	}
	return facts
}

// showEmailBody shows the HTML of a message, which strangers may have written. It is shown in a frame of its own that runs no
// scripts, loads nothing from elsewhere, and cannot reach the page around it.
func showEmailBody(v *visit) error {
	var e emailDetail
	if err := v.get(apiPath("emails", v.path("id")), nil, &e); err != nil {
		return err
	}
	return v.showHostile(e.HTML, e.Text)
}

// emailChanged goes on after a change, or shows the email again with why it was refused.
func (v *visit) emailChanged(err error, notice string) error {
	if refused := refusal(err); refused != nil {
		return v.showEmail(emailPage{Problem: refused})
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("emails", v.path("id")), notice)
}

func cancelEmail(v *visit) error {
	return v.emailChanged(v.send(http.MethodPost, apiPath("emails", v.path("id"), "cancel"), nil, nil), "Cancelled. It will not be sent.")
}

func rescheduleEmail(v *visit) error {
	body := map[string]string{"scheduled_at": v.instant(v.value("scheduled_at"))}
	return v.emailChanged(v.send(http.MethodPatch, apiPath("emails", v.path("id")), body, nil), "Moved to another time.")
}

// shareEmail shows the link in the answer itself: an address that carried it could be made up by others, and is kept by browsers.
func shareEmail(v *visit) error {
	var shared struct{ URL string }
	if err := v.send(http.MethodPost, apiPath("emails", v.path("id"), "share"), nil, &shared); err != nil {
		return v.emailChanged(err, "")
	}
	return v.showEmail(emailPage{Shared: shared.URL})
}
