// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// EmailAttachmentRecord is the answer to GET /v1/emails/{id}/attachments.
type EmailAttachmentRecord struct {
	ContentDisposition string    `json:"content_disposition,omitzero"`
	ContentID          string    `json:"content_id,omitzero"`
	ContentType        string    `json:"content_type,omitzero"`
	DownloadURL        string    `json:"download_url,omitzero"`
	ExpiresAt          time.Time `json:"expires_at,omitzero"`
	Filename           string    `json:"filename,omitzero"`
	ID                 string    `json:"id,omitzero"`
	Object             string    `json:"object,omitzero"`
	Sha256             string    `json:"sha256,omitzero"`
	Size               int64     `json:"size,omitzero"`
	URL                string    `json:"url,omitzero"`
}

// EmailAttemptRecord is the answer to GET /v1/emails/{id}/attempts.
type EmailAttemptRecord struct {
	// The server may have taken the message although no answer arrived.
	Ambiguous      bool             `json:"ambiguous,omitzero"`
	AttemptNumber  int64            `json:"attempt_number,omitzero"`
	Classification *EmailClassFacts `json:"classification,omitempty"`
	// What was said, in order; long dialogues and replies are cut.
	Dialogue      []EmailStep   `json:"dialogue,omitzero"`
	DurationMs    int64         `json:"duration_ms,omitzero"`
	EmailID       string        `json:"email_id,omitzero"`
	EnhancedCode  string        `json:"enhanced_code,omitzero"`
	FinishedAt    time.Time     `json:"finished_at,omitzero"`
	Helo          string        `json:"helo,omitzero"`
	ID            string        `json:"id,omitzero"`
	ISP           string        `json:"isp,omitzero"`
	LocalIP       string        `json:"local_ip,omitzero"`
	MXHost        string        `json:"mx_host,omitzero"`
	MXIP          string        `json:"mx_ip,omitzero"`
	MXPort        *int64        `json:"mx_port,omitempty"`
	NextAttemptAt time.Time     `json:"next_attempt_at,omitzero"`
	Object        string        `json:"object,omitzero"`
	Outcome       string        `json:"outcome,omitzero"`
	Recipients    []string      `json:"recipients,omitzero"`
	Response      string        `json:"response,omitzero"`
	SendingNodeID string        `json:"sending_node_id,omitzero"`
	SMTPCode      *int64        `json:"smtp_code,omitempty"`
	Stage         string        `json:"stage,omitzero"`
	StartedAt     time.Time     `json:"started_at,omitzero"`
	TLS           EmailTLSFacts `json:"tls,omitzero"`
}

// EmailBatchAnswer is the answer to POST /v1/emails/batch.
type EmailBatchAnswer struct {
	Data       []EmailBatchReceipt `json:"data,omitzero"`
	Errors     []EmailBatchRefusal `json:"errors,omitzero"`
	Idempotent bool                `json:"idempotent,omitzero"`
	Object     string              `json:"object,omitzero"`
}

// EmailBatchReceipt is part of EmailBatchAnswer.
type EmailBatchReceipt struct {
	ID         string `json:"id,omitzero"`
	Idempotent bool   `json:"idempotent,omitzero"`
	Index      int64  `json:"index,omitzero"`
	Status     string `json:"status,omitzero"`
}

// EmailBatchRefusal is part of EmailBatchAnswer.
type EmailBatchRefusal struct {
	Code        string              `json:"code,omitzero"`
	Index       int64               `json:"index,omitzero"`
	Message     string              `json:"message,omitzero"`
	FieldErrors map[string][]string `json:"fieldErrors,omitzero"`
}

// EmailBounce is part of EmailRecipientRecord.
type EmailBounce struct {
	Asynchronous bool   `json:"asynchronous,omitzero"`
	Category     string `json:"category,omitzero"`
	Class        string `json:"class,omitzero"`
	EnhancedCode string `json:"enhanced_code,omitzero"`
	Message      string `json:"message,omitzero"`
	// Null if no server answered.
	SMTPCode       *int64   `json:"smtp_code,omitempty"`
	Suppressed     bool     `json:"suppressed,omitzero"`
	Type           string   `json:"type,omitzero"`
	DiagnosticCode []string `json:"diagnosticCode,omitzero"`
	SubType        string   `json:"subType,omitzero"`
}

