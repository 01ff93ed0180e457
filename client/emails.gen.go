// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Emails: Send emails, alone or many at once, and see what became of each; read what was received.
type Emails struct{ client *Client }

// List calls GET /v1/emails: list emails, newest first. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) List(ctx context.Context, params ListEmailsParams, options ...CallOption) (*Page[EmailRow], error) {
	return do[Page[EmailRow]](ctx, s.client, call{method: "GET", path: "/v1/emails", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Emails) All(ctx context.Context, params ListEmailsParams, options ...CallOption) iter.Seq2[EmailRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[EmailRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Send calls POST /v1/emails: send an email. Needs the scope `email:send`. Counted in the rate limit `email_send`.
func (s *Emails) Send(ctx context.Context, body EmailSendBody, options ...CallOption) (*EmailSendAnswer, error) {
	return do[EmailSendAnswer](ctx, s.client, call{method: "POST", path: "/v1/emails", body: body, once: true}, options)
}

// SendBatch calls POST /v1/emails/batch: send up to 100 emails. Needs the scope `email:send`. Counted in the rate limit `email_batch`.
func (s *Emails) SendBatch(ctx context.Context, body []EmailSendBody, options ...CallOption) (*EmailBatchAnswer, error) {
	return do[EmailBatchAnswer](ctx, s.client, call{method: "POST", path: "/v1/emails/batch", body: body, once: true}, options)
}

// ListReceiving calls GET /v1/emails/receiving: list received messages, newest first. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) ListReceiving(ctx context.Context, params ListEmailsReceivingParams, options ...CallOption) (*Page[InboundRow], error) {
	return do[Page[InboundRow]](ctx, s.client, call{method: "GET", path: "/v1/emails/receiving", query: params.values()}, options)
}

// AllReceiving is ListReceiving from page to page, to the end of the list.
func (s *Emails) AllReceiving(ctx context.Context, params ListEmailsReceivingParams, options ...CallOption) iter.Seq2[InboundRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[InboundRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListReceiving(ctx, page, options...)
	})
}

// Ingest calls POST /v1/emails/receiving: hand in a message as if it had been received, to try what follows from it. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Emails) Ingest(ctx context.Context, body InboundIngestBody, options ...CallOption) (*InboundRecord, error) {
	return do[InboundRecord](ctx, s.client, call{method: "POST", path: "/v1/emails/receiving", body: body}, options)
}

// ListReceivingForwarding calls GET /v1/emails/receiving/forwarding: list the forwarding rules. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) ListReceivingForwarding(ctx context.Context, params ListEmailsReceivingForwardingParams, options ...CallOption) (*Page[InboundRuleRecord], error) {
	return do[Page[InboundRuleRecord]](ctx, s.client, call{method: "GET", path: "/v1/emails/receiving/forwarding", query: params.values()}, options)
}

// AllReceivingForwarding is ListReceivingForwarding from page to page, to the end of the list.
func (s *Emails) AllReceivingForwarding(ctx context.Context, params ListEmailsReceivingForwardingParams, options ...CallOption) iter.Seq2[InboundRuleRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[InboundRuleRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListReceivingForwarding(ctx, page, options...)
	})
}

// CreateForwarding calls POST /v1/emails/receiving/forwarding: have mail to an address, or to all addresses of a domain, passed on. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Emails) CreateForwarding(ctx context.Context, body ReceivingForwardingEmailsBody, options ...CallOption) (*InboundRuleRecord, error) {
	return do[InboundRuleRecord](ctx, s.client, call{method: "POST", path: "/v1/emails/receiving/forwarding", body: body}, options)
}

// DeleteReceivingForwarding calls DELETE /v1/emails/receiving/forwarding/{ruleId}: remove a forwarding rule. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Emails) DeleteReceivingForwarding(ctx context.Context, ruleID string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/emails/receiving/forwarding/" + url.PathEscape(ruleID)}, options)
}

// UpdateReceivingForwarding calls PATCH /v1/emails/receiving/forwarding/{ruleId}: change a forwarding rule. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Emails) UpdateReceivingForwarding(ctx context.Context, ruleID string, body InboundRuleBody, options ...CallOption) (*InboundRuleRecord, error) {
	return do[InboundRuleRecord](ctx, s.client, call{method: "PATCH", path: "/v1/emails/receiving/forwarding/" + url.PathEscape(ruleID), body: body}, options)
}

// GetReceivingHealth calls GET /v1/emails/receiving/health: tell whether mail for the domains would arrive. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) GetReceivingHealth(ctx context.Context, options ...CallOption) (*InboundHealthRecord, error) {
	return do[InboundHealthRecord](ctx, s.client, call{method: "GET", path: "/v1/emails/receiving/health"}, options)
}

