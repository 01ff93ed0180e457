package web

import (
	"cmp"
	"slices"
	"time"
)

// webhookPage is everything about one webhook. Its tabs are addresses of their own.
type webhookPage struct {
	shell
	Webhook webhookRecord
	State   badge
	Tab     string
	Tabs    []tab
	// Secret is what people recognise the secret by, Previous when the one before ends.
	Previous, FailingSince moment
	Deliveries             deliveryList
	Form                   webhookForm
	Overlaps               []choice
	// Force tells that the secret before is to be dropped.
	Force     bool
	Samples   []choice
	Languages []tab
	Code      string
	Problem   *problem
	At        string
}

func showWebhook(v *visit) error { return v.showWebhook(nil, "", nil) }

// showWebhook draws the page of the webhook in the address. A problem is shown beside the form it belongs to.
func (v *visit) showWebhook(refused *problem, form string, posted *webhookRecord) error {
	p := webhookPage{Tab: v.query("tab"), Problem: refused, At: form}
	if form != "" {
		p.Tab = form
	}
	if err := v.get(apiPath("webhooks", v.path("id")), nil, &p.Webhook); err != nil {
		return err
	}
	w := p.Webhook
	p.shell = v.shell(visible(w.URL), "webhooks").under(crumb{"Webhooks", v.link("webhooks")}).with("build.css", "again.js", "webhooks.js")
	p.State, p.Previous, p.FailingSince = v.webhookState(w), v.ago(w.PreviousUntil), v.ago(w.FirstFailureAt)
	p.Overlaps, p.Force = choices(orElse(v.value("overlap"), "86400"), "0", "Ends at once", "3600", "Signs too for an hour", "86400", "Signs too for a day", "604800", "Signs too for a week"), v.checked("force")
	for _, t := range []tab{{Name: "", Label: "Deliveries"}, {Name: "settings", Label: "Events and settings"}, {Name: "secret", Label: "Secret"}, {Name: "verify", Label: "Verify signature"}} {
		t.Href, t.Current = v.link("webhooks", w.ID), t.Name == p.Tab
		if t.Name != "" {
			t.Href += "?tab=" + t.Name
		}
		p.Tabs = append(p.Tabs, t)
	}
	if err := v.fillWebhookTab(&p, posted); err != nil {
		return err
	}
	if refused != nil {
		return v.showStatus(refused.Status, "webhooks/detail", p)
	}
	return v.show("webhooks/detail", p)
}

func (v *visit) fillWebhookTab(p *webhookPage, posted *webhookRecord) (err error) {
	switch p.Tab {
	case "":
		if p.Deliveries, err = v.deliveryList(p.Webhook.ID); err != nil {
			return err
		}
		p.Samples = append([]choice{{Value: "", Label: "webhook.test"}}, p.Deliveries.Kinds[1:]...)
	case "settings":
		shown := p.Webhook
		if posted != nil {
			shown = *posted
		}
		p.Form, err = v.webhookForm(shown)
	case "verify":
		now := v.verifyLanguage()
		for _, l := range verifyLanguages {
			p.Languages = append(p.Languages, tab{Label: l.Label, Href: v.link("webhooks", p.Webhook.ID) + "?tab=verify&lang=" + l.Name, Current: l == now})
		}
		p.Code = v.code("verify-"+now.Name, sample{})
	}
	return err
}

// verifyLanguages are those that the check of a signature is shown in.
var verifyLanguages = []dialect{{"node", "Node", ""}, {"python", "Python", ""}, {"go", "Go", ""}, {"php", "PHP", ""}, {"ruby", "Ruby", ""}, {"java", "Java", ""}}

func (v *visit) verifyLanguage() dialect {
	i := slices.IndexFunc(verifyLanguages, func(l dialect) bool { return l.Name == v.query("lang") })
	return verifyLanguages[max(i, 0)]
}

