// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// Segments: Contacts that a rule finds, or that were put together by hand.
type Segments struct{ client *Client }

// List calls GET /v1/segments: list segments, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Segments) List(ctx context.Context, params ListSegmentsParams, options ...CallOption) (*Page[AudienceSegmentRecord], error) {
	return do[Page[AudienceSegmentRecord]](ctx, s.client, call{method: "GET", path: "/v1/segments", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Segments) All(ctx context.Context, params ListSegmentsParams, options ...CallOption) iter.Seq2[AudienceSegmentRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceSegmentRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/segments: create a segment, from a filter or to be filled by hand. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Segments) Create(ctx context.Context, body AudienceSegmentBody, options ...CallOption) (*AudienceSegmentRecord, error) {
	return do[AudienceSegmentRecord](ctx, s.client, call{method: "POST", path: "/v1/segments", body: body}, options)
}

// Delete calls DELETE /v1/segments/{id}: delete a segment, but no contact. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Segments) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/segments/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/segments/{id}: get a segment, counted. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Segments) Get(ctx context.Context, id string, options ...CallOption) (*AudienceSegmentRecord, error) {
	return do[AudienceSegmentRecord](ctx, s.client, call{method: "GET", path: "/v1/segments/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/segments/{id}: change a segment. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Segments) Update(ctx context.Context, id string, body AudienceSegmentBody, options ...CallOption) (*AudienceSegmentRecord, error) {
	return do[AudienceSegmentRecord](ctx, s.client, call{method: "PATCH", path: "/v1/segments/" + url.PathEscape(id), body: body}, options)
}

// ListContacts calls GET /v1/segments/{id}/contacts: list the contacts in a segment, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Segments) ListContacts(ctx context.Context, id string, params ListSegmentContactsParams, options ...CallOption) (*Page[AudienceContactRecord], error) {
	return do[Page[AudienceContactRecord]](ctx, s.client, call{method: "GET", path: "/v1/segments/" + url.PathEscape(id) + "/contacts", query: params.values()}, options)
}

// AllContacts is ListContacts from page to page, to the end of the list.
func (s *Segments) AllContacts(ctx context.Context, id string, params ListSegmentContactsParams, options ...CallOption) iter.Seq2[AudienceContactRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceContactRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListContacts(ctx, id, page, options...)
	})
}

// CreateContact calls POST /v1/segments/{id}/contacts: put contacts into a segment by hand. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Segments) CreateContact(ctx context.Context, id string, body CreateSegmentContactBody, options ...CallOption) (*AudienceSegmentContacts, error) {
	return do[AudienceSegmentContacts](ctx, s.client, call{method: "POST", path: "/v1/segments/" + url.PathEscape(id) + "/contacts", body: body}, options)
}

// DeleteContact calls DELETE /v1/segments/{id}/contacts/{contactId}: take a contact out of a segment, for good. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Segments) DeleteContact(ctx context.Context, id string, contactID string, options ...CallOption) (*AudienceContactSegment, error) {
	return do[AudienceContactSegment](ctx, s.client, call{method: "DELETE", path: "/v1/segments/" + url.PathEscape(id) + "/contacts/" + url.PathEscape(contactID)}, options)
}

// CreateSegmentContactBody is the body of POST /v1/segments/{id}/contacts.
type CreateSegmentContactBody struct {
	// 1 to 1000 ids.
	ContactIDs []string `json:"contact_ids,omitzero"`
	// Instead of ids: 1 to 1000 addresses.
	Emails []string `json:"emails,omitzero"`
}

// ListSegmentContactsParams are the parameters of GET /v1/segments/{id}/contacts; what is empty is not asked for.
type ListSegmentContactsParams struct {
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
	// Words of the address and of the name; the last may be the beginning of one.
	Search string
}

func (p ListSegmentContactsParams) values() url.Values {
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

// ListSegmentsParams are the parameters of GET /v1/segments; what is empty is not asked for.
type ListSegmentsParams struct {
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

func (p ListSegmentsParams) values() url.Values {
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
