// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// APIKeys: Keys that programs use, and what each may do.
type APIKeys struct{ client *Client }

// List calls GET /v1/api-keys: list API keys, newest first. Needs a session of the dashboard; a key is refused. The role must be `owner` or `admin`. Counted in the rate limit `read`.
func (s *APIKeys) List(ctx context.Context, params ListAPIKeysParams, options ...CallOption) (*Page[ApikeyRecord], error) {
	return do[Page[ApikeyRecord]](ctx, s.client, call{method: "GET", path: "/v1/api-keys", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *APIKeys) All(ctx context.Context, params ListAPIKeysParams, options ...CallOption) iter.Seq2[ApikeyRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[ApikeyRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/api-keys: make an API key. Needs a session of the dashboard; a key is refused. The role must be `owner` or `admin`. Asks for a fresh second factor of users who have one. Counted in the rate limit `write`.
func (s *APIKeys) Create(ctx context.Context, body ApikeyCreateBody, options ...CallOption) (*ApikeySecretRecord, error) {
	return do[ApikeySecretRecord](ctx, s.client, call{method: "POST", path: "/v1/api-keys", body: body}, options)
}

// Delete calls DELETE /v1/api-keys/{id}: revoke an API key at once. Needs a session of the dashboard; a key is refused. The role must be `owner` or `admin`. Asks for a fresh second factor of users who have one. Counted in the rate limit `write`.
func (s *APIKeys) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/api-keys/" + url.PathEscape(id)}, options)
}

// Rotate calls POST /v1/api-keys/{id}/rotate: give an API key a new secret. Needs a session of the dashboard; a key is refused. The role must be `owner` or `admin`. Asks for a fresh second factor of users who have one. Counted in the rate limit `write`.
func (s *APIKeys) Rotate(ctx context.Context, id string, body RotateAPIKeyBody, options ...CallOption) (*ApikeySecretRecord, error) {
	return do[ApikeySecretRecord](ctx, s.client, call{method: "POST", path: "/v1/api-keys/" + url.PathEscape(id) + "/rotate", body: body}, options)
}

// ListAPIKeysParams are the parameters of GET /v1/api-keys; what is empty is not asked for.
type ListAPIKeysParams struct {
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
	// active, expired or revoked.
	Status []string
	// Part of the name or of the prefix.
	Search string
}

func (p ListAPIKeysParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("status", p.Status)
	q.text("search", p.Search)
	return url.Values(q)
}

// RotateAPIKeyBody is the body of POST /v1/api-keys/{id}/rotate.
type RotateAPIKeyBody struct {
	// How long the old secret stays good.
	GraceSec int64 `json:"grace_sec,omitzero"`
}
