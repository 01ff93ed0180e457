// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Broadcasts: One message to many contacts.
type Broadcasts struct{ client *Client }

// List calls GET /v1/broadcasts: list broadcasts, newest first, without html and text. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) List(ctx context.Context, params ListBroadcastsParams, options ...CallOption) (*Page[BroadcastRow], error) {
	return do[Page[BroadcastRow]](ctx, s.client, call{method: "GET", path: "/v1/broadcasts", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Broadcasts) All(ctx context.Context, params ListBroadcastsParams, options ...CallOption) iter.Seq2[BroadcastRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[BroadcastRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/broadcasts: draft a broadcast, or send it at once with send. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Create(ctx context.Context, body CreateBroadcastBody, options ...CallOption) (*BroadcastSentRecord, error) {
	return do[BroadcastSentRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts", body: body}, options)
}

// EstimateAudience calls POST /v1/broadcasts/audience-estimate: estimate how many people a broadcast would reach. Needs the scope `email:read`. Counted in the rate limit `write`.
func (s *Broadcasts) EstimateAudience(ctx context.Context, body BroadcastEstimateBody, options ...CallOption) (*BroadcastEstimateRecord, error) {
	return do[BroadcastEstimateRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/audience-estimate", body: body}, options)
}

// GetSummary calls GET /v1/broadcasts/summary: count broadcasts by status. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) GetSummary(ctx context.Context, options ...CallOption) (*BroadcastSummaryRecord, error) {
	return do[BroadcastSummaryRecord](ctx, s.client, call{method: "GET", path: "/v1/broadcasts/summary"}, options)
}

// Delete calls DELETE /v1/broadcasts/{id}: delete a draft, or a broadcast that was cancelled. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/broadcasts/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/broadcasts/{id}: get a broadcast. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) Get(ctx context.Context, id string, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "GET", path: "/v1/broadcasts/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/broadcasts/{id}: change a broadcast that has not begun. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Update(ctx context.Context, id string, body BroadcastBody, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "PATCH", path: "/v1/broadcasts/" + url.PathEscape(id), body: body}, options)
}

// Cancel calls POST /v1/broadcasts/{id}/cancel: stop a broadcast. What went out stays out. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Cancel(ctx context.Context, id string, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/" + url.PathEscape(id) + "/cancel"}, options)
}

// ListClickedLinks calls GET /v1/broadcasts/{id}/clicked-links: list the links that people followed. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) ListClickedLinks(ctx context.Context, id string, params ListBroadcastClickedLinksParams, options ...CallOption) (*Page[BroadcastLinkRecord], error) {
	return do[Page[BroadcastLinkRecord]](ctx, s.client, call{method: "GET", path: "/v1/broadcasts/" + url.PathEscape(id) + "/clicked-links", query: params.values()}, options)
}

// AllClickedLinks is ListClickedLinks from page to page, to the end of the list.
func (s *Broadcasts) AllClickedLinks(ctx context.Context, id string, params ListBroadcastClickedLinksParams, options ...CallOption) iter.Seq2[BroadcastLinkRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[BroadcastLinkRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListClickedLinks(ctx, id, page, options...)
	})
}

// Duplicate calls POST /v1/broadcasts/{id}/duplicate: make a draft from another broadcast. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Duplicate(ctx context.Context, id string, body DuplicateBroadcastBody, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/" + url.PathEscape(id) + "/duplicate", body: body}, options)
}

// Pause calls POST /v1/broadcasts/{id}/pause: hold a broadcast that is being sent. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Pause(ctx context.Context, id string, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/" + url.PathEscape(id) + "/pause"}, options)
}

// ListRecipientErrors calls GET /v1/broadcasts/{id}/recipient-errors: list who did not get a broadcast, and why. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) ListRecipientErrors(ctx context.Context, id string, params ListBroadcastRecipientErrorsParams, options ...CallOption) (*Page[BroadcastErrorRecord], error) {
	return do[Page[BroadcastErrorRecord]](ctx, s.client, call{method: "GET", path: "/v1/broadcasts/" + url.PathEscape(id) + "/recipient-errors", query: params.values()}, options)
}

// AllRecipientErrors is ListRecipientErrors from page to page, to the end of the list.
func (s *Broadcasts) AllRecipientErrors(ctx context.Context, id string, params ListBroadcastRecipientErrorsParams, options ...CallOption) iter.Seq2[BroadcastErrorRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[BroadcastErrorRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListRecipientErrors(ctx, id, page, options...)
	})
}

// ListRecipients calls GET /v1/broadcasts/{id}/recipients: list the recipients of a broadcast. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) ListRecipients(ctx context.Context, id string, params ListBroadcastRecipientsParams, options ...CallOption) (*Page[BroadcastRecipientRecord], error) {
	return do[Page[BroadcastRecipientRecord]](ctx, s.client, call{method: "GET", path: "/v1/broadcasts/" + url.PathEscape(id) + "/recipients", query: params.values()}, options)
}

