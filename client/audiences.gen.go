// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Audiences: Lists that people join; the older name of audience lists.
type Audiences struct{ client *Client }

// List calls GET /v1/audiences: list audiences, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audiences) List(ctx context.Context, params ListAudiencesParams, options ...CallOption) (*Page[AudienceListRecord], error) {
	return do[Page[AudienceListRecord]](ctx, s.client, call{method: "GET", path: "/v1/audiences", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Audiences) All(ctx context.Context, params ListAudiencesParams, options ...CallOption) iter.Seq2[AudienceListRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceListRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/audiences: create an audience. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audiences) Create(ctx context.Context, body AudienceListBody, options ...CallOption) (*AudienceListRecord, error) {
	return do[AudienceListRecord](ctx, s.client, call{method: "POST", path: "/v1/audiences", body: body}, options)
}

// Delete calls DELETE /v1/audiences/{id}: delete an audience, which may be a segment. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audiences) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/audiences/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/audiences/{id}: get an audience, which may be a segment. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audiences) Get(ctx context.Context, id string, options ...CallOption) (*AudienceListRecord, error) {
	return do[AudienceListRecord](ctx, s.client, call{method: "GET", path: "/v1/audiences/" + url.PathEscape(id)}, options)
}

// ListContacts calls GET /v1/audiences/{id}/contacts: list the contacts of an audience. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audiences) ListContacts(ctx context.Context, id string, params ListContactsOfAudienceParams, options ...CallOption) (*Page[AudienceContactRecord], error) {
	return do[Page[AudienceContactRecord]](ctx, s.client, call{method: "GET", path: "/v1/audiences/" + url.PathEscape(id) + "/contacts", query: params.values()}, options)
}

// AllContacts is ListContacts from page to page, to the end of the list.
func (s *Audiences) AllContacts(ctx context.Context, id string, params ListContactsOfAudienceParams, options ...CallOption) iter.Seq2[AudienceContactRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceContactRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListContacts(ctx, id, page, options...)
	})
}

// CreateContact calls POST /v1/audiences/{id}/contacts: add a contact to an audience. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audiences) CreateContact(ctx context.Context, id string, body AudienceContactBody, options ...CallOption) (*AudienceUpsertRecord, error) {
	return do[AudienceUpsertRecord](ctx, s.client, call{method: "POST", path: "/v1/audiences/" + url.PathEscape(id) + "/contacts", body: body}, options)
}

// DeleteContact calls DELETE /v1/audiences/{id}/contacts/{contactId}: delete a contact. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audiences) DeleteContact(ctx context.Context, id string, contactID string, options ...CallOption) (*AudienceDeletedContact, error) {
	return do[AudienceDeletedContact](ctx, s.client, call{method: "DELETE", path: "/v1/audiences/" + url.PathEscape(id) + "/contacts/" + url.PathEscape(contactID)}, options)
}

// GetContact calls GET /v1/audiences/{id}/contacts/{contactId}: get a contact of an audience. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audiences) GetContact(ctx context.Context, id string, contactID string, options ...CallOption) (*AudienceContactRecord, error) {
	return do[AudienceContactRecord](ctx, s.client, call{method: "GET", path: "/v1/audiences/" + url.PathEscape(id) + "/contacts/" + url.PathEscape(contactID)}, options)
}

// UpdateContact calls PATCH /v1/audiences/{id}/contacts/{contactId}: change a contact of an audience. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audiences) UpdateContact(ctx context.Context, id string, contactID string, body AudienceContactBody, options ...CallOption) (*AudienceContactRecord, error) {
	return do[AudienceContactRecord](ctx, s.client, call{method: "PATCH", path: "/v1/audiences/" + url.PathEscape(id) + "/contacts/" + url.PathEscape(contactID), body: body}, options)
}

// ListAudiencesParams are the parameters of GET /v1/audiences; what is empty is not asked for.
type ListAudiencesParams struct {
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

func (p ListAudiencesParams) values() url.Values {
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

// ListContactsOfAudienceParams are the parameters of GET /v1/audiences/{id}/contacts; what is empty is not asked for.
type ListContactsOfAudienceParams struct {
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
	// Only contacts on one of these lists, whatever they said to it.
	ListID []string
	// The same as list_id.
	AudienceID []string
	// Only contacts in one of these segments.
	SegmentID []string
	// Only contacts that get mail about one of these topics.
	TopicID []string
	// One or more addresses, in any spelling.
	Email []string
	// subscribed, unsubscribed, pending, bounced or complained.
	Status []string
	// Words of the address and of the name; the last may be the beginning of one.
	Search string
	// Only contacts made from this time on.
	Since time.Time
	// Only contacts made before this time.
	Until time.Time
}

func (p ListContactsOfAudienceParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("list_id", p.ListID)
	q.texts("audience_id", p.AudienceID)
	q.texts("segment_id", p.SegmentID)
	q.texts("topic_id", p.TopicID)
	q.texts("email", p.Email)
	q.texts("status", p.Status)
	q.text("search", p.Search)
	q.time("since", p.Since)
	q.time("until", p.Until)
	return url.Values(q)
}
