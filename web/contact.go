package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// contactPage is everything about one contact.
type contactPage struct {
	shell
	Contact  contactRecord
	Name     string
	At       moment
	Values   []valueRow
	Lists    []membershipRow
	Topics   []contactTopic
	Segments []segmentLink
	Mail     []emailRow
	Facts    []fact
	// OtherLists and OtherSegments are those that the contact is not in.
	OtherLists, OtherSegments []choice
}

type valueRow struct {
	Key, Value string
	// Fallback tells that the contact has no value, and what stands in for it.
	Fallback bool
}

type membershipRow struct {
	ID, Name, Status, Href string
	Since                  moment
}

type contactTopic struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Subscription string `json:"subscription"`
	Explicit     bool   `json:"explicit"`
}

// Subscribed tells whether the contact gets mail about the topic.
func (t contactTopic) Subscribed() bool { return t.Subscription == "opt_in" }

type segmentLink struct{ ID, Name, Type, Href string }

func showContact(v *visit) error {
	id := v.path("id")
	var p contactPage
	if err := v.get(apiPath("audience", "contacts", id), nil, &p.Contact); err != nil {
		return err
	}
	c := p.Contact
	p.shell, p.Name, p.At = v.audienceShell(visible(c.Email)), c.fullName(), v.moment(c.CreatedAt)
	for _, add := range []func(*contactPage) error{v.addValues, v.addLists, v.addTopics, v.addSegments, v.addMail} {
		if err := add(&p); err != nil {
			return err
		}
	}
	p.Facts = v.contactFacts(c)
	return v.show("audience/contact", p)
}

func (v *visit) contactFacts(c contactRecord) []fact {
	facts := []fact{{Name: "Contact ID", Value: c.ID, Code: true, Copy: true}, {Name: "Added", Value: v.moment(c.CreatedAt).Text}}
	for _, seen := range []struct {
		name string
		at   *time.Time
	}{{"Last mail", c.LastEmailedAt}, {"Last open", c.LastOpenedAt}, {"Last click", c.LastClickedAt}} {
		if seen.at != nil {
			facts = append(facts, fact{Name: seen.name, Value: v.ago(*seen.at).Text})
		}
	}
	if c.Consent != nil {
		facts = append(facts, fact{Name: "Agreed", Value: visible(c.Consent.Source) + ", " + v.moment(c.Consent.At).Text})
	}
	if c.SuppressionReason != "" {
		facts = append(facts, fact{Name: "Suppressed", Value: words(c.SuppressionReason), Href: v.link("people", c.Email)})
	}
	return facts
}

func (v *visit) addValues(p *contactPage) error {
	var found struct {
		Data []struct {
			Key       string
			Value     any
			Effective any `json:"effective_value"`
		}
	}
	err := v.get(apiPath("contacts", p.Contact.ID, "properties"), url.Values{"limit": {"200"}}, &found)
	for _, one := range found.Data {
		p.Values = append(p.Values, valueRow{Key: one.Key, Value: valueText(one.Effective), Fallback: one.Value == nil})
	}
	return err
}

// valueText writes the value of a property for people.
func valueText(value any) string {
	switch known := value.(type) {
	case nil:
		return ""
	case bool:
		if known {
			return "Yes"
		}
		return "No"
	case float64:
		return strconv.FormatFloat(known, 'f', -1, 64)
	case string:
		if at, err := time.Parse(time.RFC3339, known); err == nil && at.Equal(at.Truncate(24*time.Hour)) {
			return at.Format(time.DateOnly)
		}
		return visible(known)
	}
	return visible(fmt.Sprint(value))
}