// deliveryRecord is a delivery of an event as the API tells it.
type deliveryRecord struct {
	ID, Status, URL, Error string
	Test                   bool
	Webhook                string     `json:"webhook_id"`
	EventID                string     `json:"event_id"`
	EventType              string     `json:"event_type"`
	ReplayOf               string     `json:"replay_of"`
	Attempts               int        `json:"attempt_count"`
	MaxAttempts            int        `json:"max_attempts"`
	NextAttemptAt          *time.Time `json:"next_attempt_at"`
	StatusCode             int        `json:"status_code"`
	Milliseconds           *int64     `json:"duration_ms"`
	CreatedAt              time.Time  `json:"created_at"`
}

// onItsWay tells that more will happen to the delivery.
func (d deliveryRecord) onItsWay() bool { return d.Status == "pending" || d.Status == "retrying" }

// deliveryList are deliveries with what they are filtered by.
type deliveryList struct {
	Action, Status, Event, Since string
	States, Kinds, Spans         []choice
	Rows                         []deliveryLine
	Pager                        pager
	// Moving tells that something shown is on its way, Failed that something shown never arrived.
	Moving, Failed bool
}

// Filtered tells whether the list shows a choice of all deliveries.
func (l deliveryList) Filtered() bool { return l.Status != "" || l.Event != "" || l.Since != "" }

type deliveryLine struct {
	Href, Status, Event, URL, Outcome, Took, Tries string
	Test, Replay                                   bool
	At, Next                                       moment
}

// deliveryList reads the deliveries of a webhook, or of all if the id is empty.
func (v *visit) deliveryList(webhook string) (deliveryList, error) {
	l := deliveryList{Action: v.link("webhooks", cmp.Or(webhook, "deliveries")), Status: v.query("status"), Event: v.query("event"), Since: v.query("since")}
	l.States = choices(l.Status, "", "Every status", "delivered", "Delivered", "failed", "Failed", "retrying", "Retrying", "pending", "Pending", "cancelled", "Cancelled")
	l.Spans = spans(l.Since)
	pairs := []string{"", "Every event"}
	for _, kind := range v.dashboard.config.EventTypes {
		pairs = append(pairs, kind, kind)
	}
	l.Kinds = choices(l.Event, pairs...)
	query := add(v.pageQuery(), map[string]string{"status": l.Status, "event": l.Event, "since": v.sinceOf(l.Since), "webhook_id": webhook})
	var list listOf[deliveryRecord]
	if err := v.get("/v1/webhook-deliveries", query, &list); err != nil {
		return l, err
	}
	for _, d := range list.Data {
		l.Rows = append(l.Rows, v.deliveryLine(d))
		l.Moving, l.Failed = l.Moving || d.onItsWay(), l.Failed || d.Status == "failed" && !d.Test
	}
	l.Pager = beside(v, list)
	return l, nil
}

func (v *visit) deliveryLine(d deliveryRecord) deliveryLine {
	line := deliveryLine{Href: v.link("webhooks", "deliveries", d.ID), Status: d.Status, Event: d.EventType, URL: visible(d.URL), Outcome: outcomeText(d.StatusCode, d.Error),
		Tries: v.plural(int64(d.Attempts), "try", "tries"), Test: d.Test, Replay: d.ReplayOf != "", At: v.moment(d.CreatedAt)}
	if d.Milliseconds != nil && d.Attempts > 0 {
		line.Took = duration(time.Duration(*d.Milliseconds) * time.Millisecond)
	}
	if d.NextAttemptAt != nil && d.Attempts > 0 && d.onItsWay() {
		line.Next = v.ago(*d.NextAttemptAt)
	}
	return line
}

// deliveriesPage are the deliveries of all webhooks.
type deliveriesPage struct {
	shell
	Deliveries deliveryList
}

func listDeliveries(v *visit) error {
	p := deliveriesPage{shell: v.shell("Deliveries", "webhooks").under(crumb{"Webhooks", v.link("webhooks")}).with("build.css", "again.js")}
	var err error
	if p.Deliveries, err = v.deliveryList(""); err != nil {
		return err
	}
	return v.show("webhooks/deliveries", p)
}
