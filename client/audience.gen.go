// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"io"
	"iter"
	"net/url"
	"time"
)

// Audience: Contacts, lists, topics, segments and imports in one place, and the links by which people confirm.
type Audience struct{ client *Client }

// GetConfirm calls GET /v1/audience/confirm/{token}: show a page that asks to confirm. Programs that accept only JSON confirm by it. Needs no key. Counted in the rate limit `public_token`.
func (s *Audience) GetConfirm(ctx context.Context, token string, options ...CallOption) (*AudienceConfirmResult, error) {
	return do[AudienceConfirmResult](ctx, s.client, call{method: "GET", path: "/v1/audience/confirm/" + url.PathEscape(token)}, options)
}

// HeadConfirm calls HEAD /v1/audience/confirm/{token}: tell whether a confirmation link is good. Changes nothing. Needs no key. Counted in the rate limit `public_token`.
func (s *Audience) HeadConfirm(ctx context.Context, token string, options ...CallOption) (*AudienceConfirmResult, error) {
	return do[AudienceConfirmResult](ctx, s.client, call{method: "HEAD", path: "/v1/audience/confirm/" + url.PathEscape(token)}, options)
}

// Confirm calls POST /v1/audience/confirm/{token}: confirm, from the page behind a confirmation link. Needs no key. Counted in the rate limit `public_token`.
func (s *Audience) Confirm(ctx context.Context, token string, body map[string]any, options ...CallOption) (*AudienceConfirmResult, error) {
	return do[AudienceConfirmResult](ctx, s.client, call{method: "POST", path: "/v1/audience/confirm/" + url.PathEscape(token), body: body}, options)
}

// ListContacts calls GET /v1/audience/contacts: list contacts, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) ListContacts(ctx context.Context, params ListAudienceContactsParams, options ...CallOption) (*Page[AudienceContactRecord], error) {
	return do[Page[AudienceContactRecord]](ctx, s.client, call{method: "GET", path: "/v1/audience/contacts", query: params.values()}, options)
}

// AllContacts is ListContacts from page to page, to the end of the list.
func (s *Audience) AllContacts(ctx context.Context, params ListAudienceContactsParams, options ...CallOption) iter.Seq2[AudienceContactRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceContactRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListContacts(ctx, page, options...)
	})
}

// CreateContact calls POST /v1/audience/contacts: add a contact, or change the one that is there. Never brings back somebody who left. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) CreateContact(ctx context.Context, body AudienceContactBody, options ...CallOption) (*AudienceUpsertRecord, error) {
	return do[AudienceUpsertRecord](ctx, s.client, call{method: "POST", path: "/v1/audience/contacts", body: body}, options)
}

// GetContactsExport calls GET /v1/audience/contacts/export: download contacts as comma-separated values. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) GetContactsExport(ctx context.Context, params GetAudienceContactsExportParams, options ...CallOption) (io.ReadCloser, error) {
	return s.client.open(ctx, call{method: "GET", path: "/v1/audience/contacts/export", query: params.values(), accept: "text/csv; charset=utf-8"}, options)
}

// ImportContacts calls POST /v1/audience/contacts/import: import contacts, from JSON or from a file. Never brings back somebody who left. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) ImportContacts(ctx context.Context, body AudienceImportBody, options ...CallOption) (*AudienceImportRecord, error) {
	return do[AudienceImportRecord](ctx, s.client, call{method: "POST", path: "/v1/audience/contacts/import", body: body}, options)
}

// ListContactsImports calls GET /v1/audience/contacts/imports: list imports, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) ListContactsImports(ctx context.Context, params ListAudienceContactsImportsParams, options ...CallOption) (*Page[AudienceImportRecord], error) {
	return do[Page[AudienceImportRecord]](ctx, s.client, call{method: "GET", path: "/v1/audience/contacts/imports", query: params.values()}, options)
}

// AllContactsImports is ListContactsImports from page to page, to the end of the list.
func (s *Audience) AllContactsImports(ctx context.Context, params ListAudienceContactsImportsParams, options ...CallOption) iter.Seq2[AudienceImportRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceImportRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListContactsImports(ctx, page, options...)
	})
}

// GetContactsImport calls GET /v1/audience/contacts/imports/{id}: get an import with its progress and what failed. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) GetContactsImport(ctx context.Context, id string, options ...CallOption) (*AudienceImportRecord, error) {
	return do[AudienceImportRecord](ctx, s.client, call{method: "GET", path: "/v1/audience/contacts/imports/" + url.PathEscape(id)}, options)
}

// DeleteContact calls DELETE /v1/audience/contacts/{id}: delete a contact. What the suppression list says of the address stays. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) DeleteContact(ctx context.Context, id string, options ...CallOption) (*AudienceDeletedContact, error) {
	return do[AudienceDeletedContact](ctx, s.client, call{method: "DELETE", path: "/v1/audience/contacts/" + url.PathEscape(id)}, options)
}

// GetContact calls GET /v1/audience/contacts/{id}: get a contact by its id or its address. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) GetContact(ctx context.Context, id string, options ...CallOption) (*AudienceContactRecord, error) {
	return do[AudienceContactRecord](ctx, s.client, call{method: "GET", path: "/v1/audience/contacts/" + url.PathEscape(id)}, options)
}

