// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"io"
	"net/url"
)

// Images: The image that tells that a message was opened.
type Images struct{ client *Client }

// Get calls GET /v1/images/{token}: the picture at the end of tracked mail, which counts an open. It is a GIF, whatever the token is. Needs no key. Counted in the rate limit `tracking`.
func (s *Images) Get(ctx context.Context, token string, options ...CallOption) (io.ReadCloser, error) {
	return s.client.open(ctx, call{method: "GET", path: "/v1/images/" + url.PathEscape(token), accept: "image/gif"}, options)
}
