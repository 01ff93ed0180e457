// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Contacts: The people who are mailed.
type Contacts struct{ client *Client }

// List calls GET /v1/contacts: list contacts, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) List(ctx context.Context, params ListContactsParams, options ...CallOption) (*Page[AudienceContactRecord], error) {
	return do[Page[AudienceContactRecord]](ctx, s.client, call{method: "GET", path: "/v1/contacts", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Contacts) All(ctx context.Context, params ListContactsParams, options ...CallOption) iter.Seq2[AudienceContactRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceContactRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/contacts: add a contact, or change the one that is there. Never brings back somebody who left. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) Create(ctx context.Context, body AudienceContactBody, options ...CallOption) (*AudienceUpsertRecord, error) {
	return do[AudienceUpsertRecord](ctx, s.client, call{method: "POST", path: "/v1/contacts", body: body}, options)
}

// ListImports calls GET /v1/contacts/imports: list imports, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) ListImports(ctx context.Context, params ListContactsImportsParams, options ...CallOption) (*Page[AudienceImportRecord], error) {
	return do[Page[AudienceImportRecord]](ctx, s.client, call{method: "GET", path: "/v1/contacts/imports", query: params.values()}, options)
}

// AllImports is ListImports from page to page, to the end of the list.
func (s *Contacts) AllImports(ctx context.Context, params ListContactsImportsParams, options ...CallOption) iter.Seq2[AudienceImportRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceImportRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListImports(ctx, page, options...)
	})
}

// CreateImport calls POST /v1/contacts/imports: import contacts, from JSON or from a file. Never brings back somebody who left. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) CreateImport(ctx context.Context, body AudienceImportBody, options ...CallOption) (*AudienceImportRecord, error) {
	return do[AudienceImportRecord](ctx, s.client, call{method: "POST", path: "/v1/contacts/imports", body: body}, options)
}

// GetImport calls GET /v1/contacts/imports/{id}: get an import with its progress and what failed. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) GetImport(ctx context.Context, id string, options ...CallOption) (*AudienceImportRecord, error) {
	return do[AudienceImportRecord](ctx, s.client, call{method: "GET", path: "/v1/contacts/imports/" + url.PathEscape(id)}, options)
}

// Delete calls DELETE /v1/contacts/{id}: delete a contact. What the suppression list says of the address stays. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) Delete(ctx context.Context, id string, options ...CallOption) (*AudienceDeletedContact, error) {
	return do[AudienceDeletedContact](ctx, s.client, call{method: "DELETE", path: "/v1/contacts/" + url.PathEscape(id)}, options)
}

// Get calls GET /v1/contacts/{id}: get a contact by its id or its address. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) Get(ctx context.Context, id string, options ...CallOption) (*AudienceContactRecord, error) {
	return do[AudienceContactRecord](ctx, s.client, call{method: "GET", path: "/v1/contacts/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/contacts/{id}: change a contact. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) Update(ctx context.Context, id string, body AudienceContactBody, options ...CallOption) (*AudienceContactRecord, error) {
	return do[AudienceContactRecord](ctx, s.client, call{method: "PATCH", path: "/v1/contacts/" + url.PathEscape(id), body: body}, options)
}

// ListProperties calls GET /v1/contacts/{id}/properties: list every property with the value of a contact. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) ListProperties(ctx context.Context, id string, params ListPropertiesOfContactParams, options ...CallOption) (*Page[AudienceValueRecord], error) {
	return do[Page[AudienceValueRecord]](ctx, s.client, call{method: "GET", path: "/v1/contacts/" + url.PathEscape(id) + "/properties", query: params.values()}, options)
}

// AllProperties is ListProperties from page to page, to the end of the list.
func (s *Contacts) AllProperties(ctx context.Context, id string, params ListPropertiesOfContactParams, options ...CallOption) iter.Seq2[AudienceValueRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceValueRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListProperties(ctx, id, page, options...)
	})
}

// PutProperty calls PUT /v1/contacts/{id}/properties/{propertyId}: set the value of a property of a contact. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) PutProperty(ctx context.Context, id string, propertyID string, body PutContactPropertyBody, options ...CallOption) (*AudienceValueRecord, error) {
	return do[AudienceValueRecord](ctx, s.client, call{method: "PUT", path: "/v1/contacts/" + url.PathEscape(id) + "/properties/" + url.PathEscape(propertyID), body: body}, options)
}

// ListSegments calls GET /v1/contacts/{id}/segments: list the segments that a contact is in. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) ListSegments(ctx context.Context, id string, params ListContactSegmentsParams, options ...CallOption) (*Page[AudienceSegmentRecord], error) {
	return do[Page[AudienceSegmentRecord]](ctx, s.client, call{method: "GET", path: "/v1/contacts/" + url.PathEscape(id) + "/segments", query: params.values()}, options)
}

