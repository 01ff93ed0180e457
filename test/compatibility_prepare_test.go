package test

import "postrider/client"

func (p *preparer) later() string {
	answer, err := p.c.Emails.Send(p.t.Context(), client.EmailSendBody{From: "hello@acme.test", To: []string{p.address()}, Subject: "Later", Text: new("x"), ScheduledAt: "in 1 hour"})
	return id(p, answer, err)
}

// filed returns an email and its attachment.
func (p *preparer) filed() []any {
	answer, err := p.c.Emails.Send(p.t.Context(), client.EmailSendBody{From: "hello@acme.test", To: []string{p.address()}, Subject: "File", Text: new("x"),
		Attachments: []client.EmailFileBody{{Filename: "a.txt", Content: []byte("a")}}})
	email := id(p, answer, err)
	for file, err := range p.c.Emails.AllAttachments(p.t.Context(), email, client.ListEmailAttachmentsParams{}) {
		return []any{email, id(p, &file, err)}
	}
	return []any{email, ""}
}

// received returns a received message and its attachment.
func (p *preparer) received() []any {
	answer, err := p.c.Emails.Ingest(p.t.Context(), client.InboundIngestBody{From: "ann@example.net", To: []string{"support@acme.test"}, Subject: "Received", Text: "Hi",
		Attachments: []client.EmailFileBody{{Filename: "a.txt", Content: []byte("a")}}})
	message := id(p, answer, err)
	for file, err := range p.c.Emails.AllReceivingAttachments(p.t.Context(), message, client.ListEmailsReceivingAttachmentsParams{}) {
		return []any{message, id(p, &file, err)}
	}
	return []any{message, ""}
}

func (p *preparer) domain() string {
	answer, err := p.c.Domains.Create(p.t.Context(), client.DomainRegistration{Name: p.next("domain") + ".test"})
	return id(p, answer, err)
}

func (p *preparer) segment() string {
	answer, err := p.c.Segments.Create(p.t.Context(), client.AudienceSegmentBody{Name: p.next("Segment")})
	return id(p, answer, err)
}

func (p *preparer) contact() string {
	answer, err := p.c.Contacts.Create(p.t.Context(), client.AudienceContactBody{Email: p.address()})
	return id(p, answer, err)
}

// contactOf is somebody in a segment.
func (p *preparer) contactOf(segment string) string {
	contact := p.contact()
	if _, err := p.c.Contacts.AddSegment(p.t.Context(), contact, segment); err != nil {
		p.t.Fatal(err)
	}
	return contact
}

func (p *preparer) topic() string {
	answer, err := p.c.Topics.Create(p.t.Context(), client.AudienceTopicBody{Name: p.next("Topic"), DefaultSubscription: "opt_in"})
	return id(p, answer, err)
}

func (p *preparer) property() string {
	answer, err := p.c.ContactProperties.Create(p.t.Context(), client.AudiencePropertyBody{Key: p.next("property"), Type: "string", FallbackValue: "x"})
	return id(p, answer, err)
}

func (p *preparer) suppression() string {
	address := p.address()
	answer, err := p.c.Suppressions.Create(p.t.Context(), client.SuppressionNewEntry{Email: address})
	id(p, answer, err)
	return address
}

func (p *preparer) template() string {
	answer, err := p.c.Templates.Create(p.t.Context(), client.TemplateNewTemplate{Name: p.next("Template"), HTML: new("<p>Hi</p>"), Subject: new("Hi")})
	return id(p, answer, err)
}

func (p *preparer) broadcast() string {
	answer, err := p.c.Broadcasts.Create(p.t.Context(), client.CreateBroadcastBody{SegmentID: new(p.segment()), From: new("hello@acme.test"), Subject: new("News"), Text: new("News")})
	return id(p, answer, err)
}

// steps are an automation that waits when an event comes.
func (p *preparer) steps(event string) fields {
	return fields{"Name": p.next("Automation"), "Steps": []map[string]any{{"key": "start", "type": "trigger", "config": map[string]any{"event_name": event}},
		{"key": "wait", "type": "delay", "config": map[string]any{"duration": "1 hour"}}}, "Connections": []map[string]any{{"from": "start", "to": "wait"}}}
}

func (p *preparer) automation() string {
	answer := p.process.post("/automations", map[string]any{"name": p.next("Automation"), "steps": p.steps(p.next("event"))["Steps"], "connections": p.steps("")["Connections"]})
	return answer["id"].(string)
}

// run returns an automation and one of its runs.
func (p *preparer) run() []any {
	automation := p.automation()
	published, err := p.c.Automations.Publish(p.t.Context(), automation, client.PublishAutomationBody{})
	id(p, published, err)
	changed, err := p.c.Automations.Update(p.t.Context(), automation, client.AutomationChange{Status: "enabled"})
	id(p, changed, err)
	run, err := p.c.Automations.Run(p.t.Context(), automation, client.AutomationRunBody{Email: p.address()})
	return []any{automation, id(p, run, err)}
}

func (p *preparer) event() string {
	answer, err := p.c.Events.Create(p.t.Context(), client.AutomationNewEvent{Name: p.next("event"), Schema: map[string]string{"plan": "string"}})
	return id(p, answer, err)
}

func (p *preparer) webhook() *client.WebhookSecretRecord {
	answer, err := p.c.Webhooks.Create(p.t.Context(), client.WebhookNewEndpoint{URL: "https://hooks.example.com/x", Events: []string{"email.sent"}})
	id(p, answer, err)
	return answer
}

func (p *preparer) log() string {
	for row, err := range p.c.Logs.All(p.t.Context(), client.ListLogsParams{Limit: 1}) {
		return id(p, &row, err)
	}
	p.t.Fatal("nothing is in the log")
	return ""
}
