package audience

import (
	"encoding/json"
	"fmt"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
	"postrider/product/suppression"
)

// Types of the events that tell of contacts and imports.
const (
	createdEvent      = "contact.created"
	updatedEvent      = "contact.updated"
	deletedEvent      = "contact.deleted"
	confirmedEvent    = "contact.confirmed"
	unsubscribedEvent = "contact.unsubscribed"
	importedEvent     = "import.completed"
	importFailedEvent = "import.failed"
)

// eventData is what the events say of a contact. Its lists are those it is subscribed to, as in a filter: who has yet to confirm has
// not joined, and who left is not there.
type eventData struct {
	ID           ContactID      `json:"id"`
	Email        string         `json:"email"`
	FirstName    api.Ref        `json:"first_name"`
	LastName     api.Ref        `json:"last_name"`
	Unsubscribed bool           `json:"unsubscribed"`
	Status       Status         `json:"status"`
	Audience     api.Ref        `json:"audience_id"`
	Lists        []ListID       `json:"list_ids"`
	Segments     []SegmentID    `json:"segment_ids"`
	Properties   map[string]any `json:"properties"`
	CreatedAt    api.Time       `json:"created_at"`
	UpdatedAt    api.Time       `json:"updated_at"`
}

// tell records what happened to a contact, and returns what is known about it. No kind tells nothing.
func (s *Service) tell(tx *db.Tx, known schema, c Contact, kind string) (detail, error) {
	details, err := loadDetails(tx, []Contact{c})
	if err != nil {
		return detail{}, err
	}
	if kind == "" {
		return details[0], nil
	}
	return details[0], event.Append(tx, s.eventOf(tx, known, details[0], kind))
}

// tellAll records what happened to many contacts.
func (s *Service) tellAll(tx *db.Tx, known schema, contacts []Contact, kind string) error {
	details, err := loadDetails(tx, contacts)
	if err != nil {
		return err
	}
	events := make([]event.Event, len(details))
	for i, d := range details {
		events[i] = s.eventOf(tx, known, d, kind)
	}
	return event.Append(tx, events...)
}

func (s *Service) eventOf(tx *db.Tx, known schema, d detail, kind string) event.Event {
	r := d.record(known, tx)
	data := eventData{ID: r.ID, Email: r.Email, FirstName: r.FirstName, LastName: r.LastName, Unsubscribed: r.Unsubscribed, Status: r.Status, Lists: []ListID{},
		Segments: r.SegmentIDs, Properties: r.Properties, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	for _, l := range r.Lists {
		if l.Status == Subscribed {
			data.Lists = append(data.Lists, l.ID)
		}
	}
	if len(data.Lists) > 0 {
		data.Audience = api.Ref(data.Lists[0])
	}
	return s.newEvent(tx, d.Workspace, kind, string(d.ID), d.Address, data)
}

func (s *Service) newEvent(tx *db.Tx, ws space.ID, kind, subject, recipient string, data any) event.Event {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("audience: event %s: %v", kind, err))
	}
	return event.Event{ID: s.world.NewID(), Workspace: ws, Type: kind, Subject: subject, Recipient: recipient, OccurredAt: tx.Now(), Data: raw}
}

// suppressionOf returns why an address is not mailed; empty if it is.
func (s *Service) suppressionOf(tx *db.Tx, ws space.ID, key string) (suppression.Reason, error) {
	stops, err := s.parts.Suppressions.Check(tx, []suppression.Query{{Workspace: ws, Address: key, Bulk: true}})
	if err != nil || stops[0] == nil {
		return "", err
	}
	return stops[0].Reason, nil
}
