// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// WebhookDeliveries: What was posted to webhooks, and how they answered.
type WebhookDeliveries struct{ client *Client }

// List calls GET /v1/webhook-deliveries: list deliveries of all webhooks, newest first. Needs the scope `webhook:read`. Counted in the rate limit `read`.
func (s *WebhookDeliveries) List(ctx context.Context, params ListWebhookDeliveriesParams, options ...CallOption) (*Page[WebhookDeliveryRecord], error) {
	return do[Page[WebhookDeliveryRecord]](ctx, s.client, call{method: "GET", path: "/v1/webhook-deliveries", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *WebhookDeliveries) All(ctx context.Context, params ListWebhookDeliveriesParams, options ...CallOption) iter.Seq2[WebhookDeliveryRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[WebhookDeliveryRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Replay calls POST /v1/webhook-deliveries/{deliveryId}/replay: send an event to a webhook once more. Needs a session of the dashboard; a key is refused. Asks for a fresh second factor of users who have one. Counted in the rate limit `webhook_test`.
func (s *WebhookDeliveries) Replay(ctx context.Context, deliveryID string, options ...CallOption) (*WebhookDeliveryDetail, error) {
	return do[WebhookDeliveryDetail](ctx, s.client, call{method: "POST", path: "/v1/webhook-deliveries/" + url.PathEscape(deliveryID) + "/replay"}, options)
}

// Get calls GET /v1/webhook-deliveries/{id}: get a delivery with its payload and attempts. Needs the scope `webhook:read`. Counted in the rate limit `read`.
func (s *WebhookDeliveries) Get(ctx context.Context, id string, options ...CallOption) (*WebhookDeliveryDetail, error) {
	return do[WebhookDeliveryDetail](ctx, s.client, call{method: "GET", path: "/v1/webhook-deliveries/" + url.PathEscape(id)}, options)
}

// ListWebhookDeliveriesParams are the parameters of GET /v1/webhook-deliveries; what is empty is not asked for.
type ListWebhookDeliveriesParams struct {
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

func (p ListWebhookDeliveriesParams) values() url.Values {
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
