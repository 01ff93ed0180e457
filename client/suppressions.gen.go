// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Suppressions: Addresses that get no mail, and why.
type Suppressions struct{ client *Client }

// List calls GET /v1/suppressions: list suppressed addresses, newest first. Needs the scope `suppression:read`. Counted in the rate limit `read`.
func (s *Suppressions) List(ctx context.Context, params ListSuppressionsParams, options ...CallOption) (*Page[SuppressionRecord], error) {
	return do[Page[SuppressionRecord]](ctx, s.client, call{method: "GET", path: "/v1/suppressions", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Suppressions) All(ctx context.Context, params ListSuppressionsParams, options ...CallOption) iter.Seq2[SuppressionRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[SuppressionRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/suppressions: suppress an address. Needs the scope `suppression:manage`. Counted in the rate limit `write`.
func (s *Suppressions) Create(ctx context.Context, body SuppressionNewEntry, options ...CallOption) (*SuppressionAddedRecord, error) {
	return do[SuppressionAddedRecord](ctx, s.client, call{method: "POST", path: "/v1/suppressions", body: body}, options)
}

// AddBatch calls POST /v1/suppressions/batch/add: suppress many addresses. Needs the scope `suppression:manage`. Counted in the rate limit `write`.
func (s *Suppressions) AddBatch(ctx context.Context, body SuppressionNewEntries, options ...CallOption) (*BatchOfSuppressionAddedRecord, error) {
	return do[BatchOfSuppressionAddedRecord](ctx, s.client, call{method: "POST", path: "/v1/suppressions/batch/add", body: body}, options)
}

// RemoveBatch calls POST /v1/suppressions/batch/remove: take many addresses off the suppression list. Needs the scope `suppression:manage`. Counted in the rate limit `write`.
func (s *Suppressions) RemoveBatch(ctx context.Context, body BatchRemoveSuppressionsBody, options ...CallOption) (*BatchOfSuppressionRemovedRecord, error) {
	return do[BatchOfSuppressionRemovedRecord](ctx, s.client, call{method: "POST", path: "/v1/suppressions/batch/remove", body: body}, options)
}

// Delete calls DELETE /v1/suppressions/{email}: take an address off the suppression list. Needs the scope `suppression:manage`. Counted in the rate limit `write`.
func (s *Suppressions) Delete(ctx context.Context, email string, options ...CallOption) (*SuppressionRemovedRecord, error) {
	return do[SuppressionRemovedRecord](ctx, s.client, call{method: "DELETE", path: "/v1/suppressions/" + url.PathEscape(email)}, options)
}

// Get calls GET /v1/suppressions/{email}: get the entry of an address. Needs the scope `suppression:read`. Counted in the rate limit `read`.
func (s *Suppressions) Get(ctx context.Context, email string, options ...CallOption) (*SuppressionRecord, error) {
	return do[SuppressionRecord](ctx, s.client, call{method: "GET", path: "/v1/suppressions/" + url.PathEscape(email)}, options)
}

// BatchRemoveSuppressionsBody is the body of POST /v1/suppressions/batch/remove.
type BatchRemoveSuppressionsBody struct {
	// 1 to 1000 addresses.
	Emails []string `json:"emails,omitzero"`
	// Instead of emails: 1 to 1000 ids of entries.
	IDs []string `json:"ids,omitzero"`
}

// ListSuppressionsParams are the parameters of GET /v1/suppressions; what is empty is not asked for.
type ListSuppressionsParams struct {
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
	// bounce, complaint, unsubscribe, manual or invalid.
	Reason []string
	// bounce, complaint or manual.
	Origin []string
	// One or more addresses, in any spelling.
	Email []string
	// The beginning of an address, or a whole domain. The matches are in the order of their addresses.
	Search string
	// Only entries from this time on.
	Since time.Time
	// Only entries before this time.
	Until time.Time
}

func (p ListSuppressionsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("reason", p.Reason)
	q.texts("origin", p.Origin)
	q.texts("email", p.Email)
	q.text("search", p.Search)
	q.time("since", p.Since)
	q.time("until", p.Until)
	return url.Values(q)
}
