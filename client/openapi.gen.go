// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"encoding/json"
)

// Openapi: This document.
type Openapi struct{ client *Client }

// Get calls GET /v1/openapi.json: this API as an OpenAPI 3.1 document. Needs no key. Counted in the rate limit `read`.
func (s *Openapi) Get(ctx context.Context, options ...CallOption) (*json.RawMessage, error) {
	return do[json.RawMessage](ctx, s.client, call{method: "GET", path: "/v1/openapi.json"}, options)
}