// DeleteReceiving calls DELETE /v1/emails/receiving/{id}: delete a received message for good. Needs the scope `domain:manage`. Counted in the rate limit `write`.
func (s *Emails) DeleteReceiving(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/emails/receiving/" + url.PathEscape(id)}, options)
}

// GetReceiving calls GET /v1/emails/receiving/{id}: get a received message with its header and body. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) GetReceiving(ctx context.Context, id string, params GetEmailsReceivingParams, options ...CallOption) (*InboundRecord, error) {
	return do[InboundRecord](ctx, s.client, call{method: "GET", path: "/v1/emails/receiving/" + url.PathEscape(id), query: params.values()}, options)
}

// UpdateReceiving calls PATCH /v1/emails/receiving/{id}: mark a received message as read or with a star. Needs the scope `email:read`. Counted in the rate limit `write`.
func (s *Emails) UpdateReceiving(ctx context.Context, id string, body UpdateEmailsReceivingBody, options ...CallOption) (*InboundRecord, error) {
	return do[InboundRecord](ctx, s.client, call{method: "PATCH", path: "/v1/emails/receiving/" + url.PathEscape(id), body: body}, options)
}

// ListReceivingAttachments calls GET /v1/emails/receiving/{id}/attachments: list the attachments of a received message. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) ListReceivingAttachments(ctx context.Context, id string, params ListEmailsReceivingAttachmentsParams, options ...CallOption) (*Page[InboundAttachmentRecord], error) {
	return do[Page[InboundAttachmentRecord]](ctx, s.client, call{method: "GET", path: "/v1/emails/receiving/" + url.PathEscape(id) + "/attachments", query: params.values()}, options)
}

// AllReceivingAttachments is ListReceivingAttachments from page to page, to the end of the list.
func (s *Emails) AllReceivingAttachments(ctx context.Context, id string, params ListEmailsReceivingAttachmentsParams, options ...CallOption) iter.Seq2[InboundAttachmentRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[InboundAttachmentRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListReceivingAttachments(ctx, id, page, options...)
	})
}

// GetReceivingAttachment calls GET /v1/emails/receiving/{id}/attachments/{attachmentId}: get one attachment of a received message with a link to its content. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) GetReceivingAttachment(ctx context.Context, id string, attachmentID string, options ...CallOption) (*InboundAttachmentRecord, error) {
	return do[InboundAttachmentRecord](ctx, s.client, call{method: "GET", path: "/v1/emails/receiving/" + url.PathEscape(id) + "/attachments/" + url.PathEscape(attachmentID)}, options)
}

// Reply calls POST /v1/emails/receiving/{id}/reply: answer a received message. Needs the scope `email:send`. Counted in the rate limit `email_send`.
func (s *Emails) Reply(ctx context.Context, id string, body InboundReplyBody, options ...CallOption) (*InboundReplyAnswer, error) {
	return do[InboundReplyAnswer](ctx, s.client, call{method: "POST", path: "/v1/emails/receiving/" + url.PathEscape(id) + "/reply", body: body, once: true}, options)
}

// CheckSpam calls POST /v1/emails/spam-check: find out how much an email looks like spam, and what to do about it. Nothing is sent or kept. Needs the scope `email:send`. Counted in the rate limit `spam_check`.
func (s *Emails) CheckSpam(ctx context.Context, body EmailSpamCheckBody, options ...CallOption) (*EmailSpamCheckRecord, error) {
	return do[EmailSpamCheckRecord](ctx, s.client, call{method: "POST", path: "/v1/emails/spam-check", body: body}, options)
}

// Get calls GET /v1/emails/{id}: get an email with its timeline. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) Get(ctx context.Context, id string, options ...CallOption) (*EmailRecord, error) {
	return do[EmailRecord](ctx, s.client, call{method: "GET", path: "/v1/emails/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/emails/{id}: move a scheduled email to another time. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Emails) Update(ctx context.Context, id string, body UpdateEmailBody, options ...CallOption) (*EmailRecord, error) {
	return do[EmailRecord](ctx, s.client, call{method: "PATCH", path: "/v1/emails/" + url.PathEscape(id), body: body}, options)
}

// ListAttachments calls GET /v1/emails/{id}/attachments: list the attachments of an email. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) ListAttachments(ctx context.Context, id string, params ListEmailAttachmentsParams, options ...CallOption) (*Page[EmailAttachmentRecord], error) {
	return do[Page[EmailAttachmentRecord]](ctx, s.client, call{method: "GET", path: "/v1/emails/" + url.PathEscape(id) + "/attachments", query: params.values()}, options)
}

