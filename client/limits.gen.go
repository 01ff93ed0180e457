// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
)

// Limits: What the plan allows, and what of it is used.
type Limits struct{ client *Client }

// Get calls GET /v1/limits: the limits of the plan and how much of them is used. Needs a key with any scope, or a session. Counted in the rate limit `read`.
func (s *Limits) Get(ctx context.Context, options ...CallOption) (*AccountPlanLimits, error) {
	return do[AccountPlanLimits](ctx, s.client, call{method: "GET", path: "/v1/limits"}, options)
}