// EmailClassFacts is part of EmailAttemptRecord.
type EmailClassFacts struct {
	Category string `json:"category,omitzero"`
	Class    string `json:"class,omitzero"`
	Suppress bool   `json:"suppress,omitzero"`
}

// EmailDestination is the answer to GET /v1/links/{token}.
type EmailDestination struct {
	Object string `json:"object,omitzero"`
	URL    string `json:"url,omitzero"`
}

// EmailEventRecord is the answer to GET /v1/emails/{id}/events.
type EmailEventRecord struct {
	CreatedAt   time.Time            `json:"created_at,omitzero"`
	Data        any                  `json:"data,omitempty"`
	Deliveries  []WebhookDeliveryRef `json:"deliveries,omitzero"`
	EmailID     string               `json:"email_id,omitzero"`
	ID          string               `json:"id,omitzero"`
	Object      string               `json:"object,omitzero"`
	OccurredAt  time.Time            `json:"occurred_at,omitzero"`
	PublishedAt time.Time            `json:"published_at,omitzero"`
	Recipient   string               `json:"recipient,omitzero"`
	Type        string               `json:"type,omitzero"`
}

// EmailFailure is part of EmailRecord.
type EmailFailure struct {
	Message string `json:"message,omitzero"`
	Reason  string `json:"reason,omitzero"`
}

// EmailFileBody is part of EmailSendBody.
type EmailFileBody struct {
	Content         []byte `json:"content,omitzero"`
	ContentID       string `json:"content_id,omitzero"`
	ContentType     string `json:"content_type,omitzero"`
	Disposition     string `json:"disposition,omitzero"`
	Filename        string `json:"filename,omitzero"`
	InlineContentID string `json:"inline_content_id,omitzero"`
	// Where to fetch the file, instead of content; https only, at most 10 MB.
	Path string `json:"path,omitzero"`
	// The same as path.
	URL string `json:"url,omitzero"`
}

// EmailRecipientRecord is part of EmailRecord.
type EmailRecipientRecord struct {
	Attempts int64 `json:"attempts,omitzero"`
	// Clicks by scanners, up to 10000.
	AutomatedClicks int64 `json:"automated_clicks,omitzero"`
	// Opens by proxies and scanners, up to 10000.
	AutomatedOpens int64        `json:"automated_opens,omitzero"`
	Bounce         *EmailBounce `json:"bounce,omitempty"`
	// Clicks by people, up to 10000.
	Clicks           int64     `json:"clicks,omitzero"`
	DeliveredAt      time.Time `json:"delivered_at,omitzero"`
	Email            string    `json:"email,omitzero"`
	FirstClickedAt   time.Time `json:"first_clicked_at,omitzero"`
	FirstOpenedAt    time.Time `json:"first_opened_at,omitzero"`
	ISP              string    `json:"isp,omitzero"`
	Kind             string    `json:"kind,omitzero"`
	LastClickedAt    time.Time `json:"last_clicked_at,omitzero"`
	LastEnhancedCode string    `json:"last_enhanced_code,omitzero"`
	LastOpenedAt     time.Time `json:"last_opened_at,omitzero"`
	LastResponse     string    `json:"last_response,omitzero"`
	LastSMTPCode     *int64    `json:"last_smtp_code,omitempty"`
	NextAttemptAt    time.Time `json:"next_attempt_at,omitzero"`
	// Opens by people, up to 10000.
	Opens  int64  `json:"opens,omitzero"`
	Status string `json:"status,omitzero"`
}

