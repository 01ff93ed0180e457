package webhook

import (
	"encoding/json"
	"time"

	"postrider/platform/api"
)

// Record is an endpoint on the wire. Its secret is shown by SecretRecord only.
type Record struct {
	Object            string            `json:"object" example:"webhook"`
	ID                ID                `json:"id" example:"0193a1e0-2222-7000-8000-0000000000b1"`
	URL               string            `json:"url" example:"https://app.example.com/hooks/mail"`
	Endpoint          string            `json:"endpoint" example:"https://app.example.com/hooks/mail"`
	Events            []string          `json:"events" example:"[\"email.delivered\",\"email.bounced\",\"domain.verified\"]"`
	Description       api.Ref           `json:"description" example:"Production"`
	Status            Status            `json:"status" example:"enabled"`
	Enabled           bool              `json:"enabled" example:"true"`
	DisabledReason    api.Ref           `json:"disabled_reason"`
	SecretPrefix      string            `json:"secret_prefix" example:"whsec_AAEC"`
	PreviousExpiresAt api.Time          `json:"previous_secret_expires_at"`
	DomainIDs         []string          `json:"domain_ids" example:"[]"`
	TenantIDs         []string          `json:"managed_tenant_ids" example:"[]"`
	Headers           map[string]string `json:"custom_headers" example:"{}"`
	IncludeBody       bool              `json:"include_body" example:"false"`
	Failures          int64             `json:"consecutive_failures" example:"0"`
	FirstFailureAt    api.Time          `json:"first_failure_at"`
	LastDeliveryAt    api.Time          `json:"last_delivery_at"`
	LastStatusCode    *int              `json:"last_status_code"`
	CreatedAt         api.Time          `json:"created_at"`
	UpdatedAt         api.Time          `json:"updated_at"`
}

// SecretRecord is an endpoint with its secret, which is shown once: when it is made.
type SecretRecord struct {
	Record
	Secret        string `json:"secret" example:"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="`
	SigningSecret string `json:"signing_secret" example:"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="`
}

// place is where a page after the endpoint begins.
func (r Record) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

func newRecord(e Endpoint, now time.Time) Record {
	r := Record{Object: "webhook", ID: e.ID, URL: e.URL, Endpoint: e.URL, Events: e.Events, Description: api.Ref(e.Description), Status: e.Status,
		Enabled: e.Status == Enabled, DisabledReason: api.Ref(e.DisabledReason), SecretPrefix: e.secretPrefix, DomainIDs: orEmpty(e.Domains),
		TenantIDs: orEmpty(e.Tenants), Headers: map[string]string{}, IncludeBody: e.IncludeBody, Failures: e.failures,
		FirstFailureAt: api.Time(e.firstFailureAt), LastDeliveryAt: api.Time(e.lastAttemptAt), LastStatusCode: orNull(e.lastStatus),
		CreatedAt: api.Time(e.CreatedAt), UpdatedAt: api.Time(e.UpdatedAt)}
	for name := range e.Headers {
		r.Headers[name] = hiddenValue
	}
	if e.rotating(now) {
		r.PreviousExpiresAt = api.Time(e.previousExpiresAt)
	}
	return r
}

func newSecretRecord(e Endpoint, now time.Time) SecretRecord {
	return SecretRecord{newRecord(e, now), e.secret.String(), e.secret.String()}
}

func orEmpty(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

func orNull(number int) *int {
	if number == 0 {
		return nil
	}
	return &number
}

// eventRecord is an entry of the catalogue.
type eventRecord struct {
	Object       string   `json:"object" example:"webhook_event"`
	Type         string   `json:"type" example:"email.delivered"`
	Name         string   `json:"name" example:"email.delivered"`
	Category     string   `json:"category" example:"email"`
	Description  string   `json:"description" example:"The message was delivered to the recipient's mail server."`
	PerRecipient bool     `json:"per_recipient" example:"true"`
	Version      int      `json:"version" example:"1"`
	Sample       envelope `json:"sample"`
}

func newEventRecord(k kind) eventRecord {
	return eventRecord{Object: "webhook_event", Type: k.Type, Name: k.Type, Category: k.category(), Description: k.Description,
		PerRecipient: k.PerRecipient, Version: 1, Sample: k.sample()}
}

// DeliveryRecord is a delivery in a list.
type DeliveryRecord struct {
	Object        string         `json:"object" example:"webhook_delivery"`
	ID            DeliveryID     `json:"id" example:"0193a1ef-1610-7000-8000-0000000000f1"`
	Webhook       ID             `json:"webhook_id" example:"0193a1e0-2222-7000-8000-0000000000b1"`
	EventID       string         `json:"event_id" example:"0193a1ef-15ea-7000-8000-000000000001"`
	EventType     string         `json:"event_type" example:"email.delivered"`
	URL           string         `json:"url" example:"https://app.example.com/hooks/mail"`
	Status        DeliveryStatus `json:"status" example:"retrying"`
	Test          bool           `json:"test" example:"false"`
	ReplayOf      api.Ref        `json:"replay_of"`
	AttemptCount  int            `json:"attempt_count" example:"2"`
	MaxAttempts   int            `json:"max_attempts" example:"10"`
	NextAttemptAt api.Time       `json:"next_attempt_at"`
	LastAttemptAt api.Time       `json:"last_attempt_at"`
	StatusCode    *int           `json:"status_code" example:"500"`
	Error         api.Ref        `json:"error" example:"http_error"`
	Milliseconds  *int64         `json:"duration_ms" example:"120"`
	CreatedAt     api.Time       `json:"created_at"`
	DeliveredAt   api.Time       `json:"delivered_at"`
}

// deliveryRow is a delivery with its last attempt.
type deliveryRow struct {
	Delivery
	last lastAttempt
}

// place is where a page after the delivery begins.
func (r DeliveryRecord) place() api.Cursor {
	return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)}
}

