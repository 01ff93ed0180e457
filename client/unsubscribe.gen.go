// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"net/url"
)

// Unsubscribe: What is behind the unsubscribe link of a message.
type Unsubscribe struct{ client *Client }

// Get calls GET /v1/unsubscribe/{token}: show what an unsubscribe link is about. Changes nothing. Needs no key. Counted in the rate limit `public_token`.
func (s *Unsubscribe) Get(ctx context.Context, token string, options ...CallOption) (*SuppressionResult, error) {
	return do[SuppressionResult](ctx, s.client, call{method: "GET", path: "/v1/unsubscribe/" + url.PathEscape(token)}, options)
}

// Unsubscribe calls POST /v1/unsubscribe/{token}: unsubscribe, with one click of a mail program (RFC 8058) or from the page. Needs no key. Counted in the rate limit `public_token`.
func (s *Unsubscribe) Unsubscribe(ctx context.Context, token string, body UnsubscribeBody, options ...CallOption) (*SuppressionResult, error) {
	return do[SuppressionResult](ctx, s.client, call{method: "POST", path: "/v1/unsubscribe/" + url.PathEscape(token), body: body}, options)
}

// UnsubscribeBody is the body of POST /v1/unsubscribe/{token}.
type UnsubscribeBody struct {
	// topic, list or all; the narrowest that the link has if none is given.
	Scope string `json:"scope,omitzero"`
	// One-Click, as mail programs post it (RFC 8058).
	ListUnsubscribe string `json:"List-Unsubscribe,omitzero"`
}
