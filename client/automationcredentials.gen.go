// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// AutomationCredentials: Secrets that steps of automations use when they call other services.
type AutomationCredentials struct{ client *Client }

// List calls GET /v1/automation-credentials: list credentials, newest first, without their secrets. Needs the scope `automation:read`. Counted in the rate limit `read`.
func (s *AutomationCredentials) List(ctx context.Context, params ListAutomationCredentialsParams, options ...CallOption) (*Page[AutomationCredentialRecord], error) {
	return do[Page[AutomationCredentialRecord]](ctx, s.client, call{method: "GET", path: "/v1/automation-credentials", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *AutomationCredentials) All(ctx context.Context, params ListAutomationCredentialsParams, options ...CallOption) iter.Seq2[AutomationCredentialRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[AutomationCredentialRecord], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// Create calls POST /v1/automation-credentials: create a credential for HTTP steps. Its secret is kept encrypted and never shown. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *AutomationCredentials) Create(ctx context.Context, body AutomationNewCredential, options ...CallOption) (*AutomationCredentialRecord, error) {
	return do[AutomationCredentialRecord](ctx, s.client, call{method: "POST", path: "/v1/automation-credentials", body: body}, options)
}

// Delete calls DELETE /v1/automation-credentials/{id}: delete a credential that no automation uses. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *AutomationCredentials) Delete(ctx context.Context, id string, options ...CallOption) (*APIDeleted, error) {
	return do[APIDeleted](ctx, s.client, call{method: "DELETE", path: "/v1/automation-credentials/" + url.PathEscape(id)}, options)
}

// Update calls PATCH /v1/automation-credentials/{id}: change a credential, but for its type and its secret. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *AutomationCredentials) Update(ctx context.Context, id string, body AutomationCredentialChange, options ...CallOption) (*AutomationCredentialRecord, error) {
	return do[AutomationCredentialRecord](ctx, s.client, call{method: "PATCH", path: "/v1/automation-credentials/" + url.PathEscape(id), body: body}, options)
}

// Rotate calls POST /v1/automation-credentials/{id}/rotate: replace the secret of a credential. Needs the scope `automation:manage`. Counted in the rate limit `write`.
func (s *AutomationCredentials) Rotate(ctx context.Context, id string, body RotateAutomationCredentialBody, options ...CallOption) (*AutomationCredentialRecord, error) {
	return do[AutomationCredentialRecord](ctx, s.client, call{method: "POST", path: "/v1/automation-credentials/" + url.PathEscape(id) + "/rotate", body: body}, options)
}

// Test calls POST /v1/automation-credentials/{id}/test: make a request with a credential to one of its hosts. Needs the scope `automation:manage`. Counted in the rate limit `webhook_test`.
func (s *AutomationCredentials) Test(ctx context.Context, id string, body TestAutomationCredentialBody, options ...CallOption) (*AutomationTestResult, error) {
	return do[AutomationTestResult](ctx, s.client, call{method: "POST", path: "/v1/automation-credentials/" + url.PathEscape(id) + "/test", body: body}, options)
}

// ListAutomationCredentialsParams are the parameters of GET /v1/automation-credentials; what is empty is not asked for.
type ListAutomationCredentialsParams struct {
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
	// bearer, basic, header or query.
	Type []string
	// Part of the name.
	Search string
}

func (p ListAutomationCredentialsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.texts("type", p.Type)
	q.text("search", p.Search)
	return url.Values(q)
}

// RotateAutomationCredentialBody is the body of POST /v1/automation-credentials/{id}/rotate.
type RotateAutomationCredentialBody struct {
	// The new secret.
	Secret string `json:"secret,omitzero"`
}

// TestAutomationCredentialBody is the body of POST /v1/automation-credentials/{id}/test.
type TestAutomationCredentialBody struct {
	// GET, HEAD or OPTIONS.
	Method string `json:"method,omitzero"`
	// At one of the allowed hosts; the base URL if absent.
	URL string `json:"url,omitzero"`
}