func newDeliveryRecord(row deliveryRow) DeliveryRecord {
	d := row.Delivery
	r := DeliveryRecord{Object: "webhook_delivery", ID: d.ID, Webhook: d.Webhook, EventID: d.EventID, EventType: d.EventType, URL: d.URL, Status: d.Status,
		Test: d.Test, ReplayOf: api.Ref(d.ReplayOf), AttemptCount: d.Attempts, MaxAttempts: d.MaxAttempts, NextAttemptAt: api.Time(d.DueAt),
		LastAttemptAt: api.Time(row.last.startedAt), Error: api.Ref(row.last.failure), CreatedAt: api.Time(d.CreatedAt),
		DeliveredAt: api.Time(d.DeliveredAt)}
	if row.last.micros != nil {
		milliseconds := *row.last.micros / 1000
		r.Milliseconds = &milliseconds
	}
	if row.last.status != nil {
		r.StatusCode = orNull(int(*row.last.status))
	}
	return r
}

// deliveryDetail is a delivery with what was sent and what came back.
type deliveryDetail struct {
	DeliveryRecord
	Payload  json.RawMessage `json:"payload" example:"{\"id\":\"0193a1ef-15ea-7000-8000-000000000001\",\"type\":\"email.delivered\",\"data\":{}}"`
	Attempts []attemptRecord `json:"attempts"`
}

type attemptRecord struct {
	Number          int               `json:"number" example:"1"`
	StartedAt       api.Time          `json:"started_at"`
	Milliseconds    int64             `json:"duration_ms" example:"120"`
	StatusCode      *int              `json:"status_code" example:"500"`
	Error           api.Ref           `json:"error" example:"http_error"`
	Message         api.Ref           `json:"message"`
	URL             string            `json:"url" example:"https://app.example.com/hooks/mail"`
	RemoteAddress   api.Ref           `json:"remote_address" example:"198.51.100.7:443"`
	RequestHeaders  map[string]string `json:"request_headers" example:"{\"Webhook-Id\":\"0193a1ef-15ea-7000-8000-000000000001\"}"`
	ResponseHeaders map[string]string `json:"response_headers" example:"{\"Content-Type\":\"text/plain\"}"`
	ResponseBody    *string           `json:"response_body" example:"oops"`
}

func newDetail(d Delivery, body string, attempts []Attempt) deliveryDetail {
	row := deliveryRow{Delivery: d}
	records := make([]attemptRecord, len(attempts))
	for i, a := range attempts {
		records[i] = newAttemptRecord(a)
		if a.Number == d.Attempts {
			micros, status := a.Took.Microseconds(), int64(a.Status)
			row.last = lastAttempt{startedAt: a.StartedAt, micros: &micros, status: &status, failure: a.Error}
		}
	}
	detail := deliveryDetail{DeliveryRecord: newDeliveryRecord(row), Attempts: records}
	if body != "" {
		detail.Payload = json.RawMessage(body)
	}
	return detail
}

func newAttemptRecord(a Attempt) attemptRecord {
	r := attemptRecord{Number: a.Number, StartedAt: api.Time(a.StartedAt), Milliseconds: a.Took.Milliseconds(), StatusCode: orNull(a.Status),
		Error: api.Ref(a.Error), Message: api.Ref(a.Details.Message), URL: a.Details.URL, RemoteAddress: api.Ref(a.Details.RemoteAddress),
		RequestHeaders: a.Details.RequestHeaders, ResponseHeaders: a.Details.ResponseHeaders}
	if a.Status != 0 {
		r.ResponseBody = &a.Details.ResponseBody
	}
	if r.ResponseHeaders == nil {
		r.ResponseHeaders = map[string]string{}
	}
	return r
}
