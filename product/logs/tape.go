package logs

import (
	"encoding/json"
	"slices"
	"time"

	"postrider/platform/api"
	"postrider/platform/db"
	"postrider/platform/event"
)

// maxTape is how many events of one thing are shown.
const maxTape = 200

// telling are the parts of an event that are facts of its type; the rest says again what the entry says.
var telling = []string{"delivery", "delay", "bounce", "failed", "suppressed", "complaint", "open", "click", "unsubscribe", "scheduled_at", "isp"}

// tape returns everything that happened to what an entry is about, in its order.
func (s *Service) tape(tx *db.Tx, e Entry) ([]tapeEvent, error) {
	tape := []tapeEvent{}
	subject := first(e.Email, e.Subject)
	if subject == "" {
		return tape, nil
	}
	events, err := event.OfSubject(tx, e.Workspace, subject, "", maxTape, 0)
	if err != nil {
		return nil, err
	}
	for _, happened := range events {
		tape = append(tape, newTapeEvent(happened))
	}
	if s.parts.Steps == nil || e.Email == "" {
		return tape, nil
	}
	steps, err := s.parts.Steps(tx, e.Workspace, e.Email, events)
	for _, step := range steps {
		tape = append(tape, tapeEvent{step.Type, api.Time(step.At), api.Ref(step.Recipient), step.Message, step.Data})
	}
	slices.SortStableFunc(tape, func(a, b tapeEvent) int { return time.Time(a.OccurredAt).Compare(time.Time(b.OccurredAt)) })
	return tape, err
}

func newTapeEvent(e event.Event) tapeEvent {
	var all map[string]any
	_ = json.Unmarshal(e.Data, &all) // what cannot be read is told by its type alone
	told := tapeEvent{Type: e.Type, OccurredAt: api.Time(e.OccurredAt), Recipient: api.Ref(e.Recipient), Message: sentences[e.Type], Data: map[string]any{}}
	for _, name := range telling {
		if value, ok := all[name]; ok {
			told.Data[name] = value
		}
	}
	for _, name := range []string{"bounce", "delay", "failed", "suppressed"} {
		if part, ok := all[name].(map[string]any); ok {
			if text, ok := part["message"].(string); ok {
				told.Message = text
			}
		}
	}
	if part, ok := all["delivery"].(map[string]any); ok && e.Type == "email.accepted" {
		told.Message, _ = part["response"].(string)
	}
	if told.Message == "" {
		told.Message = e.Type
	}
	return told
}

// sentences tell events to people.
var sentences = map[string]string{
	"email.queued": "Accepted and queued.", "email.scheduled": "Scheduled.", "email.sent": "All recipients processed.",
	"email.delivered": "Delivered to the recipient's mail server.", "email.opened": "Opened.", "email.clicked": "A link was followed.",
	"email.complained": "The recipient reported the message as spam.", "email.cancelled": "Cancelled before it was sent.",
	"email.unsubscribed": "The recipient unsubscribed.", "email.received": "Received.",
	"domain.created": "The domain was registered.", "domain.updated": "A setting of the domain changed.", "domain.deleted": "The domain was removed.",
	"domain.verified": "SPF and DKIM of the domain passed.", "domain.failed": "The domain lost its verification, or was not verified in time.",
	"webhook.disabled": "The webhook was disabled because it was gone or had failed for five days.",
}