// UpdateContact calls PATCH /v1/audience/contacts/{id}: change a contact. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) UpdateContact(ctx context.Context, id string, body AudienceContactBody, options ...CallOption) (*AudienceContactRecord, error) {
	return do[AudienceContactRecord](ctx, s.client, call{method: "PATCH", path: "/v1/audience/contacts/" + url.PathEscape(id), body: body}, options)
}

// EraseContact calls POST /v1/audience/contacts/{id}/erase: forget a person: the contact at once, then events and the bodies of mails to them. What the suppression list says stays, as a hash. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) EraseContact(ctx context.Context, id string, options ...CallOption) (*AudienceErasureRecord, error) {
	return do[AudienceErasureRecord](ctx, s.client, call{method: "POST", path: "/v1/audience/contacts/" + url.PathEscape(id) + "/erase"}, options)
}

// SendConfirmation calls POST /v1/audience/contacts/{id}/send-confirmation: ask a contact to confirm being on a list. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) SendConfirmation(ctx context.Context, id string, body SendConfirmationAudienceContactBody, options ...CallOption) (*AudienceAskedRecord, error) {
	return do[AudienceAskedRecord](ctx, s.client, call{method: "POST", path: "/v1/audience/contacts/" + url.PathEscape(id) + "/send-confirmation", body: body}, options)
}

// ListLists calls GET /v1/audience/lists: list audiences, newest first. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) ListLists(ctx context.Context, params ListAudienceListsParams, options ...CallOption) (*Page[AudienceListRecord], error) {
	return do[Page[AudienceListRecord]](ctx, s.client, call{method: "GET", path: "/v1/audience/lists", query: params.values()}, options)
}

// AllLists is ListLists from page to page, to the end of the list.
func (s *Audience) AllLists(ctx context.Context, params ListAudienceListsParams, options ...CallOption) iter.Seq2[AudienceListRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AudienceListRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.ListLists(ctx, page, options...)
	})
}

// CreateList calls POST /v1/audience/lists: create an audience. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) CreateList(ctx context.Context, body AudienceListBody, options ...CallOption) (*AudienceListRecord, error) {
	return do[AudienceListRecord](ctx, s.client, call{method: "POST", path: "/v1/audience/lists", body: body}, options)
}

// DeleteList calls DELETE /v1/audience/lists/{id}: delete an audience and its memberships, but no contact. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) DeleteList(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/audience/lists/" + url.PathEscape(id)}, options)
}

// GetList calls GET /v1/audience/lists/{id}: get an audience. Needs the scope `audience:read`. Counted in the rate limit `read`.
func (s *Audience) GetList(ctx context.Context, id string, options ...CallOption) (*AudienceListRecord, error) {
	return do[AudienceListRecord](ctx, s.client, call{method: "GET", path: "/v1/audience/lists/" + url.PathEscape(id)}, options)
}

// UpdateList calls PATCH /v1/audience/lists/{id}: change an audience. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) UpdateList(ctx context.Context, id string, body AudienceListBody, options ...CallOption) (*AudienceListRecord, error) {
	return do[AudienceListRecord](ctx, s.client, call{method: "PATCH", path: "/v1/audience/lists/" + url.PathEscape(id), body: body}, options)
}

// SendConfirmations calls POST /v1/audience/lists/{id}/send-confirmations: ask those on a list who have not confirmed. Needs the scope `audience:manage`. Counted in the rate limit `write`.
func (s *Audience) SendConfirmations(ctx context.Context, id string, body SendConfirmationsAudienceListBody, options ...CallOption) (*AudienceAskedManyRecord, error) {
	return do[AudienceAskedManyRecord](ctx, s.client, call{method: "POST", path: "/v1/audience/lists/" + url.PathEscape(id) + "/send-confirmations", body: body}, options)
}

// GetAudienceContactsExportParams are the parameters of GET /v1/audience/contacts/export; what is empty is not asked for.
type GetAudienceContactsExportParams struct {
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

func (p GetAudienceContactsExportParams) values() url.Values {
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

// ListAudienceContactsImportsParams are the parameters of GET /v1/audience/contacts/imports; what is empty is not asked for.
type ListAudienceContactsImportsParams struct {
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

func (p ListAudienceContactsImportsParams) values() url.Values {
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

// ListAudienceContactsParams are the parameters of GET /v1/audience/contacts; what is empty is not asked for.
type ListAudienceContactsParams struct {
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

func (p ListAudienceContactsParams) values() url.Values {
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

// ListAudienceListsParams are the parameters of GET /v1/audience/lists; what is empty is not asked for.
type ListAudienceListsParams struct {
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

func (p ListAudienceListsParams) values() url.Values {
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

// SendConfirmationAudienceContactBody is the body of POST /v1/audience/contacts/{id}/send-confirmation.
type SendConfirmationAudienceContactBody struct {
	// The same as list_id.
	AudienceID string `json:"audience_id,omitzero"`
	// Sender; that of the list if absent.
	From   string `json:"from,omitzero"`
	ListID string `json:"list_id,omitzero"`
	// Id or alias of a template that has the variable CONFIRMATION_URL; that of the list if absent.
	TemplateID string `json:"template_id,omitzero"`
}

// SendConfirmationsAudienceListBody is the body of POST /v1/audience/lists/{id}/send-confirmations.
type SendConfirmationsAudienceListBody struct {
	// At most 1000 ids; everybody on the list if absent.
	ContactIDs []string `json:"contact_ids,omitzero"`
}
