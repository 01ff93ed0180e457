// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
)

// SendingNodes: The machines that deliver mail.
type SendingNodes struct{ client *Client }

// List calls GET /v1/sending-nodes: list the nodes that deliver mail. Needs a key with any scope, or a session. Counted in the rate limit `read`.
func (s *SendingNodes) List(ctx context.Context, params ListSendingNodesParams, options ...CallOption) (*Page[NodeRecord], error) {
	return do[Page[NodeRecord]](ctx, s.client, call{method: "GET", path: "/v1/sending-nodes", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *SendingNodes) All(ctx context.Context, params ListSendingNodesParams, options ...CallOption) iter.Seq2[NodeRecord, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[NodeRecord], error) {
		page := params
		page.Offset = offset
		return s.List(ctx, page, options...)
	})
}

// ListSendingNodesParams are the parameters of GET /v1/sending-nodes; what is empty is not asked for.
type ListSendingNodesParams struct {
	// Rows of a page.
	Limit int
	// Rows to skip.
	Offset int
}

func (p ListSendingNodesParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	return url.Values(q)
}
