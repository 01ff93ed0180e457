package web

import (
	"net/http"
)

// platformEventPage is one event: what it says, what it starts, and a form to send it.
type platformEventPage struct {
	shell
	platformEventForm
	ID      string
	Event   platformEvent
	Starts  []crumb
	Facts   []fact
	Snippet string
	// Email and Payload are those of the form that sends it.
	Email, Payload string
	SendWrong      *problem
	// Sent is what it led to, once it was sent.
	Sent *sentEvent
}

type sentEvent struct {
	Matched  []string `json:"matched_automations"`
	Runs     []string `json:"runs"`
	Webhooks int64    `json:"webhooks"`
	Links    []crumb  `json:"-"`
}

func (v *visit) platformEventPage() (platformEventPage, error) {
	var p platformEventPage
	if err := v.get(apiPath("events", v.path("id")), nil, &p.Event); err != nil {
		return p, err
	}
	e := p.Event
	p.ID = e.ID
	p.shell = v.shell(visible(e.Name), "automations").with("flow.css", "build.css").under(crumb{"Automations", v.link("automations")}, crumb{"Events", v.link("events")})
	p.platformEventForm = platformEventForm{Name: e.Name, Fields: schemaFields(e.Schema)}
	if e.Description != nil {
		p.Description = *e.Description
	}
	p.Payload = "{}"
	if text := string(e.Sample); text != "" && text != "null" {
		p.Sample, p.Payload = indented(e.Sample), indented(e.Sample)
	}
	p.Snippet = v.eventSnippet(e.Name, e.Sample)
	p.Facts = []fact{{Name: "Event ID", Value: e.ID, Code: true, Copy: true}, {Name: "Sent", Value: v.plural(e.SendCount, "time", "times")}}
	if e.LastSentAt != nil {
		p.Facts = append(p.Facts, fact{Name: "Last sent", Value: v.ago(*e.LastSentAt).Text})
	}
	for _, id := range e.AutomationIDs {
		var a automationRecord
		if err := v.get(apiPath("automations", id), nil, &a); err != nil {
			return p, err
		}
		p.Starts = append(p.Starts, crumb{visible(a.Name), v.link("automations", id)})
	}
	return p, nil
}

func showPlatformEvent(v *visit) error {
	p, err := v.platformEventPage()
	if err != nil {
		return err
	}
	return v.show("events/detail", p)
}

func savePlatformEvent(v *visit) error {
	p, err := v.platformEventPage()
	if err != nil {
		return err
	}
	p.Description, p.Sample, p.Fields = v.value("description"), v.value("sample_payload"), schemaFields(v.readSchema())
	body, wrong := v.eventBody()
	if wrong == nil {
		err = v.send(http.MethodPatch, apiPath("events", p.ID), body, nil)
		wrong = refusal(err)
	}
	if p.Problem = wrong; wrong != nil {
		return v.showStatus(wrong.Status, "events/detail", p)
	}
	if err != nil {
		return err
	}
	return v.redirect(v.link("events", p.ID), "Saved.")
}

func sendPlatformEvent(v *visit) error {
	p, err := v.platformEventPage()
	if err != nil {
		return err
	}
	p.Email, p.Payload = v.value("email"), v.value("payload")
	said, wrong := v.payload("payload")
	var sent sentEvent
	if wrong == nil {
		body := map[string]any{"payload": said}
		if p.Email != "" {
			body["email"] = p.Email
		}
		err = v.send(http.MethodPost, apiPath("events", p.ID, "send"), body, &sent)
		wrong = refusal(err)
	}
	if p.SendWrong = wrong; wrong != nil {
		return v.showStatus(wrong.Status, "events/detail", p)
	}
	if err != nil {
		return err
	}
	for i, id := range sent.Matched {
		link := crumb{"Runs of automation " + v.number(int64(i+1)), v.link("automations", id, "runs")}
		if len(sent.Runs) == len(sent.Matched) { // else one of them began more than one
			link = crumb{"Run " + v.number(int64(i+1)), v.link("automations", id, "runs", sent.Runs[i])}
		}
		sent.Links = append(sent.Links, link)
	}
	p.Sent = &sent
	return v.show("events/detail", p)
}

func deletePlatformEvent(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("events", v.path("id")), nil, nil); err != nil {
		return err
	}
	return v.redirect(v.link("events"), "The event is deleted. Automations still begin with its name.")
}