func (v *visit) addLists(p *contactPage) error {
	all, err := v.named("/v1/audience/lists", nil)
	on := map[string]bool{}
	for _, m := range p.Contact.Lists {
		row := membershipRow{ID: m.ID, Name: visible(m.Name), Status: m.Status, Href: v.link("audience", "lists", m.ID)}
		if at := latest(m.SubscribedAt, m.ConfirmedAt); !at.IsZero() {
			row.Since = v.moment(at)
		}
		p.Lists = append(p.Lists, row)
		on[m.ID] = true
	}
	for _, l := range all {
		if !on[l.ID] {
			p.OtherLists = append(p.OtherLists, choice{Value: l.ID, Label: visible(l.Name)})
		}
	}
	return err
}

func (v *visit) addTopics(p *contactPage) error {
	var found struct{ Data []contactTopic }
	err := v.get(apiPath("contacts", p.Contact.ID, "topics"), url.Values{"limit": {"200"}}, &found)
	for _, t := range found.Data {
		t.Name = visible(t.Name)
		p.Topics = append(p.Topics, t)
	}
	return err
}

func (v *visit) addSegments(p *contactPage) error {
	var in struct {
		Data []struct{ ID, Name, Type string }
	}
	if err := v.get(apiPath("contacts", p.Contact.ID, "segments"), url.Values{"limit": {"200"}}, &in); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, s := range in.Data {
		p.Segments = append(p.Segments, segmentLink{s.ID, visible(s.Name), s.Type, v.link("audience", "segments", s.ID)})
		known[s.ID] = true
	}
	all, err := v.named("/v1/segments", nil)
	for _, s := range all {
		if !known[s.ID] {
			p.OtherSegments = append(p.OtherSegments, choice{Value: s.ID, Label: visible(s.Name)})
		}
	}
	return err
}

// shownMail is how many emails the page of a contact shows.
const shownMail = 10

func (v *visit) addMail(p *contactPage) error {
	if !v.can("email:read") {
		return nil
	}
	found, err := v.emailsTo(p.Contact.Email, nil)
	p.Mail = found.Rows[:min(len(found.Rows), shownMail)]
	return err
}

// toContact goes back to a contact after something about it was changed.
func (v *visit) toContact(notice string) error {
	return v.redirect(v.link("audience", "contacts", v.path("id")), notice)
}

func sayTopic(v *visit) error {
	body := map[string]string{"topic_id": v.value("topic_id"), "subscription": v.value("subscription")}
	if err := v.send(http.MethodPost, apiPath("contacts", v.path("id"), "topics"), body, nil); err != nil {
		return err
	}
	return v.toContact("What the contact gets was changed.")
}

func joinList(v *visit) error {
	if err := v.send(http.MethodPatch, apiPath("audience", "contacts", v.path("id")), map[string]string{"list_id": v.value("list_id")}, nil); err != nil {
		return err
	}
	return v.toContact("Added to the list.")
}

func askToJoin(v *visit) error {
	if err := v.send(http.MethodPost, apiPath("audience", "contacts", v.path("id"), "send-confirmation"), map[string]string{"list_id": v.value("list_id")}, nil); err != nil {
		return err
	}
	return v.toContact("Asked to confirm. The link in the email is good for 7 days.")
}

func joinSegment(v *visit) error {
	if err := v.send(http.MethodPost, apiPath("contacts", v.path("id"), "segments", v.value("segment_id")), nil, nil); err != nil {
		return err
	}
	return v.toContact("Put into the segment.")
}

func leaveSegment(v *visit) error {
	if err := v.send(http.MethodDelete, apiPath("contacts", v.path("id"), "segments", v.path("segment")), nil, nil); err != nil {
		return err
	}
	return v.toContact("Taken out of the segment. No rule brings the contact back.")
}

// changeSubscription stops all broadcasts to somebody, or brings back somebody who asked for it.
func changeSubscription(v *visit) error {
	back := v.value("to") == "subscribed"
	if err := v.send(http.MethodPatch, apiPath("audience", "contacts", v.path("id")), map[string]bool{"unsubscribed": !back, "resubscribe": back}, nil); err != nil {
		return err
	}
	if back {
		return v.toContact("Subscribed again.")
	}
	return v.toContact("Unsubscribed from everything.")
}
