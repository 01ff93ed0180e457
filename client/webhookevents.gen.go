// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// WebhookEvents: What a webhook can hear of.
type WebhookEvents struct{ client *Client }

// List calls GET /v1/webhook-events: list the events that can be subscribed to, each with a sample. Needs the scope `webhook:read`. Counted in the rate limit `read`.
func (s *WebhookEvents) List(ctx context.Context, params ListWebhookEventsParams, options ...CallOption) (*Page[WebhookEventRecord], error) {
	return do[Page[WebhookEventRecord]](ctx, s.client, call{method: "GET", path: "/v1/webhook-events", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *WebhookEvents) All(ctx context.Context, params ListWebhookEventsParams, options ...CallOption) iter.Seq2[WebhookEventRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[WebhookEventRecord], error) {
		page := params
		page.Offset = offset
		return s.List(ctx, page, options...)
	})
}

// ListWebhookEventsParams are the parameters of GET /v1/webhook-events; what is empty is not asked for.
type ListWebhookEventsParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
}

func (p ListWebhookEventsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	return url.Values(q)
}
