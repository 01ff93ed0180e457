package webhook

import (
	"time"

	"postrider/platform/db"
	"postrider/platform/space"
)

// Delivery is one event on its way to one endpoint.
type Delivery struct {
	ID        DeliveryID
	Workspace space.ID
	Webhook   ID
	// EventID is also what the endpoint is told as the id of the request, at every attempt and replay.
	EventID, EventType string
	// URL is where it goes, or went last.
	URL    string
	Status DeliveryStatus
	// Test is set for what somebody asked for to see whether it arrives.
	Test bool
	// ReplayOf is the delivery that this one repeats, if any.
	ReplayOf              DeliveryID
	Attempts, MaxAttempts int

	// DueAt is when the next attempt may begin; it is zero when the delivery has ended.
	DueAt                            time.Time
	CreatedAt, DeliveredAt, FailedAt time.Time
}

// DeliveryStatus tells how far a delivery is.
type DeliveryStatus string

// Statuses of a delivery. Pending ones have had no attempt yet; cancelled ones lost their endpoint.
const (
	Pending   DeliveryStatus = "pending"
	Retrying  DeliveryStatus = "retrying"
	Delivered DeliveryStatus = "delivered"
	Failed    DeliveryStatus = "failed"
	Cancelled DeliveryStatus = "cancelled"
)

var deliveryStatuses = []string{string(Pending), string(Retrying), string(Delivered), string(Failed), string(Cancelled)}

// Attempt is one post.
type Attempt struct {
	Number    int
	StartedAt time.Time
	Took      time.Duration
	// Status is the code of the answer; zero means that there was none.
	Status int
	// Error says what was wrong; empty means that the endpoint took the event.
	Error   Failure
	Details Details
}

// Failure is what was wrong with an attempt, in a word: one of those below or of httpout.
type Failure string

const (
	// HTTPError means an answer that was neither success nor redirect.
	HTTPError Failure = "http_error"
	// Redirect means an answer that points elsewhere; it is not followed.
	Redirect Failure = "redirect"
)

// Details are what helps to understand an attempt. Headers have one value each: the first.
type Details struct {
	URL             string            `json:"url"`
	RemoteAddress   string            `json:"remote_address,omitempty"`
	Message         string            `json:"message,omitempty"`
	RequestHeaders  map[string]string `json:"request_headers,omitempty"`
	ResponseHeaders map[string]string `json:"response_headers,omitempty"`
	ResponseBody    string            `json:"response_body,omitempty"`
}

// newDelivery returns a delivery of an event to an endpoint, due at once.
func (s *Service) newDelivery(e *Endpoint, eventID, eventType string, now time.Time) Delivery {
	return Delivery{ID: DeliveryID(s.world.NewID()), Workspace: e.Workspace, Webhook: e.ID, EventID: eventID, EventType: eventType, URL: e.URL,
		Status: Pending, MaxAttempts: maxAttempts, DueAt: now, CreatedAt: now}
}

// DeliveryRef is what an event tells of one of its deliveries.
type DeliveryRef struct {
	ID       DeliveryID     `json:"id" example:"0193a1ef-1610-7000-8000-0000000000f1"`
	Webhook  ID             `json:"webhook_id" example:"0193a1e0-2222-7000-8000-0000000000b1"`
	Status   DeliveryStatus `json:"status" example:"delivered"`
	Attempts int            `json:"attempt_count" example:"1"`
	// CreatedAt is when the event was handed to webhooks.
	CreatedAt time.Time `json:"-"`
}

// DeliveriesOf returns the deliveries of events of a workspace by the ids of the events, each list oldest first.
func (s *Service) DeliveriesOf(tx *db.Tx, ws space.ID, events []string) (map[string][]DeliveryRef, error) {
	if len(events) == 0 {
		return nil, nil
	}
	found, err := selectOfEvents(tx, ws, events)
	refs := map[string][]DeliveryRef{}
	for _, d := range found {
		refs[d.EventID] = append(refs[d.EventID], DeliveryRef{d.ID, d.Webhook, d.Status, d.Attempts, d.CreatedAt})
	}
	return refs, err
}
