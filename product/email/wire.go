package email

import (
	"cmp"
	"encoding/json"
	"time"

	"postrider/platform/api"
	"postrider/product/webhook"
)

// Row is an email in a list.
type Row struct {
	Object      string      `json:"object" example:"email"`
	ID          ID          `json:"id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	MessageID   string      `json:"message_id" example:"<0193a1ef0d5c7c338e0a2b7c1d9e4f00@acme.test>"`
	Status      State       `json:"status" example:"delivered"`
	LastEvent   string      `json:"last_event" example:"delivered"`
	From        string      `json:"from" example:"Acme <hello@acme.test>"`
	To          api.Strings `json:"to" example:"[\"ann@example.net\"]"`
	Cc          api.Strings `json:"cc"`
	Bcc         api.Strings `json:"bcc"`
	ReplyTo     api.Strings `json:"reply_to"`
	Subject     string      `json:"subject" example:"Welcome"`
	CreatedAt   api.Time    `json:"created_at"`
	UpdatedAt   api.Time    `json:"updated_at"`
	ScheduledAt api.Time    `json:"scheduled_at"`
	QueuedAt    api.Time    `json:"queued_at"`
	SentAt      api.Time    `json:"sent_at"`
	DeliveredAt api.Time    `json:"delivered_at"`
	DomainID    string      `json:"domain_id" example:"0193a1e0-2222-7000-8000-0000000000d1"`
	TenantID    api.Ref     `json:"managed_tenant_id"`
	Source      Source      `json:"source" example:"api"`
	KeyID       api.Ref     `json:"api_key_id" example:"0193a1e0-2222-7000-8000-0000000000a1"`
	TemplateID  api.Ref     `json:"template_id"`
	Version     *int64      `json:"template_version"`
	BroadcastID api.Ref     `json:"broadcast_id"`
	RunID       api.Ref     `json:"automation_run_id"`
	TopicID     api.Ref     `json:"topic_id"`
	ContactID   api.Ref     `json:"contact_id"`
	Idempotency api.Ref     `json:"idempotency_key" example:"welcome:u_42:1"`
	SizeBytes   int64       `json:"size_bytes" example:"4210"`
	Attachments int         `json:"attachment_count" example:"1"`
	Tags        []Tag       `json:"tags"`
	Tracking    tracking    `json:"tracking"`
	Opens       int         `json:"opens" example:"0"`
	Clicks      int         `json:"clicks" example:"0"`
	Provider    string      `json:"provider" example:"direct"`
	NodeID      api.Ref     `json:"sending_node_id"`
	NextAttempt api.Time    `json:"next_attempt_at"`
}

type tracking struct {
	Opens  bool `json:"opens" example:"true"`
	Clicks bool `json:"clicks" example:"false"`
}

// Record is an email with all that is known of it.
type Record struct {
	Row
	HTML       api.Ref           `json:"html" example:"<p>Hi Ann</p>"`
	Text       api.Ref           `json:"text" example:"Hi Ann"`
	Headers    map[string]string `json:"headers" example:"{\"X-Entity-Ref-ID\":\"123\"}"`
	Metadata   json.RawMessage   `json:"metadata" example:"{\"user_id\":\"u_42\"}"`
	Failure    *Failure          `json:"failure"`
	Recipients []recipientRecord `json:"recipients"`
	Timeline   []timelineEntry   `json:"timeline"`
}

type recipientRecord struct {
	Email        string   `json:"email" example:"ann@example.net"`
	Kind         Kind     `json:"kind" example:"to"`
	Status       State    `json:"status" example:"delivered"`
	ISP          api.Ref  `json:"isp" example:"google"`
	Attempts     int      `json:"attempts" example:"1"`
	SMTPCode     *int     `json:"last_smtp_code" example:"250"`
	Enhanced     api.Ref  `json:"last_enhanced_code" example:"2.0.0"`
	LastResponse api.Ref  `json:"last_response" example:"250 2.0.0 OK"`
	DeliveredAt  api.Time `json:"delivered_at"`
	NextAttempt  api.Time `json:"next_attempt_at"`
	Bounce       *Bounce  `json:"bounce"`
	trackingRecord
}

type timelineEntry struct {
	Type       string   `json:"type" example:"email.delivered"`
	Status     State    `json:"status" example:"delivered"`
	Recipient  api.Ref  `json:"recipient" example:"ann@example.net"`
	OccurredAt api.Time `json:"occurred_at"`
	Message    string   `json:"message" example:"Delivered to the recipient's mail server."`
	EventID    api.Ref  `json:"event_id" example:"0193a1ef-15ea-7000-8000-000000000001"`
	AttemptID  api.Ref  `json:"attempt_id" example:"0193a1ef-1400-7000-8000-000000000001"`
}

type eventRecord struct {
	Object     string                `json:"object" example:"event"`
	ID         string                `json:"id" example:"0193a1ef-15ea-7000-8000-000000000001"`
	Type       string                `json:"type" example:"email.delivered"`
	EmailID    ID                    `json:"email_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	Recipient  api.Ref               `json:"recipient" example:"ann@example.net"`
	OccurredAt api.Time              `json:"occurred_at"`
	CreatedAt  api.Time              `json:"created_at"`
	Published  api.Time              `json:"published_at"`
	Data       json.RawMessage       `json:"data" example:"{\"smtp_code\":250}"`
	Deliveries []webhook.DeliveryRef `json:"deliveries"`
}

// place is where a page after the event begins.
func (r eventRecord) place() api.Cursor { return api.Cursor{ID: r.ID, At: time.Time(r.OccurredAt)} }