// AllSegments is ListSegments from page to page, to the end of the list.
func (s *Contacts) AllSegments(ctx context.Context, id string, params ListContactSegmentsParams, options ...CallOption) iter.Seq2[AudienceSegmentRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceSegmentRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListSegments(ctx, id, page, options...)
	})
}

// DeleteSegment calls DELETE /v1/contacts/{id}/segments/{segmentId}: take a contact out of a segment, for good. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) DeleteSegment(ctx context.Context, id string, segmentID string, options ...CallOption) (*AudienceContactSegment, error) {
	return do[AudienceContactSegment](ctx, s.client, call{method: "DELETE", path: "/v1/contacts/" + url.PathEscape(id) + "/segments/" + url.PathEscape(segmentID)}, options)
}

// AddSegment calls POST /v1/contacts/{id}/segments/{segmentId}: put a contact into a segment by hand. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) AddSegment(ctx context.Context, id string, segmentID string, options ...CallOption) (*AudienceJoinedSegment, error) {
	return do[AudienceJoinedSegment](ctx, s.client, call{method: "POST", path: "/v1/contacts/" + url.PathEscape(id) + "/segments/" + url.PathEscape(segmentID)}, options)
}

// ListTopics calls GET /v1/contacts/{id}/topics: list every topic with what holds for a contact. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Contacts) ListTopics(ctx context.Context, id string, params ListContactTopicsParams, options ...CallOption) (*Page[AudienceContactTopic], error) {
	return do[Page[AudienceContactTopic]](ctx, s.client, call{method: "GET", path: "/v1/contacts/" + url.PathEscape(id) + "/topics", query: params.values()}, options)
}

// AllTopics is ListTopics from page to page, to the end of the list.
func (s *Contacts) AllTopics(ctx context.Context, id string, params ListContactTopicsParams, options ...CallOption) iter.Seq2[AudienceContactTopic, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceContactTopic], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListTopics(ctx, id, page, options...)
	})
}

// UpdateTopics calls PATCH /v1/contacts/{id}/topics: change what a contact says about topics. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) UpdateTopics(ctx context.Context, id string, body AudienceTopicWishes, options ...CallOption) (*AudienceContactTopics, error) {
	return do[AudienceContactTopics](ctx, s.client, call{method: "PATCH", path: "/v1/contacts/" + url.PathEscape(id) + "/topics", body: body}, options)
}

// CreateTopic calls POST /v1/contacts/{id}/topics: subscribe a contact to a topic. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) CreateTopic(ctx context.Context, id string, body CreateContactTopicBody, options ...CallOption) (*AudienceContactTopic, error) {
	return do[AudienceContactTopic](ctx, s.client, call{method: "POST", path: "/v1/contacts/" + url.PathEscape(id) + "/topics", body: body}, options)
}

// DeleteTopic calls DELETE /v1/contacts/{id}/topics/{topicId}: unsubscribe a contact from a topic. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Contacts) DeleteTopic(ctx context.Context, id string, topicID string, options ...CallOption) (*AudienceUnsaid, error) {
	return do[AudienceUnsaid](ctx, s.client, call{method: "DELETE", path: "/v1/contacts/" + url.PathEscape(id) + "/topics/" + url.PathEscape(topicID)}, options)
}

// CreateContactTopicBody is the body of POST /v1/contacts/{id}/topics.
type CreateContactTopicBody struct {
	// opt_in if absent.
	Subscription string `json:"subscription,omitzero"`
	TopicID      string `json:"topic_id,omitzero"`
}

// ListContactSegmentsParams are the parameters of GET /v1/contacts/{id}/segments; what is empty is not asked for.
type ListContactSegmentsParams struct {
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

func (p ListContactSegmentsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// ListContactTopicsParams are the parameters of GET /v1/contacts/{id}/topics; what is empty is not asked for.
type ListContactTopicsParams struct {
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

func (p ListContactTopicsParams) values() url.Values {
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

// ListContactsImportsParams are the parameters of GET /v1/contacts/imports; what is empty is not asked for.
type ListContactsImportsParams struct {
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
	// queued, in_progress, completed or failed.
	Status []string
}

func (p ListContactsImportsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	return url.Values(q)
}

// ListContactsParams are the parameters of GET /v1/contacts; what is empty is not asked for.
type ListContactsParams struct {
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

func (p ListContactsParams) values() url.Values {
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

// ListPropertiesOfContactParams are the parameters of GET /v1/contacts/{id}/properties; what is empty is not asked for.
type ListPropertiesOfContactParams struct {
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

func (p ListPropertiesOfContactParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	return url.Values(q)
}

// PutContactPropertyBody is the body of PUT /v1/contacts/{id}/properties/{propertyId}.
type PutContactPropertyBody struct {
	// Of the property's type; null takes it away.
	Value any `json:"value,omitempty"`
}
