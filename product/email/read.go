package email

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/blob"
	"postrider/platform/db"
	"postrider/platform/event"
	"postrider/platform/space"
)

// maxTimeline bounds the timeline of one record; the sub-lists have the rest.
const maxTimeline = 500

// findEmail returns the email of the workspace; a foreign, missing or malformed id is one answer.
func findEmail(tx *db.Tx, ws space.ID, id string) (Email, error) {
	if !api.IsID(id) {
		return Email{}, api.NotFound("email")
	}
	e, err := selectEmail(tx, ws, ID(id))
	return e, db.OrMissing(err, api.NotFound("email"))
}

// Get returns an email with its content, its recipients and its timeline.
func (s *Service) Get(ctx context.Context, ws space.ID, id string) (Record, error) {
	var record Record
	var content storedContent
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		e, err := findEmail(tx, ws, id)
		if err != nil {
			return err
		}
		record, content, err = assemble(tx, e)
		return err
	})
	if err != nil {
		return Record{}, err
	}
	return s.withContent(ctx, record, content)
}

// withContent fills in what the email says, wherever it is kept.
func (s *Service) withContent(ctx context.Context, record Record, stored storedContent) (Record, error) {
	if record.Source == SourceNotice { // it holds a link that signs its recipient in; the workspace it is sent from must not read it
		return record, nil
	}
	content, err := s.content(ctx, stored)
	if stored.readyMade() {
		content, err = s.contentOfReadyMade(ctx, stored)
	}
	record.HTML, record.Text = api.Ref(content.HTML), api.Ref(content.Text)
	return record, err
}

func assemble(tx *db.Tx, e Email) (record Record, content storedContent, err error) {
	if content, err = selectContent(tx, e.Workspace, e.ID); err != nil {
		return record, content, err
	}
	recipients, err := selectRecipients(tx, e.Workspace, e.ID)
	if err != nil {
		return record, content, err
	}
	tallies, err := talliesOf(tx, e)
	if err != nil {
		return record, content, err
	}
	events, err := event.OfSubject(tx, e.Workspace, string(e.ID), "", maxTimeline, 0)
	if err != nil {
		return record, content, err
	}
	attempts, err := selectAttempts(tx, e.Workspace, e.ID, nil, db.Keyset{}, maxTimeline, 0)
	if err != nil {
		return record, content, err
	}
	record = Record{Row: newRow(e), Headers: content.Headers, Metadata: orEmptyObject(e.Metadata)}
	if e.Status == Failed || e.Status == Bounced || e.Status == Suppressed {
		record.Failure = e.Failure
	}
	if record.Headers == nil && !content.forgotten {
		record.Headers = map[string]string{}
	}
	for _, r := range recipients {
		record.Recipients = append(record.Recipients, newRecipientRecord(r, tallies[r.ID]))
		if next := r.NextAttemptAt; !next.IsZero() && (time.Time(record.NextAttempt).IsZero() || next.Before(time.Time(record.NextAttempt))) {
			record.NextAttempt = api.Time(next)
		}
	}
	record.Timeline, err = timeline(events, attempts, recipients)
	return record, content, err
}

// timeline tells the life of an email from its events, and from its attempts when they began.
func timeline(events []event.Event, attempts []storedAttempt, recipients []Recipient) ([]timelineEntry, error) {
	var entries []timelineEntry
	for _, e := range events {
		var data eventData
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return nil, fmt.Errorf("event %s: %w", e.ID, err)
		}
		entries = append(entries, timelineEntry{Type: e.Type, Status: data.Status, Recipient: api.Ref(e.Recipient),
			OccurredAt: api.Time(e.OccurredAt), Message: eventMessage(e.Type, data), EventID: api.Ref(e.ID), AttemptID: api.Ref(data.AttemptID)})
	}
	for _, a := range attempts {
		message := fmt.Sprintf("Attempt %d started.", a.Number)
		if a.MXHost != "" {
			message = fmt.Sprintf("Attempt %d started, to %s.", a.Number, a.MXHost)
		}
		entries = append(entries, timelineEntry{Type: "email.sending", Status: Sending, Recipient: api.Ref(a.recipient),
			OccurredAt: api.Time(a.StartedAt), Message: message, AttemptID: api.Ref(a.ID)})
	}
	for _, r := range recipients {
		if r.underWay() {
			entries = append(entries, timelineEntry{Type: "email.sending", Status: Sending, Recipient: api.Ref(r.Address),
				OccurredAt: api.Time(r.TakenAt), Message: fmt.Sprintf("Attempt %d is under way.", r.Attempts)})
		}
	}
	slices.SortStableFunc(entries, func(a, b timelineEntry) int { return time.Time(a.OccurredAt).Compare(time.Time(b.OccurredAt)) })
	return entries, nil
}

func eventMessage(kind string, data eventData) string {
	switch {
	case kind == "email.queued":
		return "Accepted and queued."
	case kind == "email.scheduled" && data.ScheduledAt != nil:
		return "Scheduled for " + time.Time(*data.ScheduledAt).UTC().Format(time.RFC3339) + "."
	case kind == "email.accepted" && data.Delivery != nil:
		return data.Delivery.Response + " from " + data.Delivery.MXHost
	case kind == "email.sent":
		return "All recipients processed."
	case kind == "email.delivered":
		return "Delivered to the recipient's mail server."
	case kind == "email.delivery_delayed" && data.Delay != nil:
		return data.Delay.Message
	case kind == "email.bounced" && data.Bounce != nil:
		return data.Bounce.Message
	case kind == "email.failed" && data.Failed != nil:
		return data.Failed.Message
	case kind == "email.suppressed" && data.Suppressed != nil:
		return data.Suppressed.Message
	case kind == "email.opened" && data.Open != nil:
		return data.Open.describe("Opened")
	case kind == "email.clicked" && data.Click != nil:
		return data.Click.describe("Followed a link")
	case kind == "email.complained":
		return "The recipient reported the message as spam."
	case kind == "email.unsubscribed":
		return "The recipient unsubscribed."
	case kind == "email.cancelled":
		return "Cancelled before it was sent."
	}
	return kind
}

// facts are the parts of an event's data that belong to its type alone.
func facts(raw json.RawMessage) (json.RawMessage, error) {
	var data eventData
	if err := json.Unmarshal(raw, &data); err != nil {
		return nil, err
	}
	if data.Delivery != nil {
		return json.Marshal(data.Delivery)
	}
	return json.Marshal(data.extras)
}

// ReferencedBlobs tells which blobs belong to an email.
func (s *Service) ReferencedBlobs(ctx context.Context, refs []blob.Ref) (map[blob.Ref]bool, error) {
	used := make(map[blob.Ref]bool, len(refs))
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := selectReferenced(tx, refs)
		for _, ref := range found {
			used[ref] = true
		}
		return err
	})
	return used, err
}