// EmailRecord is the answer to GET /v1/emails/{id}.
type EmailRecord struct {
	APIKeyID        string                 `json:"api_key_id,omitzero"`
	AttachmentCount int64                  `json:"attachment_count,omitzero"`
	AutomationRunID string                 `json:"automation_run_id,omitzero"`
	Bcc             []string               `json:"bcc,omitzero"`
	BroadcastID     string                 `json:"broadcast_id,omitzero"`
	Cc              []string               `json:"cc,omitzero"`
	Clicks          int64                  `json:"clicks,omitzero"`
	ContactID       string                 `json:"contact_id,omitzero"`
	CreatedAt       time.Time              `json:"created_at,omitzero"`
	DeliveredAt     time.Time              `json:"delivered_at,omitzero"`
	DomainID        string                 `json:"domain_id,omitzero"`
	Failure         *EmailFailure          `json:"failure,omitempty"`
	From            string                 `json:"from,omitzero"`
	Headers         map[string]string      `json:"headers,omitzero"`
	HTML            string                 `json:"html,omitzero"`
	ID              string                 `json:"id,omitzero"`
	IdempotencyKey  string                 `json:"idempotency_key,omitzero"`
	LastEvent       string                 `json:"last_event,omitzero"`
	ManagedTenantID string                 `json:"managed_tenant_id,omitzero"`
	MessageID       string                 `json:"message_id,omitzero"`
	Metadata        any                    `json:"metadata,omitempty"`
	NextAttemptAt   time.Time              `json:"next_attempt_at,omitzero"`
	Object          string                 `json:"object,omitzero"`
	Opens           int64                  `json:"opens,omitzero"`
	Provider        string                 `json:"provider,omitzero"`
	QueuedAt        time.Time              `json:"queued_at,omitzero"`
	Recipients      []EmailRecipientRecord `json:"recipients,omitzero"`
	ReplyTo         []string               `json:"reply_to,omitzero"`
	ScheduledAt     time.Time              `json:"scheduled_at,omitzero"`
	SendingNodeID   string                 `json:"sending_node_id,omitzero"`
	SentAt          time.Time              `json:"sent_at,omitzero"`
	SizeBytes       int64                  `json:"size_bytes,omitzero"`
	Source          string                 `json:"source,omitzero"`
	Status          string                 `json:"status,omitzero"`
	Subject         string                 `json:"subject,omitzero"`
	Tags            []EmailTag             `json:"tags,omitzero"`
	TemplateID      string                 `json:"template_id,omitzero"`
	TemplateVersion *int64                 `json:"template_version,omitempty"`
	Text            string                 `json:"text,omitzero"`
	Timeline        []EmailTimelineEntry   `json:"timeline,omitzero"`
	To              []string               `json:"to,omitzero"`
	TopicID         string                 `json:"topic_id,omitzero"`
	Tracking        EmailTracking          `json:"tracking,omitzero"`
	UpdatedAt       time.Time              `json:"updated_at,omitzero"`
}

// EmailRow is the answer to GET /v1/emails.
type EmailRow struct {
	APIKeyID        string        `json:"api_key_id,omitzero"`
	AttachmentCount int64         `json:"attachment_count,omitzero"`
	AutomationRunID string        `json:"automation_run_id,omitzero"`
	Bcc             []string      `json:"bcc,omitzero"`
	BroadcastID     string        `json:"broadcast_id,omitzero"`
	Cc              []string      `json:"cc,omitzero"`
	Clicks          int64         `json:"clicks,omitzero"`
	ContactID       string        `json:"contact_id,omitzero"`
	CreatedAt       time.Time     `json:"created_at,omitzero"`
	DeliveredAt     time.Time     `json:"delivered_at,omitzero"`
	DomainID        string        `json:"domain_id,omitzero"`
	From            string        `json:"from,omitzero"`
	ID              string        `json:"id,omitzero"`
	IdempotencyKey  string        `json:"idempotency_key,omitzero"`
	LastEvent       string        `json:"last_event,omitzero"`
	ManagedTenantID string        `json:"managed_tenant_id,omitzero"`
	MessageID       string        `json:"message_id,omitzero"`
	NextAttemptAt   time.Time     `json:"next_attempt_at,omitzero"`
	Object          string        `json:"object,omitzero"`
	Opens           int64         `json:"opens,omitzero"`
	Provider        string        `json:"provider,omitzero"`
	QueuedAt        time.Time     `json:"queued_at,omitzero"`
	ReplyTo         []string      `json:"reply_to,omitzero"`
	ScheduledAt     time.Time     `json:"scheduled_at,omitzero"`
	SendingNodeID   string        `json:"sending_node_id,omitzero"`
	SentAt          time.Time     `json:"sent_at,omitzero"`
	SizeBytes       int64         `json:"size_bytes,omitzero"`
	Source          string        `json:"source,omitzero"`
	Status          string        `json:"status,omitzero"`
	Subject         string        `json:"subject,omitzero"`
	Tags            []EmailTag    `json:"tags,omitzero"`
	TemplateID      string        `json:"template_id,omitzero"`
	TemplateVersion *int64        `json:"template_version,omitempty"`
	To              []string      `json:"to,omitzero"`
	TopicID         string        `json:"topic_id,omitzero"`
	Tracking        EmailTracking `json:"tracking,omitzero"`
	UpdatedAt       time.Time     `json:"updated_at,omitzero"`
}