// AllAttachments is ListAttachments from page to page, to the end of the list.
func (s *Emails) AllAttachments(ctx context.Context, id string, params ListEmailAttachmentsParams, options ...CallOption) iter.Seq2[EmailAttachmentRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[EmailAttachmentRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListAttachments(ctx, id, page, options...)
	})
}

// GetAttachment calls GET /v1/emails/{id}/attachments/{aid}: get one attachment of an email with a link to its content. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) GetAttachment(ctx context.Context, id string, aid string, options ...CallOption) (*EmailAttachmentRecord, error) {
	return do[EmailAttachmentRecord](ctx, s.client, call{method: "GET", path: "/v1/emails/" + url.PathEscape(id) + "/attachments/" + url.PathEscape(aid)}, options)
}

// ListAttempts calls GET /v1/emails/{id}/attempts: list the delivery attempts of an email. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) ListAttempts(ctx context.Context, id string, params ListEmailAttemptsParams, options ...CallOption) (*Page[EmailAttemptRecord], error) {
	return do[Page[EmailAttemptRecord]](ctx, s.client, call{method: "GET", path: "/v1/emails/" + url.PathEscape(id) + "/attempts", query: params.values()}, options)
}

// AllAttempts is ListAttempts from page to page, to the end of the list.
func (s *Emails) AllAttempts(ctx context.Context, id string, params ListEmailAttemptsParams, options ...CallOption) iter.Seq2[EmailAttemptRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[EmailAttemptRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListAttempts(ctx, id, page, options...)
	})
}

// Cancel calls POST /v1/emails/{id}/cancel: cancel a scheduled email. Needs the scope `email:send`. Counted in the rate limit `write`.
func (s *Emails) Cancel(ctx context.Context, id string, options ...CallOption) (*EmailRecord, error) {
	return do[EmailRecord](ctx, s.client, call{method: "POST", path: "/v1/emails/" + url.PathEscape(id) + "/cancel"}, options)
}

// ListEvents calls GET /v1/emails/{id}/events: list the events of an email. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) ListEvents(ctx context.Context, id string, params ListEmailEventsParams, options ...CallOption) (*Page[EmailEventRecord], error) {
	return do[Page[EmailEventRecord]](ctx, s.client, call{method: "GET", path: "/v1/emails/" + url.PathEscape(id) + "/events", query: params.values()}, options)
}

// AllEvents is ListEvents from page to page, to the end of the list.
func (s *Emails) AllEvents(ctx context.Context, id string, params ListEmailEventsParams, options ...CallOption) iter.Seq2[EmailEventRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[EmailEventRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListEvents(ctx, id, page, options...)
	})
}

// GetRaw calls GET /v1/emails/{id}/raw: get a link to the message as it is sent, signature included. Needs the scope `email:read`. Counted in the rate limit `read`.
func (s *Emails) GetRaw(ctx context.Context, id string, options ...CallOption) (*DeliveryRawRecord, error) {
	return do[DeliveryRawRecord](ctx, s.client, call{method: "GET", path: "/v1/emails/" + url.PathEscape(id) + "/raw"}, options)
}

// Share calls POST /v1/emails/{id}/share: get a link at which anyone can read the email for a while. Needs the scope `email:read`. Counted in the rate limit `write`.
func (s *Emails) Share(ctx context.Context, id string, body ShareEmailBody, options ...CallOption) (*EmailShareRecord, error) {
	return do[EmailShareRecord](ctx, s.client, call{method: "POST", path: "/v1/emails/" + url.PathEscape(id) + "/share", body: body}, options)
}

// GetEmailsReceivingParams are the parameters of GET /v1/emails/receiving/{id}; what is empty is not asked for.
type GetEmailsReceivingParams struct {
	// data_uri puts inline images into the page; cid keeps the references.
	HTMLFormat string
}

func (p GetEmailsReceivingParams) values() url.Values {
	q := query{}
	q.text("html_format", p.HTMLFormat)
	return url.Values(q)
}

