// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Logs: What happened, entry by entry.
type Logs struct{ client *Client }

// List calls GET /v1/logs: list what happened, newest first, by words, time, status and more. Needs the scope `logs:read`. Counted in the rate limit `read`.
func (s *Logs) List(ctx context.Context, params ListLogsParams, options ...CallOption) (*Page[LogsRow], error) {
	return do[Page[LogsRow]](ctx, s.client, call{method: "GET", path: "/v1/logs", query: params.values()}, options)
}

// All is List from page to page, to the end of the list.
func (s *Logs) All(ctx context.Context, params ListLogsParams, options ...CallOption) iter.Seq2[LogsRow, error] {
	return all(params.Offset, func(offset int, cursor string) (*Page[LogsRow], error) {
		page := params
		page.Offset = offset
		if cursor != "" {
			page.Cursor, page.After, page.Before, page.Offset = cursor, "", "", 0
		}
		return s.List(ctx, page, options...)
	})
}

// GetCounts calls GET /v1/logs/_counts: count what happened, in groups. Needs the scope `logs:read`. Counted in the rate limit `read`.
func (s *Logs) GetCounts(ctx context.Context, params GetLogsCountsParams, options ...CallOption) (*LogsCounts, error) {
	return do[LogsCounts](ctx, s.client, call{method: "GET", path: "/v1/logs/_counts", query: params.values()}, options)
}

// Get calls GET /v1/logs/{id}: get an entry with everything that happened to what it is about. Needs the scope `logs:read`. Counted in the rate limit `read`.
func (s *Logs) Get(ctx context.Context, id string, options ...CallOption) (*LogsRecord, error) {
	return do[LogsRecord](ctx, s.client, call{method: "GET", path: "/v1/logs/" + url.PathEscape(id)}, options)
}

// GetLogsCountsParams are the parameters of GET /v1/logs/_counts; what is empty is not asked for.
type GetLogsCountsParams struct {
	// Words of the entry: an address, a subject, a path, an id.
	Search string
	// 2xx, 4xx, 5xx or a code for requests; a state such as delivered for mail and requests about it.
	Status []string
	// api_request, smtp_submission, email, inbound, webhook, domain, auth, automation or system.
	Kind []string
	// info, warning or error.
	Level []string
	// Methods of requests.
	Method []string
	// Ids of API keys.
	APIKeyID []string
	// Ids of emails.
	EmailID []string
	// Ids of domains.
	DomainID []string
	// Ids of managed customers.
	ManagedTenantID []string
	// At or after this time.
	Since time.Time
	// Before this time.
	Until time.Time
	// The last days; instead of since.
	Days int
	// status, kind, endpoint or hour.
	GroupBy string
}

func (p GetLogsCountsParams) values() url.Values {
	q := query{}
	q.text("search", p.Search)
	q.texts("status", p.Status)
	q.texts("kind", p.Kind)
	q.texts("level", p.Level)
	q.texts("method", p.Method)
	q.texts("api_key_id", p.APIKeyID)
	q.texts("email_id", p.EmailID)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.time("since", p.Since)
	q.time("until", p.Until)
	q.number("days", p.Days)
	q.text("group_by", p.GroupBy)
	return url.Values(q)
}

// ListLogsParams are the parameters of GET /v1/logs; what is empty is not asked for.
type ListLogsParams struct {
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
	// Words of the entry: an address, a subject, a path, an id.
	Search string
	// 2xx, 4xx, 5xx or a code for requests; a state such as delivered for mail and requests about it.
	Status []string
	// api_request, smtp_submission, email, inbound, webhook, domain, auth, automation or system.
	Kind []string
	// info, warning or error.
	Level []string
	// Methods of requests.
	Method []string
	// Ids of API keys.
	APIKeyID []string
	// Ids of emails.
	EmailID []string
	// Ids of domains.
	DomainID []string
	// Ids of managed customers.
	ManagedTenantID []string
	// At or after this time.
	Since time.Time
	// Before this time.
	Until time.Time
	// The last days; instead of since.
	Days int
}

func (p ListLogsParams) values() url.Values {
	q := query{}
	q.number("limit", p.Limit)
	q.number("offset", p.Offset)
	q.text("cursor", p.Cursor)
	q.text("after", p.After)
	q.text("before", p.Before)
	q.text("order", p.Order)
	q.text("search", p.Search)
	q.texts("status", p.Status)
	q.texts("kind", p.Kind)
	q.texts("level", p.Level)
	q.texts("method", p.Method)
	q.texts("api_key_id", p.APIKeyID)
	q.texts("email_id", p.EmailID)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.time("since", p.Since)
	q.time("until", p.Until)
	q.number("days", p.Days)
	return url.Values(q)
}