// EmailSendAnswer is the answer to POST /v1/emails.
type EmailSendAnswer struct {
	CreatedAt   time.Time `json:"created_at,omitzero"`
	ID          string    `json:"id,omitzero"`
	Idempotent  bool      `json:"idempotent,omitzero"`
	MessageID   string    `json:"message_id,omitzero"`
	Object      string    `json:"object,omitzero"`
	ScheduledAt time.Time `json:"scheduled_at,omitzero"`
	Status      string    `json:"status,omitzero"`
}

// EmailSendBody is the body of POST /v1/emails.
type EmailSendBody struct {
	Attachments []EmailFileBody `json:"attachments,omitzero"`
	Bcc         []string        `json:"bcc,omitzero"`
	Cc          []string        `json:"cc,omitzero"`
	// Stop trying after so many seconds.
	DeliverWithinSec *int64 `json:"deliver_within_sec,omitempty"`
	// Sender, plain or as Name <address>.
	From    string            `json:"from,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	HTML    string            `json:"html,omitzero"`
	// The same as the Idempotency-Key header.
	IdempotencyKey string `json:"idempotency_key,omitzero"`
	// Add a link by which each recipient unsubscribes with one click.
	ListUnsubscribe bool           `json:"list_unsubscribe,omitzero"`
	MessageID       string         `json:"message_id,omitzero"`
	Metadata        map[string]any `json:"metadata,omitzero"`
	ReplyTo         []string       `json:"reply_to,omitzero"`
	// RFC 3339, or like 'in 10 minutes'; at most 30 days ahead.
	ScheduledAt string     `json:"scheduled_at,omitzero"`
	Subject     string     `json:"subject,omitzero"`
	Tags        []EmailTag `json:"tags,omitzero"`
	// A template instead of html and text.
	Template *EmailTemplateBody `json:"template,omitempty"`
	// The same as template.id.
	TemplateID string `json:"template_id,omitzero"`
	// Made from html if absent; an empty string switches that off.
	Text *string `json:"text,omitempty"`
	// Recipients; at most 50 in to, cc and bcc together.
	To []string `json:"to,omitzero"`
	// What it is about. Recipients who opted out of the topic do not get it.
	TopicID  string                 `json:"topic_id,omitzero"`
	Tracking *EmailSendBodyTracking `json:"tracking,omitempty"`
	// The same as template.variables.
	Variables map[string]any `json:"variables,omitzero"`
}

// EmailSendBodyTracking is part of EmailSendBody.
type EmailSendBodyTracking struct {
	Clicks *bool `json:"clicks,omitempty"`
	Opens  *bool `json:"opens,omitempty"`
}

// EmailShareRecord is the answer to POST /v1/emails/{id}/share.
type EmailShareRecord struct {
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	ID        string    `json:"id,omitzero"`
	Object    string    `json:"object,omitzero"`
	URL       string    `json:"url,omitzero"`
}

// EmailSpamAuthentication is part of EmailSpamCheckRecord.
type EmailSpamAuthentication struct {
	DKIM     string `json:"dkim,omitzero"`
	DMARC    string `json:"dmarc,omitzero"`
	Domain   string `json:"domain,omitzero"`
	SPF      string `json:"spf,omitzero"`
	Verified bool   `json:"verified,omitzero"`
}

// EmailSpamCheckBody is the body of POST /v1/emails/spam-check.
type EmailSpamCheckBody struct {
	// Sender, plain or as Name <address>.
	From    string            `json:"from,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	HTML    string            `json:"html,omitzero"`
	Subject string            `json:"subject,omitzero"`
	Text    string            `json:"text,omitzero"`
	To      []string          `json:"to,omitzero"`
}

