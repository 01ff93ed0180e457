// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"time"
)

// BroadcastAllTotals is part of BroadcastStatisticsRecord.
type BroadcastAllTotals struct {
	AutomatedClicks int64 `json:"automated_clicks,omitzero"`
	AutomatedOpens  int64 `json:"automated_opens,omitzero"`
	Bounced         int64 `json:"bounced,omitzero"`
	BouncedBlock    int64 `json:"bounced_block,omitzero"`
	BouncedHard     int64 `json:"bounced_hard,omitzero"`
	BouncedSoft     int64 `json:"bounced_soft,omitzero"`
	Cancelled       int64 `json:"cancelled,omitzero"`
	Clicked         int64 `json:"clicked,omitzero"`
	Complained      int64 `json:"complained,omitzero"`
	Delivered       int64 `json:"delivered,omitzero"`
	Failed          int64 `json:"failed,omitzero"`
	Opened          int64 `json:"opened,omitzero"`
	// Recipients whose mail is not settled.
	Queued     int64 `json:"queued,omitzero"`
	Recipients int64 `json:"recipients,omitzero"`
	// Mail that a server has been given, and has taken or refused.
	Sent int64 `json:"sent,omitzero"`
	// Recipients who were deleted or taken off the list meanwhile.
	Skipped       int64 `json:"skipped,omitzero"`
	Suppressed    int64 `json:"suppressed,omitzero"`
	UniqueClicked int64 `json:"unique_clicked,omitzero"`
	UniqueOpened  int64 `json:"unique_opened,omitzero"`
	Unsubscribed  int64 `json:"unsubscribed,omitzero"`
}

// BroadcastBody is the body of PATCH /v1/broadcasts/{id}.
type BroadcastBody struct {
	// The list it is for, or a segment.
	AudienceID *string `json:"audience_id,omitempty"`
	// Sender, at a verified domain.
	From *string `json:"from,omitempty"`
	// May have variables. A link to unsubscribe is added if it has none.
	HTML *string `json:"html,omitempty"`
	// What people call it; the subject if absent.
	Name *string `json:"name,omitempty"`
	// What mail programs show beside the subject.
	PreviewText *string  `json:"preview_text,omitempty"`
	ReplyTo     []string `json:"reply_to,omitzero"`
	// RFC 3339, or like 'in 10 minutes'; at most 30 days ahead.
	ScheduledAt *string `json:"scheduled_at,omitempty"`
	// The segment it is for; with audience_id those who are in both.
	SegmentID *string `json:"segment_id,omitempty"`
	// Hours and days in which mail may go out; null for always.
	SendingWindow *BroadcastWindow `json:"sending_window,omitempty"`
	Subject       *string          `json:"subject,omitempty"`
	Tags          []EmailTag       `json:"tags,omitzero"`
	// Id or alias of a template instead of html and text.
	TemplateID *string `json:"template_id,omitempty"`
	// Made from html if absent.
	Text *string `json:"text,omitempty"`
	// How many mails an hour, spread evenly; null for no limit.
	ThrottlePerHour *int64 `json:"throttle_per_hour,omitempty"`
	// What it is about. Who opted out of it is left out.
	TopicID *string `json:"topic_id,omitempty"`
	// As the domain says if absent.
	Tracking *BroadcastTrackingBody `json:"tracking,omitempty"`
	// Values that are the same for all.
	Variables map[string]any `json:"variables,omitzero"`
}

// BroadcastClickRecord is part of BroadcastRecipientRecord.
type BroadcastClickRecord struct {
	Clicks int64  `json:"clicks,omitzero"`
	URL    string `json:"url,omitzero"`
}

// BroadcastErrorRecord is the answer to GET /v1/broadcasts/{id}/recipient-errors.
type BroadcastErrorRecord struct {
	Class        string    `json:"class,omitzero"`
	ContactID    string    `json:"contact_id,omitzero"`
	Email        string    `json:"email,omitzero"`
	EmailID      string    `json:"email_id,omitzero"`
	EnhancedCode string    `json:"enhanced_code,omitzero"`
	ID           string    `json:"id,omitzero"`
	Message      string    `json:"message,omitzero"`
	Object       string    `json:"object,omitzero"`
	OccurredAt   time.Time `json:"occurred_at,omitzero"`
	Reason       string    `json:"reason,omitzero"`
	SMTPCode     *int64    `json:"smtp_code,omitempty"`
	// render, suppression or delivery.
	Stage string `json:"stage,omitzero"`
}

