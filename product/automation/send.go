package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postrider/mail/address"
	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/product/audience"
	"postrider/product/automation/internal/flow"
	"postrider/product/plan"
)

// sending is an event as it is sent.
type sending struct {
	Event      string   `json:"event" doc:"Name of the event." example:"user.signed_up"`
	ContactID  string   `json:"contact_id" doc:"Whom the event is about."`
	Email      string   `json:"email" doc:"Whom the event is about; made a contact if there is none." example:"ann@example.net"`
	Payload    facts    `json:"payload" example:"{\"plan\":\"pro\",\"seats\":3}"`
	OccurredAt api.Time `json:"occurred_at" doc:"When it happened; now if absent."`
	Key        string   `json:"idempotency_key" doc:"Makes a repeated request the same one."`
}

// sentEvent is what sending an event led to. It is remembered with an idempotency key.
type sentEvent struct {
	begun
	id string
}

// eventSent is the data of the event that tells webhooks.
type eventSent struct {
	Event      string         `json:"event"`
	EventID    string         `json:"event_id"`
	ContactID  api.Ref        `json:"contact_id"`
	Email      api.Ref        `json:"email"`
	Payload    map[string]any `json:"payload"`
	OccurredAt api.Time       `json:"occurred_at"`
}

const sentType = "event.sent"

// send lets an event of the customer's own happen: it feeds webhooks, automations and runs that wait.
func (s *Service) send(tx *db.Tx, h happening) (sent sentEvent, err error) {
	sent.id = h.id
	if sent.begun, err = s.occur(tx, h); err != nil {
		return sent, err
	}
	subject := first(string(h.contact), h.id) // whoever forgets a person looks for it by the contact
	data := eventSent{Event: h.name, EventID: h.id, ContactID: api.Ref(h.contact), Email: api.Ref(h.email), Payload: h.payload, OccurredAt: api.Time(h.at)}
	if h.at.IsZero() {
		data.OccurredAt = api.Time(tx.Now())
	}
	return sent, event.Append(tx, event.Event{ID: h.id, Workspace: h.workspace, Type: sentType, Subject: subject, OccurredAt: tx.Now(), Data: json.RawMessage(db.JSON(data))})
}

func (b *sending) check(now time.Time) error {
	var wrong api.Fields
	if b.ContactID != "" && b.Email != "" {
		wrong.Add("email", "Give a contact_id or an email, not both.")
	}
	if b.Email != "" {
		if to, err := address.Parse(b.Email); err != nil {
			wrong.Add("email", fmt.Sprintf("Not an email address: %s.", err))
		} else {
			b.Email = to.Addr()
		}
	}
	if b.Payload == nil {
		b.Payload = map[string]any{}
	}
	if raw, err := json.Marshal(b.Payload); err != nil || len(raw) > maxPayload {
		wrong.Add("payload", fmt.Sprintf("Must have at most %d bytes.", maxPayload))
	}
	if at := time.Time(b.OccurredAt); at.After(now.Add(time.Hour)) {
		wrong.Add("occurred_at", "Must not be in the future.")
	}
	return wrong.Err()
}

// person returns whom a request is about; nobody if it names none. An address that is no contact becomes one.
func (s *Service) person(tx *db.Tx, caller api.Caller, contactID, email string) (id audience.ContactID, addr string, err error) {
	switch {
	case contactID != "":
		c, err := s.parts.Audience.Find(tx, caller.Workspace, contactID)
		if errors.Is(err, audience.ErrContactNotFound) {
			return "", "", api.Invalid("contact_id", "There is no such contact.")
		}
		return c.ID, c.Address, err
	case email != "":
		c, err := s.parts.Audience.Find(tx, caller.Workspace, email)
		if errors.Is(err, audience.ErrContactNotFound) {
			c, _, err = s.parts.Audience.Ensure(tx, caller.Workspace, plan.Name(caller.Plan), email)
		}
		return c.ID, c.Address, err
	}
	return "", "", nil
}

// sentRecord is the answer to an event.
type sentRecord struct {
	Object   string  `json:"object" example:"event"`
	Event    string  `json:"event" example:"user.signed_up"`
	EventID  string  `json:"event_id" example:"0193a1f8-0000-7000-8000-000000000811"`
	Matched  []ID    `json:"matched_automations" example:"[\"0193a1f7-0000-7000-8000-000000000701\"]"`
	Runs     []RunID `json:"runs" example:"[\"0193a1f7-0000-7000-8000-000000000711\"]"`
	Webhooks int     `json:"webhooks" example:"2"`

	Idempotent bool `json:"idempotent,omitempty"`
}

// Status is 200 for an answer that was given before.
func (r sentRecord) Status() int {
	if r.Idempotent {
		return 200
	}
	return 0
}

// sendEvent takes an event from a request. known tells that the event must have been defined; the others may be made up.
func (s *Service) sendEvent(ctx context.Context, caller api.Caller, body sending, known bool, request api.Idempotency) (record sentRecord, err error) {
	if err := body.check(s.world.Clock.Now()); err != nil {
		return record, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		e, err := findEvent(tx, caller.Workspace, body.Event)
		switch {
		case errors.Is(err, ErrEventNotFound) && !known && body.Event != "":
			e = Event{Name: body.Event}
		case err != nil:
			return err
		}
		var wrong api.Fields
		if e.ID == "" && !flow.ValidEventName(e.Name) {
			wrong.Add("event", "Not the name of an event of your own.")
		}
		if e.checkPayload(&wrong, body.Payload); len(wrong) > 0 {
			return wrong.Err()
		}
		var replayed bool
		record, replayed, err = api.Once(tx, request, func() (sentRecord, error) { return s.sendChecked(tx, caller, e, body) })
		record.Idempotent = replayed
		return err
	})
	return record, err
}

func (s *Service) sendChecked(tx *db.Tx, caller api.Caller, e Event, body sending) (record sentRecord, err error) {
	contact, email, err := s.person(tx, caller, body.ContactID, body.Email)
	if err != nil {
		return record, err
	}
	if e.ID != "" {
		if err := countSent(tx, caller.Workspace, e.Name); err != nil {
			return record, err
		}
	}
	sent, err := s.send(tx, happening{workspace: caller.Workspace, name: e.Name, id: s.world.NewID(), kind: "event", contact: contact, email: email, payload: body.Payload,
		at: time.Time(body.OccurredAt), simulated: caller.Test})
	if err != nil {
		return record, err
	}
	heard, err := s.parts.Webhooks.Hearing(tx, caller.Workspace, sentType)
	record = sentRecord{Object: "event", Event: e.Name, EventID: sent.id, Matched: sent.matched, Runs: sent.ids(), Webhooks: heard}
	if record.Matched == nil {
		record.Matched = []ID{}
	}
	return record, err
}
