package broadcast

import (
	"math"
	"time"

	"postrider/platform/api"
	"postrider/product/email"
	"postrider/product/template"
)

// Row is a broadcast in a list, and in an event: all but what it says.
type Row struct {
	Object    string         `json:"object" example:"broadcast"`
	ID        ID             `json:"id" example:"0193a1f6-0000-7000-8000-000000000601"`
	Name      api.Ref        `json:"name" example:"November news"`
	Status    Status         `json:"status" example:"sent"`
	Audience  api.Ref        `json:"audience_id" example:"0193a1f5-0000-7000-8000-000000000311"`
	Segment   api.Ref        `json:"segment_id"`
	Topic     api.Ref        `json:"topic_id" example:"0193a1f5-0000-7000-8000-000000000331"`
	From      api.Ref        `json:"from" example:"Acme <news@acme.test>"`
	ReplyTo   api.Strings    `json:"reply_to" example:"[\"support@acme.test\"]"`
	Subject   api.Ref        `json:"subject" example:"November"`
	Preview   api.Ref        `json:"preview_text" example:"What is new"`
	Template  api.Ref        `json:"template_id"`
	Version   *int64         `json:"template_version"`
	Tags      []email.Tag    `json:"tags"`
	Tracking  trackingRecord `json:"tracking"`
	Throttle  *int64         `json:"throttle_per_hour"`
	Window    *Window        `json:"sending_window"`
	Failure   *Failure       `json:"failure" doc:"Why it could not go on."`
	Stats     statsRecord    `json:"stats"`
	CreatedBy api.Ref        `json:"created_by"`

	ScheduledAt api.Time `json:"scheduled_at"`
	QueuedAt    api.Time `json:"queued_at"`
	StartedAt   api.Time `json:"started_at"`
	HandedAt    api.Time `json:"handed_at" doc:"When the last recipient was handed to the mail queue."`
	PausedAt    api.Time `json:"paused_at" doc:"Since when it is held; null if it is not."`
	SentAt      api.Time `json:"sent_at" doc:"When the mail of the last recipient was settled."`
	CancelledAt api.Time `json:"cancelled_at"`
	CreatedAt   api.Time `json:"created_at"`
	UpdatedAt   api.Time `json:"updated_at"`
}

func (r Row) place() api.Cursor { return api.Cursor{ID: string(r.ID), At: time.Time(r.CreatedAt)} }

// Record is a broadcast with what it says.
type Record struct {
	Row
	HTML      api.Ref         `json:"html" example:"<p>Hi {{{FIRST_NAME|there}}}</p>"`
	Text      api.Ref         `json:"text" example:"Hi {{{FIRST_NAME|there}}}"`
	Variables template.Values `json:"variables"`
}

// trackingRecord is null where the domain decides.
type trackingRecord struct {
	Opens  *bool `json:"opens" example:"true"`
	Clicks *bool `json:"clicks" example:"true"`
}

// totals are the counters on the wire.
type totals struct {
	Recipients      int64 `json:"recipients" example:"1100"`
	Queued          int64 `json:"queued" doc:"Recipients whose mail is not settled." example:"0"`
	Sent            int64 `json:"sent" doc:"Mail that a server has been given, and has taken or refused." example:"1098"`
	Delivered       int64 `json:"delivered" example:"1090"`
	Bounced         int64 `json:"bounced" example:"8"`
	Complained      int64 `json:"complained" example:"1"`
	Suppressed      int64 `json:"suppressed" example:"2"`
	Skipped         int64 `json:"skipped" doc:"Recipients who were deleted or taken off the list meanwhile." example:"0"`
	Failed          int64 `json:"failed" example:"0"`
	Cancelled       int64 `json:"cancelled" example:"0"`
	Opened          int64 `json:"opened" example:"540"`
	UniqueOpened    int64 `json:"unique_opened" example:"410"`
	Clicked         int64 `json:"clicked" example:"120"`
	UniqueClicked   int64 `json:"unique_clicked" example:"95"`
	Unsubscribed    int64 `json:"unsubscribed" example:"4"`
	AutomatedOpens  int64 `json:"automated_opens" example:"160"`
	AutomatedClicks int64 `json:"automated_clicks" example:"12"`
}