// AllRecipients is ListRecipients from page to page, to the end of the list.
func (s *Broadcasts) AllRecipients(ctx context.Context, id string, params ListBroadcastRecipientsParams, options ...CallOption) iter.Seq2[BroadcastRecipientRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[BroadcastRecipientRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListRecipients(ctx, id, page, options...)
	})
}

// Resume calls POST /v1/broadcasts/{id}/resume: let a broadcast that is held go on. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Resume(ctx context.Context, id string, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/" + url.PathEscape(id) + "/resume"}, options)
}

// Retry calls POST /v1/broadcasts/{id}/retry: send to those again, and only to those, whose mail failed. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Retry(ctx context.Context, id string, options ...CallOption) (*BroadcastRecord, error) {
	return do[BroadcastRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/" + url.PathEscape(id) + "/retry"}, options)
}

// Send calls POST /v1/broadcasts/{id}/send: send a broadcast now, or at a time. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Broadcasts) Send(ctx context.Context, id string, body SendBroadcastBody, options ...CallOption) (*BroadcastSentRecord, error) {
	return do[BroadcastSentRecord](ctx, s.client, call{method: "POST", path: "/v1/broadcasts/" + url.PathEscape(id) + "/send", body: body, once: true}, options)
}

// GetStats calls GET /v1/broadcasts/{id}/stats: tell what became of a broadcast. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Broadcasts) GetStats(ctx context.Context, id string, options ...CallOption) (*BroadcastStatisticsRecord, error) {
	return do[BroadcastStatisticsRecord](ctx, s.client, call{method: "GET", path: "/v1/broadcasts/" + url.PathEscape(id) + "/stats"}, options)
}

// CreateBroadcastBody is the body of POST /v1/broadcasts.
type CreateBroadcastBody struct {
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
	// Send it now, or at scheduled_at.
	Send bool `json:"send,omitzero"`
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

// DuplicateBroadcastBody is the body of POST /v1/broadcasts/{id}/duplicate.
type DuplicateBroadcastBody struct {
	// Name of the copy.
	Name string `json:"name,omitzero"`
}

// ListBroadcastClickedLinksParams are the parameters of GET /v1/broadcasts/{id}/clicked-links; what is empty is not asked for.
type ListBroadcastClickedLinksParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
	// next_cursor of the page before, unchanged.
	Cursor string
	// Id of the last row of the page before.
	After string
	// Id of the first row of the page after.
	Before string
	// desc (newest first) or asc.
	Order string
}

func (p ListBroadcastClickedLinksParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// ListBroadcastRecipientErrorsParams are the parameters of GET /v1/broadcasts/{id}/recipient-errors; what is empty is not asked for.
type ListBroadcastRecipientErrorsParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
	// next_cursor of the page before, unchanged.
	Cursor string
	// Id of the last row of the page before.
	After string
	// Id of the first row of the page after.
	Before string
	// desc (newest first) or asc.
	Order string
	// One or more reasons.
	Reason []string
	// Part of the address; of several, one is enough.
	Email []string
}

func (p ListBroadcastRecipientErrorsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("reason", p.Reason)
	q.texts("email", p.Email)
	return url.Values(q)
}

// ListBroadcastRecipientsParams are the parameters of GET /v1/broadcasts/{id}/recipients; what is empty is not asked for.
type ListBroadcastRecipientsParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
	// next_cursor of the page before, unchanged.
	Cursor string
	// Id of the last row of the page before.
	After string
	// Id of the first row of the page after.
	Before string
	// desc (newest first) or asc.
	Order string
	// States; opened includes clicked, delivered includes both.
	Status []string
	// The same as status.
	Type []string
	// Part of the address; of several, one is enough.
	Email []string
	// permanent, transient or undetermined.
	BounceType []string
}

func (p ListBroadcastRecipientsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.texts("type", p.Type)
	q.texts("email", p.Email)
	q.texts("bounce_type", p.BounceType)
	return url.Values(q)
}

// ListBroadcastsParams are the parameters of GET /v1/broadcasts; what is empty is not asked for.
type ListBroadcastsParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
	// next_cursor of the page before, unchanged.
	Cursor string
	// Id of the last row of the page before.
	After string
	// Id of the first row of the page after.
	Before string
	// desc (newest first) or asc.
	Order string
	// One or more statuses.
	Status []string
	// For one of these lists or segments.
	AudienceID []string
	// For one of these segments.
	SegmentID []string
	// Part of the name or the subject.
	Search string
	// Created at or after.
	Since time.Time
	// Created before.
	Until time.Time
}

func (p ListBroadcastsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.texts("audience_id", p.AudienceID)
	q.texts("segment_id", p.SegmentID)
	q.text("search", p.Search)
	q.time("since", p.Since)
	q.time("until", p.Until)
	return url.Values(q)
}

// SendBroadcastBody is the body of POST /v1/broadcasts/{id}/send.
type SendBroadcastBody struct {
	// The same as the Idempotency-Key header.
	IdempotencyKey string `json:"idempotency_key,omitzero"`
	// RFC 3339, or like 'in 10 minutes'; at most 30 days ahead.
	ScheduledAt string `json:"scheduled_at,omitzero"`
}
