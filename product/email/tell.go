package email

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/event"
)

// eventData is what an event says about an email: enough for a customer's server to act without asking back.
type eventData struct {
	EmailID   ID                `json:"email_id"`
	MessageID string            `json:"message_id"`
	CreatedAt api.Time          `json:"created_at"`
	From      string            `json:"from"`
	To        []string          `json:"to"`
	Recipient api.Ref           `json:"recipient"`
	Subject   string            `json:"subject"`
	Status    State             `json:"status"`
	Tags      map[string]string `json:"tags"`
	Metadata  json.RawMessage   `json:"metadata"`
	Headers   []headerPair      `json:"headers"`
	Broadcast api.Ref           `json:"broadcast_id"`
	Template  api.Ref           `json:"template_id"`
	Version   int64             `json:"template_version,omitempty"`
	Run       api.Ref           `json:"automation_run_id"`
	DomainID  string            `json:"domain_id"`
	// Simulated tells that the mail did not leave the machine.
	Simulated bool `json:"simulated,omitempty"`
	extras
}

type headerPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// extras are the facts of one type of event.
type extras struct {
	change
	AttemptID   string            `json:"attempt_id,omitempty"`
	Delivery    *deliveryFacts    `json:"delivery,omitempty"`
	Bounce      *Bounce           `json:"bounce,omitempty"`
	Delay       *delayFacts       `json:"delay,omitempty"`
	Failed      *Failure          `json:"failed,omitempty"`
	Suppressed  *suppressedFacts  `json:"suppressed,omitempty"`
	Complaint   *Complaint        `json:"complaint,omitempty"`
	Open        *visitFacts       `json:"open,omitempty"`
	Click       *visitFacts       `json:"click,omitempty"`
	Unsubscribe *unsubscribeFacts `json:"unsubscribe,omitempty"`
	ScheduledAt *api.Time         `json:"scheduled_at,omitempty"`
	CancelledAt *api.Time         `json:"cancelled_at,omitempty"`
}

type deliveryFacts struct {
	SMTPCode int    `json:"smtp_code"`
	Enhanced string `json:"enhanced_code"`
	Response string `json:"response"`
	MXHost   string `json:"mx_host"`
	ISP      string `json:"isp"`
	Attempt  int    `json:"attempt"`
	TLS      bool   `json:"tls"`
	// WaitedMs is how long the mail took since it was to be sent.
	WaitedMs int64 `json:"waited_ms"`
}

type delayFacts struct {
	Message   string   `json:"message"`
	SMTPCode  *int     `json:"smtp_code"`
	Enhanced  string   `json:"enhanced_code"`
	Class     string   `json:"class"`
	Category  string   `json:"category"`
	Attempt   int      `json:"attempt"`
	NextAt    api.Time `json:"next_attempt_at"`
	ExpiresAt api.Time `json:"expires_at"`
	// First is true when the recipient is told of for the first time.
	First bool `json:"first"`
}

// statusOf is the state an event announces.
var statusOf = map[string]State{
	"email.queued": Queued, "email.scheduled": Scheduled, "email.accepted": Accepted, "email.sent": Sent, "email.delivered": Delivered,
	"email.delivery_delayed": Sending, "email.bounced": Bounced, "email.failed": Failed, "email.cancelled": Cancelled,
	"email.suppressed": Suppressed, "email.opened": Opened, "email.clicked": Clicked, "email.complained": Complained,
}

func (s *Service) newEvent(e *Email, headers map[string]string, kind, recipient string, at time.Time, more extras) event.Event {
	return s.newEventIn(statusOf[kind], e, headers, kind, recipient, at, more)
}

// newEventWithoutChange tells of what leaves the recipient in the state it is in.
func (s *Service) newEventWithoutChange(e *Email, headers map[string]string, kind string, r *Recipient, at time.Time, more extras) event.Event {
	return s.newEventIn(r.State, e, headers, kind, r.Address, at, more)
}

func (s *Service) newEventIn(state State, e *Email, headers map[string]string, kind, recipient string, at time.Time, more extras) event.Event {
	data := eventData{
		EmailID: e.ID, MessageID: e.MessageID, CreatedAt: api.Time(e.CreatedAt), From: e.From, Recipient: api.Ref(recipient),
		Subject: e.Subject, Status: state, Tags: map[string]string{}, Metadata: orEmptyObject(e.Metadata),
		Headers: []headerPair{}, Broadcast: api.Ref(e.Broadcast), Run: api.Ref(e.Run), Template: api.Ref(e.Template), Version: e.TemplateVersion, DomainID: string(e.Domain), Simulated: s.Simulated(e.Test, recipient), extras: more,
	}
	data.To = slices.Concat(e.Addresses.To, e.Addresses.Cc, e.Addresses.Bcc)
	if recipient != "" {
		data.To = []string{recipient}
	}
	for _, tag := range e.Tags {
		data.Tags[tag.Name] = tag.Value
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		data.Headers = append(data.Headers, headerPair{name, headers[name]})
	}
	if kind == "email.scheduled" {
		at := api.Time(e.ScheduledAt)
		data.ScheduledAt = &at
	}
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("email: event %s of %s cannot be written: %v", kind, e.ID, err))
	}
	return event.Event{ID: s.world.NewID(), Workspace: e.Workspace, Type: kind, Subject: string(e.ID), Domain: string(e.Domain),
		Tenant: e.Tenant, Recipient: recipient, OccurredAt: at, Data: raw}
}

func orEmptyObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}
