package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// deliveryPage is one delivery of an event with everything that was sent and answered.
type deliveryPage struct {
	shell
	Delivery deliveryRecord
	At, Next moment
	Facts    []fact
	Attempts []postRow
	Payload  string
	// Moving tells that more will happen to it, Replayable that it has ended and may be sent once more.
	Moving, Replayable bool
	Problem            *problem
}

// postRow is one attempt to hand an event to a webhook.
type postRow struct {
	Number                   int
	State                    badge
	At                       moment
	Took, Message, Where     string
	Request, Headers, Answer string
	Curl                     string
}

type deliveryDetail struct {
	deliveryRecord
	Payload  json.RawMessage
	Attempts []struct {
		Number              int
		StatusCode          int       `json:"status_code"`
		StartedAt           time.Time `json:"started_at"`
		Took                int64     `json:"duration_ms"`
		Error, Message, URL string
		RemoteAddress       string            `json:"remote_address"`
		RequestHeaders      map[string]string `json:"request_headers"`
		ResponseHeaders     map[string]string `json:"response_headers"`
		ResponseBody        string            `json:"response_body"`
	}
}

func showDelivery(v *visit) error { return v.showDelivery(nil) }

func (v *visit) showDelivery(refused *problem) error {
	var d deliveryDetail
	if err := v.get(apiPath("webhook-deliveries", v.path("id")), nil, &d); err != nil {
		return err
	}
	p := deliveryPage{shell: v.shell(d.EventType, "webhooks").under(crumb{"Webhooks", v.link("webhooks")}, crumb{"Deliveries", v.link("webhooks", "deliveries")}).with("build.css", "again.js"),
		Delivery: d.deliveryRecord, At: v.moment(d.CreatedAt), Facts: v.deliveryFacts(d), Payload: indented(d.Payload), Moving: d.onItsWay(), Replayable: !d.onItsWay() && v.can("webhook:manage"), Problem: refused}
	if d.NextAttemptAt != nil && d.onItsWay() && len(d.Attempts) > 0 {
		p.Next = v.ago(*d.NextAttemptAt)
	}
	for i := len(d.Attempts) - 1; i >= 0; i-- {
		p.Attempts = append(p.Attempts, v.postRow(d, i))
	}
	status := http.StatusOK
	if refused != nil {
		status = refused.Status
	}
	return v.showStatus(status, "webhooks/delivery", p)
}

func (v *visit) postRow(d deliveryDetail, i int) postRow {
	a := d.Attempts[i]
	state := badge{"delivered", "check", outcomeText(a.StatusCode, a.Error)}
	if a.Error != "" {
		state.State, state.Icon = "bounced", "circle-x"
	}
	row := postRow{Number: a.Number, State: state, At: v.exact(a.StartedAt), Took: duration(time.Duration(a.Took) * time.Millisecond), Message: visible(a.Message),
		Where: a.RemoteAddress, Request: headerLines(a.RequestHeaders), Headers: headerLines(a.ResponseHeaders), Answer: visibleLines(a.ResponseBody)}
	row.Curl = "curl -X POST " + shellQuoted(a.URL)
	for _, name := range sortedNames(a.RequestHeaders) {
		row.Curl += fmt.Sprintf(" \\\n  -H %s", shellQuoted(name+": "+a.RequestHeaders[name]))
	}
	row.Curl += " \\\n  --data-binary " + shellQuoted(string(d.Payload)) + "\n"
	return row
}

// outcomeText says how an attempt ended: the status of the answer, or why there was none.
func outcomeText(status int, failure string) string {
	switch {
	case status > 0:
		return fmt.Sprint(status)
	case failure != "":
		return words(failure)
	}
	return ""
}

func (v *visit) deliveryFacts(d deliveryDetail) []fact {
	facts := []fact{{Name: "Event ID", Value: d.EventID, Code: true, Copy: true}, {Name: "Delivery ID", Value: d.ID, Code: true, Copy: true},
		{Name: "Webhook", Value: visible(d.URL), Href: v.link("webhooks", d.Webhook)}, {Name: "Tries", Value: fmt.Sprintf("%d of at most %d", len(d.Attempts), d.MaxAttempts)}}
	if d.ReplayOf != "" {
		facts = append(facts, fact{Name: "Replay of", Value: d.ReplayOf, Code: true, Href: v.link("webhooks", "deliveries", d.ReplayOf)})
	}
	var about struct {
		Data struct {
			EmailID string `json:"email_id"`
		}
	}
	if json.Unmarshal(d.Payload, &about) == nil && about.Data.EmailID != "" && !d.Test {
		facts = append(facts, fact{Name: "Email", Value: about.Data.EmailID, Code: true, Href: v.link("emails", about.Data.EmailID)})
	}
	return facts
}

func replayDelivery(v *visit) error {
	var d deliveryRecord
	err := v.send(http.MethodPost, apiPath("webhook-deliveries", v.path("id"), "replay"), nil, &d)
	if refused := refusal(err); refused != nil {
		return v.showDelivery(refused)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("webhooks", "deliveries", d.ID), "Sent once more, with the same event id and body.")
}