// ListEmailAttachmentsParams are the parameters of GET /v1/emails/{id}/attachments; what is empty is not asked for.
type ListEmailAttachmentsParams struct {
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

func (p ListEmailAttachmentsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// ListEmailAttemptsParams are the parameters of GET /v1/emails/{id}/attempts; what is empty is not asked for.
type ListEmailAttemptsParams struct {
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
	// Only what concerns one of these addresses.
	Recipient []string
}

func (p ListEmailAttemptsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("recipient", p.Recipient)
	return url.Values(q)
}

// ListEmailEventsParams are the parameters of GET /v1/emails/{id}/events; what is empty is not asked for.
type ListEmailEventsParams struct {
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
	// Only what concerns one of these addresses.
	Recipient []string
}

func (p ListEmailEventsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("recipient", p.Recipient)
	return url.Values(q)
}

// ListEmailsParams are the parameters of GET /v1/emails; what is empty is not asked for.
type ListEmailsParams struct {
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
	// One or more states.
	Status []string
	// Names or ids of sending domains.
	Domain []string
	// Part of the subject, an address, the message id or the id.
	Search string
	// The same as search.
	Q string
	// Part of a recipient's address. Several values are alternatives, here and in the other filters.
	To []string
	// Part of the sender.
	From []string
	// name:value
	Tag []string
	// Id of the template it was made from.
	TemplateID []string
	// Id of the broadcast it is part of.
	BroadcastID []string
	// Id of the managed customer whose mail it is.
	ManagedTenantID []string
	// Created at or after.
	Since time.Time
	// Created before.
	Until time.Time
	// The same as since.
	Start time.Time
	// The same as until.
	End time.Time
}

func (p ListEmailsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.texts("domain", p.Domain)
	q.text("search", p.Search)
	q.text("q", p.Q)
	q.texts("to", p.To)
	q.texts("from", p.From)
	q.texts("tag", p.Tag)
	q.texts("template_id", p.TemplateID)
	q.texts("broadcast_id", p.BroadcastID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.time("since", p.Since)
	q.time("until", p.Until)
	q.time("start", p.Start)
	q.time("end", p.End)
	return url.Values(q)
}

// ListEmailsReceivingAttachmentsParams are the parameters of GET /v1/emails/receiving/{id}/attachments; what is empty is not asked for.
type ListEmailsReceivingAttachmentsParams struct {
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

func (p ListEmailsReceivingAttachmentsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// ListEmailsReceivingForwardingParams are the parameters of GET /v1/emails/receiving/forwarding; what is empty is not asked for.
type ListEmailsReceivingForwardingParams struct {
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
	// Only rules of these domains.
	DomainID []string
	// Only rules that are on, or off.
	Enabled *bool
}

func (p ListEmailsReceivingForwardingParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("domain_id", p.DomainID)
	q.flag("enabled", p.Enabled)
	return url.Values(q)
}

// ListEmailsReceivingParams are the parameters of GET /v1/emails/receiving; what is empty is not asked for.
type ListEmailsReceivingParams struct {
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
	// Names or ids of domains.
	Domain []string
	// Part of a recipient's address. Several values are alternatives, here and in the other filters.
	To []string
	// Part of the sender.
	From []string
	// Part of the subject, an address, the message id or the id.
	Search string
	// Only read, or only unread messages.
	Read *bool
	// Only messages with a star, or without.
	Starred *bool
	// Only messages with attachments, or without.
	HasAttachments *bool
	// Received at or after.
	Since time.Time
	// Received before.
	Until time.Time
}

func (p ListEmailsReceivingParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("domain", p.Domain)
	q.texts("to", p.To)
	q.texts("from", p.From)
	q.text("search", p.Search)
	q.flag("read", p.Read)
	q.flag("starred", p.Starred)
	q.flag("has_attachments", p.HasAttachments)
	q.time("since", p.Since)
	q.time("until", p.Until)
	return url.Values(q)
}

// ReceivingForwardingEmailsBody is the body of POST /v1/emails/receiving/forwarding.
type ReceivingForwardingEmailsBody struct {
	// support@acme.test, or *@acme.test for all addresses without a rule of their own.
	Address     string  `json:"address,omitzero"`
	Description *string `json:"description,omitempty"`
	Enabled     *bool   `json:"enabled,omitempty"`
	// 1 to 10 addresses.
	ForwardTo []string `json:"forward_to,omitzero"`
	// false passes the mail on without keeping it here.
	KeepCopy *bool `json:"keep_copy,omitempty"`
	// rewrite or passthrough.
	Mode string `json:"mode,omitzero"`
}

// ShareEmailBody is the body of POST /v1/emails/{id}/share.
type ShareEmailBody struct {
	// How long the link is good, such as 24h; at most 48h.
	ExpiresIn string `json:"expires_in,omitzero"`
}

// UpdateEmailBody is the body of PATCH /v1/emails/{id}.
type UpdateEmailBody struct {
	ScheduledAt string `json:"scheduled_at,omitzero"`
}

// UpdateEmailsReceivingBody is the body of PATCH /v1/emails/receiving/{id}.
type UpdateEmailsReceivingBody struct {
	Read    *bool `json:"read,omitempty"`
	Starred *bool `json:"starred,omitempty"`
}
