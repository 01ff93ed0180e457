// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// Topics: What people can hear of, or not.
type Topics struct{ client *Client }

// List calls GET /v1/topics: list topics, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Topics) List(ctx context.Context, params ListTopicsParams, options ...CallOption) (*Page[AudienceTopicRecord], error) {
	return do[Page[AudienceTopicRecord]](ctx, s.client, call{method: "GET", path: "/v1/topics", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Topics) All(ctx context.Context, params ListTopicsParams, options ...CallOption) iter.Seq2[AudienceTopicRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceTopicRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/topics: create a topic. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Topics) Create(ctx context.Context, body AudienceTopicBody, options ...CallOption) (*AudienceTopicRecord, error) {
	return do[AudienceTopicRecord](ctx, s.client, call{method: "POST", path: "/v1/topics", body: body}, options)
}

// Delete calls DELETE /v1/topics/{id}: delete a topic and what was said about it. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Topics) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/topics/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/topics/{id}: get a topic. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Topics) Get(ctx context.Context, id string, options ...CallOption) (*AudienceTopicRecord, error) {
	return do[AudienceTopicRecord](ctx, s.client, call{method: "GET", path: "/v1/topics/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/topics/{id}: change a topic. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Topics) Update(ctx context.Context, id string, body AudienceTopicBody, options ...CallOption) (*AudienceTopicRecord, error) {
	return do[AudienceTopicRecord](ctx, s.client, call{method: "PATCH", path: "/v1/topics/" + url.PathEscape(id), body: body}, options)
}

// ListTopicsParams are the parameters of GET /v1/topics; what is empty is not asked for.
type ListTopicsParams struct {
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
	// Part of the name.
	Search string
}

func (p ListTopicsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.text("search", p.Search)
	return url.Values(q)
}
