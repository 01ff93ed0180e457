// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// ContactProperties: What is known of a contact besides the name and the address.
type ContactProperties struct{ client *Client }

// List calls GET /v1/contact-properties: list the properties that contacts can have, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *ContactProperties) List(ctx context.Context, params ListContactPropertiesParams, options ...CallOption) (*Page[AudiencePropertyRecord], error) {
	return do[Page[AudiencePropertyRecord]](ctx, s.client, call{method: "GET", path: "/v1/contact-properties", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *ContactProperties) All(ctx context.Context, params ListContactPropertiesParams, options ...CallOption) iter.Seq2[AudiencePropertyRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudiencePropertyRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/contact-properties: define a property. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *ContactProperties) Create(ctx context.Context, body AudiencePropertyBody, options ...CallOption) (*AudiencePropertyRecord, error) {
	return do[AudiencePropertyRecord](ctx, s.client, call{method: "POST", path: "/v1/contact-properties", body: body}, options)
}

// Delete calls DELETE /v1/contact-properties/{id}: delete a property and all its values. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *ContactProperties) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/contact-properties/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/contact-properties/{id}: get a property. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *ContactProperties) Get(ctx context.Context, id string, options ...CallOption) (*AudiencePropertyRecord, error) {
	return do[AudiencePropertyRecord](ctx, s.client, call{method: "GET", path: "/v1/contact-properties/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/contact-properties/{id}: change the fallback or the label of a property. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *ContactProperties) Update(ctx context.Context, id string, body AudiencePropertyBody, options ...CallOption) (*AudiencePropertyRecord, error) {
	return do[AudiencePropertyRecord](ctx, s.client, call{method: "PATCH", path: "/v1/contact-properties/" + url.PathEscape(id), body: body}, options)
}

// ListContactPropertiesParams are the parameters of GET /v1/contact-properties; what is empty is not asked for.
type ListContactPropertiesParams struct {
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

func (p ListContactPropertiesParams) values() url.Values {
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