// BroadcastEstimateBody is the body of POST /v1/broadcasts/audience-estimate.
type BroadcastEstimateBody struct {
	// A list, or a segment.
	AudienceID string `json:"audience_id,omitzero"`
	// Rules as a segment has them, which need not be saved; besides or instead of the others. Needs audience:read.
	Filter    any    `json:"filter,omitempty"`
	SegmentID string `json:"segment_id,omitzero"`
	TopicID   string `json:"topic_id,omitzero"`
}

// BroadcastEstimateRecord is the answer to POST /v1/broadcasts/audience-estimate.
type BroadcastEstimateRecord struct {
	Eligible    int64                   `json:"eligible,omitzero"`
	EstimatedAt time.Time               `json:"estimated_at,omitzero"`
	Excluded    BroadcastExcludedRecord `json:"excluded,omitzero"`
	Object      string                  `json:"object,omitzero"`
	Quota       BroadcastQuotaRecord    `json:"quota,omitzero"`
	Total       int64                   `json:"total,omitzero"`
}

// BroadcastExcludedRecord is part of BroadcastEstimateRecord.
type BroadcastExcludedRecord struct {
	// Always 0: an address is one contact.
	Duplicate    int64 `json:"duplicate,omitzero"`
	Pending      int64 `json:"pending,omitzero"`
	Suppressed   int64 `json:"suppressed,omitzero"`
	TopicOptOut  int64 `json:"topic_opt_out,omitzero"`
	Unsubscribed int64 `json:"unsubscribed,omitzero"`
}

// BroadcastFailure is part of BroadcastRow.
type BroadcastFailure struct {
	Message string `json:"message,omitzero"`
	Reason  string `json:"reason,omitzero"`
}

// BroadcastHourRecord is part of BroadcastStatisticsRecord.
type BroadcastHourRecord struct {
	Bucket    time.Time `json:"bucket,omitzero"`
	Clicked   int64     `json:"clicked,omitzero"`
	Delivered int64     `json:"delivered,omitzero"`
	Opened    int64     `json:"opened,omitzero"`
	Sent      int64     `json:"sent,omitzero"`
}

// BroadcastISPRecord is part of BroadcastStatisticsRecord.
type BroadcastISPRecord struct {
	Bounced   int64  `json:"bounced,omitzero"`
	Clicked   int64  `json:"clicked,omitzero"`
	Delivered int64  `json:"delivered,omitzero"`
	ISP       string `json:"isp,omitzero"`
	Opened    int64  `json:"opened,omitzero"`
	Sent      int64  `json:"sent,omitzero"`
}

// BroadcastLinkRecord is the answer to GET /v1/broadcasts/{id}/clicked-links.
type BroadcastLinkRecord struct {
	Clicks       int64  `json:"clicks,omitzero"`
	ID           string `json:"id,omitzero"`
	UniqueClicks int64  `json:"unique_clicks,omitzero"`
	URL          string `json:"url,omitzero"`
}

// BroadcastProblem is part of BroadcastRecipientRecord.
type BroadcastProblem struct {
	Class        string    `json:"class,omitzero"`
	EnhancedCode string    `json:"enhanced_code,omitzero"`
	Message      string    `json:"message,omitzero"`
	OccurredAt   time.Time `json:"occurred_at,omitzero"`
	Reason       string    `json:"reason,omitzero"`
	SMTPCode     *int64    `json:"smtp_code,omitempty"`
	Stage        string    `json:"stage,omitzero"`
}

// BroadcastQuotaRecord is part of BroadcastEstimateRecord.
type BroadcastQuotaRecord struct {
	// Emails that the plan has left this month; null without limit.
	Remaining  *int64 `json:"remaining,omitempty"`
	Sufficient bool   `json:"sufficient,omitzero"`
}

