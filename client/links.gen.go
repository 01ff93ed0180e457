// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"net/url"
)

// Links: What is behind a tracked link of a message.
type Links struct{ client *Client }

// Get calls GET /v1/links/{token}: count a click and go to the page that a link in tracked mail stands for. Needs no key. Counted in the rate limit `tracking`.
func (s *Links) Get(ctx context.Context, token string, options ...CallOption) (*EmailDestination, error) {
	return do[EmailDestination](ctx, s.client, call{method: "GET", path: "/v1/links/" + url.PathEscape(token), leads: true}, options)
}
