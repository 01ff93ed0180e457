// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// InboundAttachmentRecord is the answer to GET /v1/emails/receiving/{id}/attachments.
type InboundAttachmentRecord struct {
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

// InboundAuthentication is part of InboundRow.
type InboundAuthentication struct {
	ARC        string `json:"arc,omitzero"`
	DKIM       string `json:"dkim,omitzero"`
	DKIMDomain string `json:"dkim_domain,omitzero"`
	DMARC      string `json:"dmarc,omitzero"`
	SPF        string `json:"spf,omitzero"`
}

// InboundDomainHealth is part of InboundHealthRecord.
type InboundDomainHealth struct {
	Domain    string           `json:"domain,omitzero"`
	DomainID  string           `json:"domain_id,omitzero"`
	Message   string           `json:"message,omitzero"`
	MX        []InboundMXFound `json:"mx,omitzero"`
	Receiving string           `json:"receiving,omitzero"`
	Status    string           `json:"status,omitzero"`
}

// InboundEnvelope is part of InboundRecord.
type InboundEnvelope struct {
	Helo     string   `json:"helo,omitzero"`
	MailFrom string   `json:"mail_from,omitzero"`
	RcptTo   []string `json:"rcpt_to,omitzero"`
	RemoteIP string   `json:"remote_ip,omitzero"`
	TLS      bool     `json:"tls,omitzero"`
}

// InboundFileRecord is part of InboundRow.
type InboundFileRecord struct {
	ContentDisposition string `json:"content_disposition,omitzero"`
	ContentID          string `json:"content_id,omitzero"`
	ContentType        string `json:"content_type,omitzero"`
	Filename           string `json:"filename,omitzero"`
	ID                 string `json:"id,omitzero"`
	Size               int64  `json:"size,omitzero"`
}

// InboundForwarded is part of InboundRow.
type InboundForwarded struct {
	EmailID string   `json:"email_id,omitzero"`
	RuleID  string   `json:"rule_id,omitzero"`
	To      []string `json:"to,omitzero"`
}

// InboundHeaderLine is part of InboundRecord.
type InboundHeaderLine struct {
	Name  string `json:"name,omitzero"`
	Value string `json:"value,omitzero"`
}

// InboundHealthRecord is the answer to GET /v1/emails/receiving/health.
type InboundHealthRecord struct {
	CheckedAt time.Time             `json:"checked_at,omitzero"`
	Domains   []InboundDomainHealth `json:"domains,omitzero"`
	Object    string                `json:"object,omitzero"`
	Receiver  InboundReceiverRecord `json:"receiver,omitzero"`
	Status    string                `json:"status,omitzero"`
}

// InboundIngestBody is the body of POST /v1/emails/receiving.
type InboundIngestBody struct {
	Attachments []EmailFileBody `json:"attachments,omitzero"`
	Bcc         []string        `json:"bcc,omitzero"`
	Cc          []string        `json:"cc,omitzero"`
	// Only store it: no webhooks, nothing passed on.
	DryRun    bool              `json:"dry_run,omitzero"`
	From      string            `json:"from,omitzero"`
	Headers   map[string]string `json:"headers,omitzero"`
	HTML      string            `json:"html,omitzero"`
	InReplyTo string            `json:"in_reply_to,omitzero"`
	MailFrom  string            `json:"mail_from,omitzero"`
	// The whole message (RFC 5322), plain or in base64, instead of its parts.
	Raw string `json:"raw,omitzero"`
	// Defaults to to, cc and bcc.
	RcptTo  []string `json:"rcpt_to,omitzero"`
	Subject string   `json:"subject,omitzero"`
	Text    string   `json:"text,omitzero"`
	To      []string `json:"to,omitzero"`
}

// InboundMXFound is part of InboundDomainHealth.
type InboundMXFound struct {
	Expected bool   `json:"expected,omitzero"`
	Host     string `json:"host,omitzero"`
	Priority any    `json:"priority,omitempty"`
}

// InboundRawLink is part of InboundRecord.
type InboundRawLink struct {
	DownloadURL string    `json:"download_url,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"`
}

// InboundReceiverRecord is part of InboundHealthRecord.
type InboundReceiverRecord struct {
	Enabled       bool      `json:"enabled,omitzero"`
	Hostname      string    `json:"hostname,omitzero"`
	LastMessageAt time.Time `json:"last_message_at,omitzero"`
	Listening     bool      `json:"listening,omitzero"`
	Port          *int64    `json:"port,omitempty"`
	// Messages that wait to be checked.
	QueueDepth   int64     `json:"queue_depth,omitzero"`
	Starttls     bool      `json:"starttls,omitzero"`
	TLSExpiresAt time.Time `json:"tls_expires_at,omitzero"`
}

// InboundRecord is the answer to POST /v1/emails/receiving.
type InboundRecord struct {
	Attachments []InboundFileRecord `json:"attachments,omitzero"`
	// Null until the message has been checked, which takes a moment.
	Authentication *InboundAuthentication `json:"authentication,omitempty"`
	// Whether a program sent it by itself.
	AutoSubmitted bool     `json:"auto_submitted,omitzero"`
	Bcc           []string `json:"bcc,omitzero"`
	// Whether it went to many at once, by a mailing list or as a newsletter. Automations do not answer it.
	Bulk        bool                `json:"bulk,omitzero"`
	Cc          []string            `json:"cc,omitzero"`
	CreatedAt   time.Time           `json:"created_at,omitzero"`
	Direction   string              `json:"direction,omitzero"`
	DomainID    string              `json:"domain_id,omitzero"`
	Envelope    InboundEnvelope     `json:"envelope,omitzero"`
	Forwarded   []InboundForwarded  `json:"forwarded,omitzero"`
	From        string              `json:"from,omitzero"`
	HeaderLines []InboundHeaderLine `json:"header_lines,omitzero"`
	Headers     map[string]string   `json:"headers,omitzero"`
	HTML        string              `json:"html,omitzero"`
	ID          string              `json:"id,omitzero"`
	InReplyTo   string              `json:"in_reply_to,omitzero"`
	// The email of yours that it answers.
	InReplyToEmailID string         `json:"in_reply_to_email_id,omitzero"`
	ManagedTenantID  string         `json:"managed_tenant_id,omitzero"`
	MessageID        string         `json:"message_id,omitzero"`
	Object           string         `json:"object,omitzero"`
	Raw              InboundRawLink `json:"raw,omitzero"`
	Read             bool           `json:"read,omitzero"`
	ReadAt           time.Time      `json:"read_at,omitzero"`
	ReceivedFor      []string       `json:"received_for,omitzero"`
	References       []string       `json:"references,omitzero"`
	ReplyTo          []string       `json:"reply_to,omitzero"`
	SizeBytes        int64          `json:"size_bytes,omitzero"`
	Source           string         `json:"source,omitzero"`
	// Null until the message has been checked.
	Spam    *InboundSpam `json:"spam,omitempty"`
	Starred bool         `json:"starred,omitzero"`
	// The text without what it quotes.
	StrippedText string `json:"stripped_text,omitzero"`
	Subject      string `json:"subject,omitzero"`
	Text         string `json:"text,omitzero"`
	// Shared by all that answer each other.
	ThreadID string   `json:"thread_id,omitzero"`
	To       []string `json:"to,omitzero"`
	// The message has more than is shown; raw has all of it.
	Truncated bool `json:"truncated,omitzero"`
}

// InboundReplyAnswer is the answer to POST /v1/emails/receiving/{id}/reply.
type InboundReplyAnswer struct {
	ID         string `json:"id,omitzero"`
	Idempotent bool   `json:"idempotent,omitzero"`
	InReplyTo  string `json:"in_reply_to,omitzero"`
	Object     string `json:"object,omitzero"`
	Status     string `json:"status,omitzero"`
	ThreadID   string `json:"thread_id,omitzero"`
}

// InboundReplyBody is the body of POST /v1/emails/receiving/{id}/reply.
type InboundReplyBody struct {
	Attachments []EmailFileBody `json:"attachments,omitzero"`
	Bcc         []string        `json:"bcc,omitzero"`
	Cc          []string        `json:"cc,omitzero"`
	// Defaults to the address that the message came to.
	From    string            `json:"from,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	HTML    string            `json:"html,omitzero"`
	// The same as the Idempotency-Key header.
	IdempotencyKey string `json:"idempotency_key,omitzero"`
	// Quote the message below the answer; true if absent.
	Quote *bool `json:"quote,omitempty"`
	// Also to everybody else the message names.
	ReplyAll bool   `json:"reply_all,omitzero"`
	Subject  string `json:"subject,omitzero"`
	Text     string `json:"text,omitzero"`
	// Defaults to whom the author wants answers sent to.
	To []string `json:"to,omitzero"`
}

// InboundRow is the answer to GET /v1/emails/receiving.
type InboundRow struct {
	Attachments []InboundFileRecord `json:"attachments,omitzero"`
	// Null until the message has been checked, which takes a moment.
	Authentication *InboundAuthentication `json:"authentication,omitempty"`
	// Whether a program sent it by itself.
	AutoSubmitted bool     `json:"auto_submitted,omitzero"`
	Bcc           []string `json:"bcc,omitzero"`
	// Whether it went to many at once, by a mailing list or as a newsletter. Automations do not answer it.
	Bulk      bool               `json:"bulk,omitzero"`
	Cc        []string           `json:"cc,omitzero"`
	CreatedAt time.Time          `json:"created_at,omitzero"`
	Direction string             `json:"direction,omitzero"`
	DomainID  string             `json:"domain_id,omitzero"`
	Forwarded []InboundForwarded `json:"forwarded,omitzero"`
	From      string             `json:"from,omitzero"`
	ID        string             `json:"id,omitzero"`
	InReplyTo string             `json:"in_reply_to,omitzero"`
	// The email of yours that it answers.
	InReplyToEmailID string    `json:"in_reply_to_email_id,omitzero"`
	ManagedTenantID  string    `json:"managed_tenant_id,omitzero"`
	MessageID        string    `json:"message_id,omitzero"`
	Object           string    `json:"object,omitzero"`
	Read             bool      `json:"read,omitzero"`
	ReadAt           time.Time `json:"read_at,omitzero"`
	ReceivedFor      []string  `json:"received_for,omitzero"`
	References       []string  `json:"references,omitzero"`
	ReplyTo          []string  `json:"reply_to,omitzero"`
	SizeBytes        int64     `json:"size_bytes,omitzero"`
	Source           string    `json:"source,omitzero"`
	// Null until the message has been checked.
	Spam    *InboundSpam `json:"spam,omitempty"`
	Starred bool         `json:"starred,omitzero"`
	Subject string       `json:"subject,omitzero"`
	// Shared by all that answer each other.
	ThreadID string   `json:"thread_id,omitzero"`
	To       []string `json:"to,omitzero"`
	// The message has more than is shown; raw has all of it.
	Truncated bool `json:"truncated,omitzero"`
}

// InboundRuleBody is the body of PATCH /v1/emails/receiving/forwarding/{ruleId}.
type InboundRuleBody struct {
	Description *string `json:"description,omitempty"`
	Enabled     *bool   `json:"enabled,omitempty"`
	// 1 to 10 addresses.
	ForwardTo []string `json:"forward_to,omitzero"`
	// false passes the mail on without keeping it here.
	KeepCopy *bool `json:"keep_copy,omitempty"`
	// rewrite or passthrough.
	Mode string `json:"mode,omitzero"`
}

// InboundRuleRecord is the answer to GET /v1/emails/receiving/forwarding.
type InboundRuleRecord struct {
	Address         string    `json:"address,omitzero"`
	CreatedAt       time.Time `json:"created_at,omitzero"`
	Description     string    `json:"description,omitzero"`
	Domain          string    `json:"domain,omitzero"`
	DomainID        string    `json:"domain_id,omitzero"`
	Enabled         bool      `json:"enabled,omitzero"`
	ForwardTo       []string  `json:"forward_to,omitzero"`
	ForwardedCount  int64     `json:"forwarded_count,omitzero"`
	ID              string    `json:"id,omitzero"`
	KeepCopy        bool      `json:"keep_copy,omitzero"`
	LastError       string    `json:"last_error,omitzero"`
	LastForwardedAt time.Time `json:"last_forwarded_at,omitzero"`
	MatchType       string    `json:"match_type,omitzero"`
	Mode            string    `json:"mode,omitzero"`
	Object          string    `json:"object,omitzero"`
	UpdatedAt       time.Time `json:"updated_at,omitzero"`
}

// InboundSpam is part of InboundRow.
type InboundSpam struct {
	Score   float64 `json:"score,omitzero"`
	Verdict string  `json:"verdict,omitzero"`
}