// BroadcastRates is part of BroadcastStatisticsRecord.
type BroadcastRates struct {
	BounceRate      float64 `json:"bounce_rate,omitzero"`
	ClickRate       float64 `json:"click_rate,omitzero"`
	ComplaintRate   float64 `json:"complaint_rate,omitzero"`
	DeliveryRate    float64 `json:"delivery_rate,omitzero"`
	OpenRate        float64 `json:"open_rate,omitzero"`
	UnsubscribeRate float64 `json:"unsubscribe_rate,omitzero"`
}

// BroadcastRecipientRecord is the answer to GET /v1/broadcasts/{id}/recipients.
type BroadcastRecipientRecord struct {
	BounceType   string                 `json:"bounce_type,omitzero"`
	BroadcastID  string                 `json:"broadcast_id,omitzero"`
	ClickCount   int64                  `json:"click_count,omitzero"`
	ClickedLinks []BroadcastClickRecord `json:"clicked_links,omitzero"`
	ContactID    string                 `json:"contact_id,omitzero"`
	// With a filter for opened or clicked: how often.
	Count       *int64            `json:"count,omitempty"`
	DeliveredAt time.Time         `json:"delivered_at,omitzero"`
	Email       string            `json:"email,omitzero"`
	EmailID     string            `json:"email_id,omitzero"`
	Error       *BroadcastProblem `json:"error,omitempty"`
	ID          string            `json:"id,omitzero"`
	Object      string            `json:"object,omitzero"`
	OpenCount   int64             `json:"open_count,omitzero"`
	SentAt      time.Time         `json:"sent_at,omitzero"`
	// A state of an email, or pending or skipped.
	Status       string    `json:"status,omitzero"`
	Unsubscribed bool      `json:"unsubscribed,omitzero"`
	UpdatedAt    time.Time `json:"updated_at,omitzero"`
}

// BroadcastRecord is the answer to GET /v1/broadcasts/{id}.
type BroadcastRecord struct {
	AudienceID  string    `json:"audience_id,omitzero"`
	CancelledAt time.Time `json:"cancelled_at,omitzero"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
	CreatedBy   string    `json:"created_by,omitzero"`
	// Why it could not go on.
	Failure *BroadcastFailure `json:"failure,omitempty"`
	From    string            `json:"from,omitzero"`
	// When the last recipient was handed to the mail queue.
	HandedAt time.Time `json:"handed_at,omitzero"`
	HTML     string    `json:"html,omitzero"`
	ID       string    `json:"id,omitzero"`
	Name     string    `json:"name,omitzero"`
	Object   string    `json:"object,omitzero"`
	// Since when it is held; null if it is not.
	PausedAt      time.Time        `json:"paused_at,omitzero"`
	PreviewText   string           `json:"preview_text,omitzero"`
	QueuedAt      time.Time        `json:"queued_at,omitzero"`
	ReplyTo       []string         `json:"reply_to,omitzero"`
	ScheduledAt   time.Time        `json:"scheduled_at,omitzero"`
	SegmentID     string           `json:"segment_id,omitzero"`
	SendingWindow *BroadcastWindow `json:"sending_window,omitempty"`
	// When the mail of the last recipient was settled.
	SentAt          time.Time               `json:"sent_at,omitzero"`
	StartedAt       time.Time               `json:"started_at,omitzero"`
	Stats           BroadcastStatsRecord    `json:"stats,omitzero"`
	Status          string                  `json:"status,omitzero"`
	Subject         string                  `json:"subject,omitzero"`
	Tags            []EmailTag              `json:"tags,omitzero"`
	TemplateID      string                  `json:"template_id,omitzero"`
	TemplateVersion *int64                  `json:"template_version,omitempty"`
	Text            string                  `json:"text,omitzero"`
	ThrottlePerHour *int64                  `json:"throttle_per_hour,omitempty"`
	TopicID         string                  `json:"topic_id,omitzero"`
	Tracking        BroadcastTrackingRecord `json:"tracking,omitzero"`
	UpdatedAt       time.Time               `json:"updated_at,omitzero"`
	Variables       map[string]any          `json:"variables,omitzero"`
}

// BroadcastRow is the answer to GET /v1/broadcasts.
type BroadcastRow struct {
	AudienceID  string    `json:"audience_id,omitzero"`
	CancelledAt time.Time `json:"cancelled_at,omitzero"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
	CreatedBy   string    `json:"created_by,omitzero"`
	// Why it could not go on.
	Failure *BroadcastFailure `json:"failure,omitempty"`
	From    string            `json:"from,omitzero"`
	// When the last recipient was handed to the mail queue.
	HandedAt time.Time `json:"handed_at,omitzero"`
	ID       string    `json:"id,omitzero"`
	Name     string    `json:"name,omitzero"`
	Object   string    `json:"object,omitzero"`
	// Since when it is held; null if it is not.
	PausedAt      time.Time        `json:"paused_at,omitzero"`
	PreviewText   string           `json:"preview_text,omitzero"`
	QueuedAt      time.Time        `json:"queued_at,omitzero"`
	ReplyTo       []string         `json:"reply_to,omitzero"`
	ScheduledAt   time.Time        `json:"scheduled_at,omitzero"`
	SegmentID     string           `json:"segment_id,omitzero"`
	SendingWindow *BroadcastWindow `json:"sending_window,omitempty"`
	// When the mail of the last recipient was settled.
	SentAt          time.Time               `json:"sent_at,omitzero"`
	StartedAt       time.Time               `json:"started_at,omitzero"`
	Stats           BroadcastStatsRecord    `json:"stats,omitzero"`
	Status          string                  `json:"status,omitzero"`
	Subject         string                  `json:"subject,omitzero"`
	Tags            []EmailTag              `json:"tags,omitzero"`
	TemplateID      string                  `json:"template_id,omitzero"`
	TemplateVersion *int64                  `json:"template_version,omitempty"`
	ThrottlePerHour *int64                  `json:"throttle_per_hour,omitempty"`
	TopicID         string                  `json:"topic_id,omitzero"`
	Tracking        BroadcastTrackingRecord `json:"tracking,omitzero"`
	UpdatedAt       time.Time               `json:"updated_at,omitzero"`
}