// rates are shares between 0 and 1: of what was sent for deliveries and bounces, of what was delivered for the rest.
type rates struct {
	Delivery    float64 `json:"delivery_rate" example:"0.9927"`
	Open        float64 `json:"open_rate" example:"0.3761"`
	Click       float64 `json:"click_rate" example:"0.0872"`
	Bounce      float64 `json:"bounce_rate" example:"0.0073"`
	Complaint   float64 `json:"complaint_rate" example:"0.0009"`
	Unsubscribe float64 `json:"unsubscribe_rate" example:"0.0037"`
}

// statsRecord is both.
type statsRecord struct {
	totals
	rates
}

func newTotals(c counts) totals {
	return totals{c[recipients], c[queued], c[sent], c[delivered], c[bounced], c[complained], c[suppressed], c[skipped], c[failed], c[cancelled], c[opened],
		c[uniqueOpened], c[clicked], c[uniqueClicked], c[unsubscribed], c[automatedOpens], c[automatedClicks]}
}

func newRates(c counts) rates {
	return rates{share(c[delivered], c[sent]), share(c[uniqueOpened], c[delivered]), share(c[uniqueClicked], c[delivered]), share(c[bounced], c[sent]),
		share(c[complained], c[delivered]), share(c[unsubscribed], c[delivered])}
}

// share is rounded to four digits, as people read it.
func share(n, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return math.Round(float64(n)/float64(of)*10_000) / 10_000
}

func newRow(b Broadcast, c counts) Row {
	r := Row{Object: "broadcast", ID: b.ID, Name: api.Ref(b.Name), Status: b.Status, Audience: api.Ref(b.Target.List), Segment: api.Ref(b.Target.Segment), Topic: api.Ref(b.Target.Topic),
		From: api.Ref(b.From), ReplyTo: b.ReplyTo, Subject: api.Ref(b.Subject), Preview: api.Ref(b.PreviewText), Template: api.Ref(b.Template), Tags: b.Tags,
		Tracking: trackingRecord{b.TrackOpens, b.TrackClicks}, Failure: b.Failure, Stats: statsRecord{newTotals(c), newRates(c)}, CreatedBy: api.Ref(b.CreatedBy),
		ScheduledAt: api.Time(b.ScheduledAt), QueuedAt: api.Time(b.QueuedAt), StartedAt: api.Time(b.StartedAt), HandedAt: api.Time(b.HandedAt),
		PausedAt: api.Time(b.PausedAt), SentAt: api.Time(b.SentAt), CancelledAt: api.Time(b.CancelledAt), CreatedAt: api.Time(b.CreatedAt), UpdatedAt: api.Time(b.UpdatedAt)}
	if r.Tags == nil {
		r.Tags = []email.Tag{}
	}
	if b.TemplateVersion > 0 {
		r.Version = &b.TemplateVersion
	}
	if b.Throttle > 0 {
		r.Throttle = &b.Throttle
	}
	if !b.Window.Always() {
		r.Window = &b.Window
	}
	return r
}

func newRecord(b Broadcast, c counts) Record {
	r := Record{Row: newRow(b, c), HTML: api.Ref(b.HTML), Text: api.Ref(b.Text), Variables: b.Variables}
	if r.Variables == nil {
		r.Variables = template.Values{}
	}
	return r
}