type attemptRecord struct {
	Object     string         `json:"object" example:"attempt"`
	ID         string         `json:"id" example:"0193a1ef-1400-7000-8000-000000000001"`
	EmailID    ID             `json:"email_id" example:"0193a1ef-0d5c-7c33-8e0a-2b7c1d9e4f00"`
	Number     int            `json:"attempt_number" example:"1"`
	Recipients []string       `json:"recipients" example:"[\"ann@example.net\"]"`
	ISP        api.Ref        `json:"isp" example:"google"`
	Outcome    AttemptOutcome `json:"outcome" example:"accepted"`
	Stage      string         `json:"stage" example:"end_of_data"`
	StartedAt  api.Time       `json:"started_at"`
	FinishedAt api.Time       `json:"finished_at"`
	DurationMS int64          `json:"duration_ms" example:"506"`
	NodeID     api.Ref        `json:"sending_node_id"`
	LocalIP    api.Ref        `json:"local_ip" example:"203.0.113.10"`
	Helo       api.Ref        `json:"helo" example:"mx1.mail.example.org"`
	MXHost     api.Ref        `json:"mx_host" example:"aspmx.l.google.com"`
	MXIP       api.Ref        `json:"mx_ip" example:"142.250.102.27"`
	MXPort     *int           `json:"mx_port" example:"25"`
	TLS        TLSFacts       `json:"tls"`
	SMTPCode   *int           `json:"smtp_code" example:"250"`
	Enhanced   api.Ref        `json:"enhanced_code" example:"2.0.0"`
	Response   api.Ref        `json:"response" example:"250 2.0.0 OK"`
	Ambiguous  bool           `json:"ambiguous" doc:"The server may have taken the message although no answer arrived." example:"false"`
	Class      *ClassFacts    `json:"classification"`
	NextAt     api.Time       `json:"next_attempt_at"`
	Dialogue   []Step         `json:"dialogue" doc:"What was said, in order; long dialogues and replies are cut."`
}

// place is where a page after the attempt begins.
func (r attemptRecord) place() api.Cursor { return api.Cursor{ID: r.ID, At: time.Time(r.StartedAt)} }

func (r Row) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

func newRow(e Email) Row {
	provider := e.Provider
	if e.Node() != "" {
		provider = Direct
	}
	var version *int64
	if e.TemplateVersion > 0 {
		version = &e.TemplateVersion
	}
	tags := e.Tags
	if tags == nil {
		tags = []Tag{}
	}
	return Row{
		Object: "email", ID: e.ID, MessageID: e.MessageID, TemplateID: api.Ref(e.Template), Version: version, BroadcastID: api.Ref(e.Broadcast), RunID: api.Ref(e.Run), ContactID: api.Ref(e.Contact), Status: e.Status, LastEvent: LastEvent(e.Status, e.Delayed), From: e.From,
		To: e.Addresses.To, Cc: e.Addresses.Cc, Bcc: e.Addresses.Bcc, ReplyTo: e.Addresses.ReplyTo, Subject: e.Subject,
		CreatedAt: api.Time(e.CreatedAt), UpdatedAt: api.Time(e.UpdatedAt), ScheduledAt: api.Time(e.ScheduledAt), QueuedAt: api.Time(e.QueuedAt),
		SentAt: api.Time(e.SentAt), DeliveredAt: api.Time(e.DeliveredAt), DomainID: string(e.Domain), TenantID: api.Ref(e.Tenant),
		Source: e.Source, TopicID: api.Ref(e.Topic), KeyID: api.Ref(e.KeyID), Idempotency: api.Ref(e.IdempotencyKey), SizeBytes: e.SizeBytes, Attachments: e.Attachments,
		Tags: tags, Tracking: tracking{e.TrackOpens, e.TrackClicks}, Opens: e.Opens, Clicks: e.Clicks, Provider: provider, NodeID: api.Ref(cmp.Or(e.Node(), e.SentBy)),
	}
}

func newRecipientRecord(r Recipient, t tally) recipientRecord {
	return recipientRecord{Email: r.Address, Kind: r.Kind, Status: r.State, ISP: api.Ref(r.ISP), Attempts: r.Attempts, SMTPCode: positive(r.SMTPCode),
		Enhanced: api.Ref(r.Enhanced), LastResponse: api.Ref(r.Response), DeliveredAt: api.Time(r.DeliveredAt),
		NextAttempt: api.Time(r.NextAttemptAt), Bounce: r.Bounce, trackingRecord: newTrackingRecord(t)}
}

func newAttemptRecord(id ID, a storedAttempt) attemptRecord {
	record := attemptRecord{
		Object: "attempt", ID: a.ID, EmailID: id, Number: a.Number, Recipients: []string{a.recipient}, ISP: api.Ref(a.ISP), Outcome: a.Outcome,
		Stage: string(a.Stage), StartedAt: api.Time(a.StartedAt), FinishedAt: api.Time(a.FinishedAt),
		DurationMS: a.FinishedAt.Sub(a.StartedAt).Milliseconds(), NodeID: api.Ref(a.Node), Helo: api.Ref(a.Helo), MXHost: api.Ref(a.MXHost), MXPort: positive(a.MXPort),
		TLS: a.TLS, SMTPCode: positive(a.Code), Enhanced: api.Ref(a.Enhanced), Response: api.Ref(a.Response), Ambiguous: a.Ambiguous,
		Class: a.Class, NextAt: api.Time(a.NextAt), Dialogue: a.Dialogue,
	}
	if record.Dialogue == nil {
		record.Dialogue = []Step{}
	}
	if a.LocalIP.IsValid() {
		record.LocalIP = api.Ref(a.LocalIP.String())
	}
	if a.MXIP.IsValid() {
		record.MXIP = api.Ref(a.MXIP.String())
	}
	return record
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}