// BroadcastSentRecord is the answer to POST /v1/broadcasts.
type BroadcastSentRecord struct {
	AudienceID  string    `json:"audience_id,omitzero"`
	CancelledAt time.Time `json:"cancelled_at,omitzero"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
	CreatedBy   string    `json:"created_by,omitzero"`
	// Why it could not go on.
	Failure *BroadcastFailure `json:"failure,omitempty"`
	From    string            `json:"from,omitzero"`
	// When the last recipient was handed to the mail queue.
	HandedAt   time.Time `json:"handed_at,omitzero"`
	HTML       string    `json:"html,omitzero"`
	ID         string    `json:"id,omitzero"`
	Idempotent bool      `json:"idempotent,omitzero"`
	Name       string    `json:"name,omitzero"`
	Object     string    `json:"object,omitzero"`
	// Since when it is held; null if it is not.
	PausedAt      time.Time        `json:"paused_at,omitzero"`
	PreviewText   string           `json:"preview_text,omitzero"`
	QueuedAt      time.Time        `json:"queued_at,omitzero"`
	ReplyTo       []string         `json:"reply_to,omitzero"`
	ScheduledAt   time.Time        `json:"scheduled_at,omitzero"`
	SegmentID     string           `json:"segment_id,omitzero"`
	SendingWindow *BroadcastWindow `json:"sending_window,omitempty"`
	// When the mail of the last recipient was settled.
	SentAt          time.Time               `json:"sent_at,omitzero"`
	StartedAt       time.Time               `json:"started_at,omitzero"`
	Stats           BroadcastStatsRecord    `json:"stats,omitzero"`
	Status          string                  `json:"status,omitzero"`
	Subject         string                  `json:"subject,omitzero"`
	Tags            []EmailTag              `json:"tags,omitzero"`
	TemplateID      string                  `json:"template_id,omitzero"`
	TemplateVersion *int64                  `json:"template_version,omitempty"`
	Text            string                  `json:"text,omitzero"`
	ThrottlePerHour *int64                  `json:"throttle_per_hour,omitempty"`
	TopicID         string                  `json:"topic_id,omitzero"`
	Tracking        BroadcastTrackingRecord `json:"tracking,omitzero"`
	UpdatedAt       time.Time               `json:"updated_at,omitzero"`
	Variables       map[string]any          `json:"variables,omitzero"`
}

// BroadcastStatisticsRecord is the answer to GET /v1/broadcasts/{id}/stats.
type BroadcastStatisticsRecord struct {
	BroadcastID string               `json:"broadcast_id,omitzero"`
	ByISP       []BroadcastISPRecord `json:"by_isp,omitzero"`
	// The 50 that most people followed.
	Links  []BroadcastLinkRecord `json:"links,omitzero"`
	Object string                `json:"object,omitzero"`
	Rates  BroadcastRates        `json:"rates,omitzero"`
	Status string                `json:"status,omitzero"`
	// By the hour.
	Timeseries []BroadcastHourRecord `json:"timeseries,omitzero"`
	Totals     BroadcastAllTotals    `json:"totals,omitzero"`
	UpdatedAt  time.Time             `json:"updated_at,omitzero"`
}

// BroadcastStatsRecord is part of BroadcastRow.
type BroadcastStatsRecord struct {
	AutomatedClicks int64   `json:"automated_clicks,omitzero"`
	AutomatedOpens  int64   `json:"automated_opens,omitzero"`
	BounceRate      float64 `json:"bounce_rate,omitzero"`
	Bounced         int64   `json:"bounced,omitzero"`
	Cancelled       int64   `json:"cancelled,omitzero"`
	ClickRate       float64 `json:"click_rate,omitzero"`
	Clicked         int64   `json:"clicked,omitzero"`
	Complained      int64   `json:"complained,omitzero"`
	ComplaintRate   float64 `json:"complaint_rate,omitzero"`
	Delivered       int64   `json:"delivered,omitzero"`
	DeliveryRate    float64 `json:"delivery_rate,omitzero"`
	Failed          int64   `json:"failed,omitzero"`
	OpenRate        float64 `json:"open_rate,omitzero"`
	Opened          int64   `json:"opened,omitzero"`
	// Recipients whose mail is not settled.
	Queued     int64 `json:"queued,omitzero"`
	Recipients int64 `json:"recipients,omitzero"`
	// Mail that a server has been given, and has taken or refused.
	Sent int64 `json:"sent,omitzero"`
	// Recipients who were deleted or taken off the list meanwhile.
	Skipped         int64   `json:"skipped,omitzero"`
	Suppressed      int64   `json:"suppressed,omitzero"`
	UniqueClicked   int64   `json:"unique_clicked,omitzero"`
	UniqueOpened    int64   `json:"unique_opened,omitzero"`
	UnsubscribeRate float64 `json:"unsubscribe_rate,omitzero"`
	Unsubscribed    int64   `json:"unsubscribed,omitzero"`
}

// BroadcastSummaryRecord is the answer to GET /v1/broadcasts/summary.
type BroadcastSummaryRecord struct {
	ByStatus map[string]int64 `json:"by_status,omitzero"`
	Object   string           `json:"object,omitzero"`
	Total    int64            `json:"total,omitzero"`
}

// BroadcastTrackingBody is part of CreateBroadcastBody.
type BroadcastTrackingBody struct {
	Clicks *bool `json:"clicks,omitempty"`
	Opens  *bool `json:"opens,omitempty"`
}

// BroadcastTrackingRecord is part of BroadcastRow.
type BroadcastTrackingRecord struct {
	Clicks *bool `json:"clicks,omitempty"`
	Opens  *bool `json:"opens,omitempty"`
}

// BroadcastWindow is part of BroadcastRow.
type BroadcastWindow struct {
	// Days of the week, 1 for Monday to 7 for Sunday; all if empty.
	Days []int64 `json:"days,omitzero"`
	// Hour and minute at which it stops; before start means on the next day.
	End string `json:"end,omitzero"`
	// Hour and minute from which mail may go out.
	Start string `json:"start,omitzero"`
	// Name of a time zone; UTC if absent.
	Timezone string `json:"timezone,omitzero"`
}