// recipientRecord is a recipient on the wire.
type recipientRecord struct {
	Object       string        `json:"object" example:"broadcast_recipient"`
	ID           string        `json:"id" example:"0193a1f6-0000-7000-8000-000000000611"`
	Broadcast    ID            `json:"broadcast_id" example:"0193a1f6-0000-7000-8000-000000000601"`
	Contact      string        `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Email        string        `json:"email" example:"ann@example.net"`
	Status       email.State   `json:"status" doc:"A state of an email, or pending or skipped." example:"clicked"`
	EmailID      api.Ref       `json:"email_id" example:"0193a1f6-0000-7000-8000-000000000611"`
	Opens        int64         `json:"open_count" example:"2"`
	Clicks       int64         `json:"click_count" example:"1"`
	Count        *int64        `json:"count,omitempty" doc:"With a filter for opened or clicked: how often." example:"1"`
	Links        []clickRecord `json:"clicked_links"`
	BounceType   api.Ref       `json:"bounce_type"`
	Error        *problem      `json:"error"`
	Unsubscribed bool          `json:"unsubscribed" example:"false"`
	SentAt       api.Time      `json:"sent_at"`
	DeliveredAt  api.Time      `json:"delivered_at"`
	UpdatedAt    api.Time      `json:"updated_at"`
}

func (r recipientRecord) place() api.Cursor { return api.Cursor{ID: r.ID} }

type clickRecord struct {
	URL    string `json:"url" example:"https://acme.test"`
	Clicks int64  `json:"clicks" example:"1"`
}

func newRecipientRecord(r recipient, links []clickRecord, count *int64) recipientRecord {
	if links == nil {
		links = []clickRecord{}
	}
	return recipientRecord{Object: "broadcast_recipient", ID: r.ID, Broadcast: r.Broadcast, Contact: r.ContactID, Email: r.Address, Status: r.State, EmailID: api.Ref(r.Email),
		Opens: r.Opens, Clicks: r.Clicks, Count: count, Links: links, BounceType: api.Ref(r.BounceType), Error: r.Problem, Unsubscribed: r.Unsubscribed,
		SentAt: api.Time(r.SentAt), DeliveredAt: api.Time(r.DeliveredAt), UpdatedAt: api.Time(r.UpdatedAt)}
}

// errorRecord is why one recipient did not get the mail.
type errorRecord struct {
	Object   string   `json:"object" example:"broadcast_recipient_error"`
	ID       string   `json:"id" example:"0193a1f6-0000-7000-8000-000000000611"`
	Contact  string   `json:"contact_id" example:"0193a1f5-0000-7000-8000-000000000301"`
	Email    string   `json:"email" example:"gone@example.net"`
	EmailID  api.Ref  `json:"email_id" example:"0193a1f6-0000-7000-8000-000000000611"`
	Stage    stage    `json:"stage" doc:"render, suppression or delivery." example:"delivery"`
	Reason   string   `json:"reason" example:"hard_bounce"`
	Class    api.Ref  `json:"class" example:"hard"`
	Message  string   `json:"message" example:"550 5.1.1 The email account does not exist."`
	SMTPCode *int     `json:"smtp_code" example:"550"`
	Enhanced api.Ref  `json:"enhanced_code" example:"5.1.1"`
	At       api.Time `json:"occurred_at"`
}

func (r errorRecord) place() api.Cursor { return api.Cursor{ID: r.ID} }

func newErrorRecord(r recipient) errorRecord {
	p := problem{}
	if r.Problem != nil {
		p = *r.Problem
	}
	return errorRecord{"broadcast_recipient_error", r.ID, r.ContactID, r.Address, api.Ref(r.Email), p.Stage, p.Reason, p.Class, p.Message, p.SMTPCode, p.Enhanced, p.At}
}

type summaryRecord struct {
	Object   string           `json:"object" example:"broadcast_summary"`
	Total    int64            `json:"total" example:"12"`
	ByStatus map[Status]int64 `json:"by_status" example:"{\"draft\":3,\"scheduled\":1,\"queued\":0,\"sending\":0,\"sent\":7,\"cancelled\":1,\"failed\":0}"`
}

// estimateRecord is whom a broadcast would reach.
type estimateRecord struct {
	Object      string         `json:"object" example:"audience_estimate"`
	Total       int64          `json:"total" example:"1200"`
	Eligible    int64          `json:"eligible" example:"1098"`
	Excluded    excludedRecord `json:"excluded"`
	Quota       quotaRecord    `json:"quota"`
	EstimatedAt api.Time       `json:"estimated_at"`
}

type excludedRecord struct {
	Unsubscribed int64 `json:"unsubscribed" example:"40"`
	Pending      int64 `json:"pending" example:"55"`
	Suppressed   int64 `json:"suppressed" example:"5"`
	TopicOptOut  int64 `json:"topic_opt_out" example:"2"`
	Duplicate    int64 `json:"duplicate" doc:"Always 0: an address is one contact." example:"0"`
}

type quotaRecord struct {
	Remaining  *int64 `json:"remaining" doc:"Emails that the plan has left this month; null without limit." example:"20000"`
	Sufficient bool   `json:"sufficient" example:"true"`
}
