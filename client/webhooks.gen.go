// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Webhooks: Where events are posted to.
type Webhooks struct{ client *Client }

// List calls GET /v1/webhooks: list webhooks, newest first. Needs the scope `webhook:read`. Counted in the rate limit `read`.
func (s *Webhooks) List(ctx context.Context, params ListWebhooksParams, options ...CallOption) (*Page[WebhookRecord], error) {
	return do[Page[WebhookRecord]](ctx, s.client, call{method: "GET", path: "/v1/webhooks", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Webhooks) All(ctx context.Context, params ListWebhooksParams, options ...CallOption) iter.Seq2[WebhookRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[WebhookRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/webhooks: register a webhook. Its secret is shown only now. Needs the scope `webhook:manage`. Counted in the rate limit `write`.
func (s *Webhooks) Create(ctx context.Context, body WebhookNewEndpoint, options ...CallOption) (*WebhookSecretRecord, error) {
	return do[WebhookSecretRecord](ctx, s.client, call{method: "POST", path: "/v1/webhooks", body: body}, options)
}

// Delete calls DELETE /v1/webhooks/{id}: delete a webhook. What waits for it is cancelled. Needs the scope `webhook:manage`. Counted in the rate limit `write`.
func (s *Webhooks) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/webhooks/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/webhooks/{id}: get a webhook. Needs the scope `webhook:read`. Counted in the rate limit `read`.
func (s *Webhooks) Get(ctx context.Context, id string, options ...CallOption) (*WebhookRecord, error) {
	return do[WebhookRecord](ctx, s.client, call{method: "GET", path: "/v1/webhooks/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/webhooks/{id}: change, enable or disable a webhook. Needs the scope `webhook:manage`. Counted in the rate limit `write`.
func (s *Webhooks) Update(ctx context.Context, id string, body WebhookChange, options ...CallOption) (*WebhookRecord, error) {
	return do[WebhookRecord](ctx, s.client, call{method: "PATCH", path: "/v1/webhooks/" + url.PathEscape(id), body: body}, options)
}

// ListDeliveries calls GET /v1/webhooks/{id}/deliveries: list deliveries of a webhook, newest first. Needs the scope `webhook:read`. Counted in the rate limit `read`.
func (s *Webhooks) ListDeliveries(ctx context.Context, id string, params ListDeliveriesOfWebhookParams, options ...CallOption) (*Page[WebhookDeliveryRecord], error) {
	return do[Page[WebhookDeliveryRecord]](ctx, s.client, call{method: "GET", path: "/v1/webhooks/" + url.PathEscape(id) + "/deliveries", query: params.values()}, options)
}

// AllDeliveries is ListDeliveries from page to page, to the end of the list.
func (s *Webhooks) AllDeliveries(ctx context.Context, id string, params ListDeliveriesOfWebhookParams, options ...CallOption) iter.Seq2[WebhookDeliveryRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[WebhookDeliveryRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListDeliveries(ctx, id, page, options...)
	})
}

// RevokePreviousSecret calls POST /v1/webhooks/{id}/revoke-previous-secret: end the time in which the old secret signs too. Needs a session of the dashboard; a key is refused. The role must be `owner` or `admin`. Asks for a fresh second factor of users who have one. Counted in the rate limit `write`.
func (s *Webhooks) RevokePreviousSecret(ctx context.Context, id string, options ...CallOption) (*WebhookRecord, error) {
	return do[WebhookRecord](ctx, s.client, call{method: "POST", path: "/v1/webhooks/" + url.PathEscape(id) + "/revoke-previous-secret"}, options)
}

// RotateSecret calls POST /v1/webhooks/{id}/rotate-secret: replace the secret of a webhook; the old one signs too for a while. Needs a session of the dashboard; a key is refused. The role must be `owner` or `admin`. Asks for a fresh second factor of users who have one. Counted in the rate limit `write`.
func (s *Webhooks) RotateSecret(ctx context.Context, id string, body WebhookRotation, options ...CallOption) (*WebhookSecretRecord, error) {
	return do[WebhookSecretRecord](ctx, s.client, call{method: "POST", path: "/v1/webhooks/" + url.PathEscape(id) + "/rotate-secret", body: body}, options)
}

// Test calls POST /v1/webhooks/{id}/test: queue a signed test event. Needs the scope `webhook:manage`. Counted in the rate limit `webhook_test`.
func (s *Webhooks) Test(ctx context.Context, id string, body WebhookTrial, options ...CallOption) (*WebhookDeliveryDetail, error) {
	return do[WebhookDeliveryDetail](ctx, s.client, call{method: "POST", path: "/v1/webhooks/" + url.PathEscape(id) + "/test", body: body}, options)
}

// TestLive calls POST /v1/webhooks/{id}/test/live: send a signed test event now and see the answer. Needs a session of the dashboard; a key is refused. Asks for a fresh second factor of users who have one. Counted in the rate limit `webhook_test`.
func (s *Webhooks) TestLive(ctx context.Context, id string, body WebhookTrial, options ...CallOption) (*WebhookDeliveryDetail, error) {
	return do[WebhookDeliveryDetail](ctx, s.client, call{method: "POST", path: "/v1/webhooks/" + url.PathEscape(id) + "/test/live", body: body}, options)
}

// ListDeliveriesOfWebhookParams are the parameters of GET /v1/webhooks/{id}/deliveries; what is empty is not asked for.
type ListDeliveriesOfWebhookParams struct {
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
	// pending, retrying, delivered, failed or cancelled.
	Status []string
	// Types of events.
	Event []string
	// Ids of webhooks.
	WebhookID []string
	// Ids of events.
	EventID []string
	// Created at or after this time.
	Since time.Time
	// Created before this time.
	Until time.Time
}

func (p ListDeliveriesOfWebhookParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.texts("event", p.Event)
	q.texts("webhook_id", p.WebhookID)
	q.texts("event_id", p.EventID)
	q.time("since", p.Since)
	q.time("until", p.Until)
	return url.Values(q)
}

// ListWebhooksParams are the parameters of GET /v1/webhooks; what is empty is not asked for.
type ListWebhooksParams struct {
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
	// enabled or disabled.
	Status []string
	// Only those that hear of one of these events.
	Event []string
}

func (p ListWebhooksParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.texts("event", p.Event)
	return url.Values(q)
}
