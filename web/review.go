package web

import (
	"fmt"
	"net/http"
	"strings"
)

// reviewPage is the last look before a broadcast goes out: the real message, the number of people, and what a colleague would say.
type reviewPage struct {
	shell
	Broadcast broadcastRecord
	Subject   string
	Preview   string
	Facts     []fact
	Estimate  *estimate
	Checks    []finding
	Readers   []choice
	As, Frame string
	Text      string
	Zones     []string
	Blocked   bool
	Button    string
	TestTo    string
	Problem   *problem
}

func showReview(v *visit) error { return v.review(http.StatusOK, nil) }

func (v *visit) review(status int, wrong *problem) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	if !b.open() {
		said := ""
		if wrong != nil {
			said = v.goneAlready(b)
		}
		return v.redirect(v.link("broadcasts", b.ID), said)
	}
	p := reviewPage{shell: v.broadcastShell("Review", crumb{b.title(), v.link("broadcasts", b.ID, "edit")}), Broadcast: b, Subject: visible(b.Subject), Preview: visible(b.Preview),
		TestTo: orElse(v.value("to"), v.session.User.Email), Problem: wrong}
	if p.Estimate, err = v.estimate(b); err != nil {
		return err
	}
	if p.Checks, err = v.checkBroadcast(b, p.Estimate); err != nil {
		return err
	}
	p.Blocked = blocked(p.Checks)
	if err := v.addMessage(&p); err != nil {
		return err
	}
	names, err := v.audienceNames()
	if err != nil {
		return err
	}
	p.Facts, p.Broadcast = v.broadcastFacts(b, names), b.shown()
	people := "nobody"
	if p.Estimate != nil {
		people = p.Estimate.People
	}
	if p.Button = "Send to " + people; b.ScheduledAt != nil {
		p.Zones, p.Button = v.inZones(*b.ScheduledAt), "Schedule for "+people
	}
	return v.showStatus(status, "broadcasts/review", p)
}

// addMessage shows the message as one of those reads it who will get it.
func (v *visit) addMessage(p *reviewPage) error {
	readers, err := v.sampleContacts(p.Broadcast)
	if err != nil || !v.can("template:manage") {
		return err
	}
	sample, err := v.sampleContact(p.Broadcast, v.query("as"))
	if err != nil {
		return err
	}
	p.As = sample.ID
	for _, c := range readers {
		label := c.Email
		if name := c.fullName(); name != "" {
			label = name + ", " + c.Email
		}
		p.Readers = append(p.Readers, choice{Value: c.ID, Label: visible(label), Chosen: c.ID == sample.ID})
	}
	if p.Broadcast.HTML+p.Broadcast.Text+p.Broadcast.TemplateID == "" {
		return nil
	}
	values, err := v.valuesOf(sample, p.Broadcast)
	if err != nil {
		return err
	}
	r, err := v.render(p.Broadcast, values)
	if err == nil {
		p.Subject, p.Preview, p.Text = visible(r.Subject), visible(r.Preview), r.Text
		p.Frame = v.link("broadcasts", p.Broadcast.ID, "body") + "?as=" + sample.ID
	}
	return nil // what is wrong with the message is among the checks
}

func (v *visit) broadcastFacts(b broadcastRecord, names map[string]string) []fact {
	facts := []fact{{Name: "To", Value: b.audience(names)}, {Name: "Topic", Value: names[b.TopicID]}, {Name: "From", Value: visible(b.From)},
		{Name: "Reply to", Value: visible(strings.Join(b.ReplyTo, ", "))}, {Name: "Subject", Value: visible(b.Subject)}, {Name: "Preview text", Value: visible(b.Preview)}}
	if b.TemplateID != "" {
		facts = append(facts, fact{Name: "Template", Value: b.TemplateID, Code: true, Href: v.link("templates", b.TemplateID)})
	}
	if b.Throttle != nil {
		facts = append(facts, fact{Name: "At most", Value: v.number(*b.Throttle) + " mails an hour"})
	}
	facts = append(facts, fact{Name: "Only", Value: b.Window.words()}, fact{Name: "Tracking", Value: b.Tracking.words()})
	for _, tag := range b.Tags {
		facts = append(facts, fact{Name: "Tag", Value: visible(tag.Name + " = " + tag.Value), Code: true})
	}
	var said []fact
	for _, f := range facts {
		if f.Value != "" {
			said = append(said, f)
		}
	}
	return said
}

// showBroadcastBody shows the message for a frame, made for a contact if one is named, else as it was written.
func showBroadcastBody(v *visit) error {
	b, err := v.readBroadcast(v.path("id"))
	if err != nil {
		return err
	}
	if v.query("as") == "" && v.query("made") == "" && b.TemplateID == "" {
		return v.showHostile(b.HTML, b.Text)
	}
	sample, err := v.sampleContact(b, v.query("as"))
	if err != nil {
		return err
	}
	values, err := v.valuesOf(sample, b)
	if err != nil {
		return err
	}
	r, err := v.render(b, values)
	if err != nil {
		return err
	}
	return v.showHostile(r.HTML, r.Text)
}

// goneAlready says what became of a broadcast before somebody pressed the button of a page that is older.
func (v *visit) goneAlready(b broadcastRecord) string {
	switch b.Status {
	case "scheduled":
		return "It is scheduled already, for " + v.inZones(*b.ScheduledAt)[0] + ". Nothing was changed."
	case "sent":
		return "It was sent already. Nothing is sent twice."
	case "cancelled":
		return "It was cancelled since you looked. Nothing more is sent."
	case "failed":
		return "It was sent since you looked, and failed. Nothing was sent again."
	}
	return "It is on its way already. Nothing is sent twice."
}

// sendBroadcast sends what was reviewed. The key makes a second press of the same button the same wish.
func sendBroadcast(v *visit) error {
	id := v.path("id")
	b, err := v.readBroadcast(id)
	if err != nil {
		return err
	}
	seen := v.value("seen") == fmt.Sprint(b.UpdatedAt.UnixMicro())
	if !b.open() || b.Status == "scheduled" && !seen {
		return v.redirect(v.link("broadcasts", id), v.goneAlready(b))
	}
	if !seen {
		return v.review(http.StatusConflict, &problem{Status: http.StatusConflict, Code: "conflict", Message: "Somebody changed it since you looked. This is how it is now; nothing was sent."})
	}
	body := map[string]any{"idempotency_key": fmt.Sprintf("dashboard:%s:%d", id, b.UpdatedAt.UnixMicro())}
	if b.ScheduledAt != nil {
		body["scheduled_at"] = b.ScheduledAt
	}
	err = v.send(http.MethodPost, apiPath("broadcasts", id, "send"), body, nil)
	if refused := refusal(err); refused != nil {
		return v.review(refused.Status, refused)
	}
	if err != nil {
		return err
	}
	if b.ScheduledAt != nil {
		return v.redirect(v.link("broadcasts", id), "Scheduled. You can change or cancel it until then.")
	}
	return v.redirect(v.link("broadcasts", id), "")
}