// EmailSpamCheckRecord is the answer to POST /v1/emails/spam-check.
type EmailSpamCheckRecord struct {
	Authentication  EmailSpamAuthentication   `json:"authentication,omitzero"`
	CheckedAt       time.Time                 `json:"checked_at,omitzero"`
	Engine          string                    `json:"engine,omitzero"`
	EngineVersion   string                    `json:"engine_version,omitzero"`
	MaxScore        float64                   `json:"max_score,omitzero"`
	Object          string                    `json:"object,omitzero"`
	Recommendations []EmailSpamRecommendation `json:"recommendations,omitzero"`
	Rules           []EmailSpamRule           `json:"rules,omitzero"`
	Score           float64                   `json:"score,omitzero"`
	Sendable        bool                      `json:"sendable,omitzero"`
	Threshold       float64                   `json:"threshold,omitzero"`
	Verdict         string                    `json:"verdict,omitzero"`
}

// EmailSpamRecommendation is part of EmailSpamCheckRecord.
type EmailSpamRecommendation struct {
	Code    string   `json:"code,omitzero"`
	Message string   `json:"message,omitzero"`
	RuleIDs []string `json:"rule_ids,omitzero"`
}

// EmailSpamRule is part of EmailSpamCheckRecord.
type EmailSpamRule struct {
	Category    string  `json:"category,omitzero"`
	Description string  `json:"description,omitzero"`
	ID          string  `json:"id,omitzero"`
	Score       float64 `json:"score,omitzero"`
	Severity    string  `json:"severity,omitzero"`
}

// EmailStep is part of EmailAttemptRecord.
type EmailStep struct {
	AtMs    int64  `json:"at_ms,omitzero"`
	Command string `json:"command,omitzero"`
	Reply   string `json:"reply,omitzero"`
}

// EmailTLSFacts is part of EmailAttemptRecord.
type EmailTLSFacts struct {
	Cipher   string `json:"cipher,omitzero"`
	Policy   string `json:"policy,omitzero"`
	Used     bool   `json:"used,omitzero"`
	Verified bool   `json:"verified,omitzero"`
	Version  string `json:"version,omitzero"`
}

// EmailTag is part of BroadcastRow.
type EmailTag struct {
	Name  string `json:"name,omitzero"`
	Value string `json:"value,omitzero"`
}

// EmailTemplateBody is part of EmailSendBody.
type EmailTemplateBody struct {
	// Id or alias.
	ID        string         `json:"id,omitzero"`
	Variables map[string]any `json:"variables,omitzero"`
	// Number of a version; the active one if absent.
	Version int64 `json:"version,omitzero"`
}

// EmailTestSendAnswer is the answer to POST /v1/templates/test-send.
type EmailTestSendAnswer struct {
	ID     string   `json:"id,omitzero"`
	IDs    []string `json:"ids,omitzero"`
	Object string   `json:"object,omitzero"`
	Status string   `json:"status,omitzero"`
}

// EmailTimelineEntry is part of EmailRecord.
type EmailTimelineEntry struct {
	AttemptID  string    `json:"attempt_id,omitzero"`
	EventID    string    `json:"event_id,omitzero"`
	Message    string    `json:"message,omitzero"`
	OccurredAt time.Time `json:"occurred_at,omitzero"`
	Recipient  string    `json:"recipient,omitzero"`
	Status     string    `json:"status,omitzero"`
	Type       string    `json:"type,omitzero"`
}

// EmailTracking is part of EmailRow.
type EmailTracking struct {
	Clicks bool `json:"clicks,omitzero"`
	Opens  bool `json:"opens,omitzero"`
}
