// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"io"
	"iter"
	"net/url"
)

// Events: Events that start automations, and those that were sent.
type Events struct{ client *Client }

// List calls GET /v1/events: list events of your own, newest first. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Events) List(ctx context.Context, params ListEventsParams, options ...CallOption) (*Page[AutomationEventRecord], error) {
	return do[Page[AutomationEventRecord]](ctx, s.client, call{method: "GET", path: "/v1/events", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Events) All(ctx context.Context, params ListEventsParams, options ...CallOption) iter.Seq2[AutomationEventRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AutomationEventRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/events: define an event of your own, with the types of what it says. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Events) Create(ctx context.Context, body AutomationNewEvent, options ...CallOption) (*AutomationEventRecord, error) {
	return do[AutomationEventRecord](ctx, s.client, call{method: "POST", path: "/v1/events", body: body}, options)
}

// Send calls POST /v1/events/send: send an event by its name into automations and webhooks. Needs the scope `automation:run`. Counted in the rate limit `automation_run`.
func (s *Events) Send(ctx context.Context, body AutomationSending, options ...CallOption) (*AutomationSentRecord, error) {
	return do[AutomationSentRecord](ctx, s.client, call{method: "POST", path: "/v1/events/send", body: body, once: true}, options)
}

// GetStream calls GET /v1/events/stream: follow events as they happen, as server-sent events with the payloads of webhooks. Needs the scope `webhook:read`. Without it, one of `audience:read`, `automation:read`, `domain:read`, `email:read`, `suppression:read`, `tenant:read` is enough, and the answer holds what those allow to read. Counted in the rate limit `read`.
func (s *Events) GetStream(ctx context.Context, params GetEventsStreamParams, options ...CallOption) (io.ReadCloser, error) {
	return s.client.open(ctx, call{method: "GET", path: "/v1/events/stream", query: params.values(), accept: "text/event-stream"}, options)
}

// Delete calls DELETE /v1/events/{id}: delete an event that begins no automation. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Events) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/events/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/events/{id}: get an event by its id or name. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *Events) Get(ctx context.Context, id string, options ...CallOption) (*AutomationEventRecord, error) {
	return do[AutomationEventRecord](ctx, s.client, call{method: "GET", path: "/v1/events/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/events/{id}: change what an event says. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *Events) Update(ctx context.Context, id string, body AutomationEventChange, options ...CallOption) (*AutomationEventRecord, error) {
	return do[AutomationEventRecord](ctx, s.client, call{method: "PATCH", path: "/v1/events/" + url.PathEscape(id), body: body}, options)
}

// SendByID calls POST /v1/events/{id}/send: send an event into automations and webhooks. Needs the scope `automation:run`. Counted in the rate limit `automation_run`.
func (s *Events) SendByID(ctx context.Context, id string, body AutomationSending, options ...CallOption) (*AutomationSentRecord, error) {
	return do[AutomationSentRecord](ctx, s.client, call{method: "POST", path: "/v1/events/" + url.PathEscape(id) + "/send", body: body, once: true}, options)
}

// GetEventsStreamParams are the parameters of GET /v1/events/stream; what is empty is not asked for.
type GetEventsStreamParams struct {
	// Names of events, or families such as email.*; all if absent.
	Type []string
	// The same, for clients that cannot set headers.
	LastEventID string
}

func (p GetEventsStreamParams) values() url.Values {
	q := query{}
	q.texts("type", p.Type)
	q.text("last_event_id", p.LastEventID)
	return url.Values(q)
}

// ListEventsParams are the parameters of GET /v1/events; what is empty is not asked for.
type ListEventsParams struct {
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
	// Whole name.
	Name []string
	// Part of the name.
	Search string
}

func (p ListEventsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("name", p.Name)
	q.text("search", p.Search)
	return url.Values(q)
}
