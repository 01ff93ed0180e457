// Code generated from docs/openapi.json by client/internal/generate; run make update. DO NOT EDIT.

package client

import (
	"context"
	"net/url"
	"time"
)

// Stats: Counts and rates, in totals and over time.
type Stats struct{ client *Client }

// GetDaily calls GET /v1/stats/daily: tell what happened day by day; days without mail are there, too. Needs the scope `analytics:read`. Counted in the rate limit `read`.
func (s *Stats) GetDaily(ctx context.Context, params GetStatsDailyParams, options ...CallOption) (*StatsDailyAnswer, error) {
	return do[StatsDailyAnswer](ctx, s.client, call{method: "GET", path: "/v1/stats/daily", query: params.values()}, options)
}

// GetDeliverability calls GET /v1/stats/deliverability: grade how well mail arrives, and tell what to do about it. Needs the scope `analytics:read`. Counted in the rate limit `read`.
func (s *Stats) GetDeliverability(ctx context.Context, params GetStatsDeliverabilityParams, options ...CallOption) (*StatsScorecard, error) {
	return do[StatsScorecard](ctx, s.client, call{method: "GET", path: "/v1/stats/deliverability", query: params.values()}, options)
}

// GetOverview calls GET /v1/stats/overview: tell what became of mail, in totals and rates, beside the time before. Needs the scope `analytics:read`. Counted in the rate limit `read`.
func (s *Stats) GetOverview(ctx context.Context, params GetStatsOverviewParams, options ...CallOption) (*StatsOverview, error) {
	return do[StatsOverview](ctx, s.client, call{method: "GET", path: "/v1/stats/overview", query: params.values()}, options)
}

// GetTimeseries calls GET /v1/stats/timeseries: tell how totals went by hour, day, week or month of a time zone. Needs the scope `analytics:read`. Counted in the rate limit `read`.
func (s *Stats) GetTimeseries(ctx context.Context, params GetStatsTimeseriesParams, options ...CallOption) (*StatsTimeseries, error) {
	return do[StatsTimeseries](ctx, s.client, call{method: "GET", path: "/v1/stats/timeseries", query: params.values()}, options)
}

// GetTop calls GET /v1/stats/top: tell to whom most mail goes, and where its recipients stand now. Needs the scope `analytics:read`. Counted in the rate limit `read`.
func (s *Stats) GetTop(ctx context.Context, params GetStatsTopParams, options ...CallOption) (*StatsTop, error) {
	return do[StatsTop](ctx, s.client, call{method: "GET", path: "/v1/stats/top", query: params.values()}, options)
}

// GetStatsDailyParams are the parameters of GET /v1/stats/daily; what is empty is not asked for.
type GetStatsDailyParams struct {
	// The last days, today included: 1 to 365. Instead of start and end.
	Days int
	// From this time on.
	Start time.Time
	// Before this time; now, if it is missing.
	End time.Time
	// Only mail of these domains. One kind of filter at a time.
	DomainID []string
	// Only mail of these managed customers.
	ManagedTenantID []string
	// Only mail of these broadcasts.
	BroadcastID []string
	// Only mail made from these templates.
	TemplateID []string
	// Only mail with this one tag, as name:value. The first 100 tags of a workspace are counted, and the first 1,000 values of each; what is not seen for 31 days makes room.
	Tag []string
	// Name of the time zone whose days are meant.
	Timezone string
}

func (p GetStatsDailyParams) values() url.Values {
	q := query{}
	q.number("days", p.Days)
	q.time("start", p.Start)
	q.time("end", p.End)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.texts("broadcast_id", p.BroadcastID)
	q.texts("template_id", p.TemplateID)
	q.texts("tag", p.Tag)
	q.text("timezone", p.Timezone)
	return url.Values(q)
}

// GetStatsDeliverabilityParams are the parameters of GET /v1/stats/deliverability; what is empty is not asked for.
type GetStatsDeliverabilityParams struct {
	// The last days, today included: 1 to 365. Instead of start and end.
	Days int
	// From this time on.
	Start time.Time
	// Before this time; now, if it is missing.
	End time.Time
	// Only mail of these domains. One kind of filter at a time.
	DomainID []string
	// Only mail of these managed customers.
	ManagedTenantID []string
	// Only mail of these broadcasts.
	BroadcastID []string
	// Only mail made from these templates.
	TemplateID []string
	// Only mail with this one tag, as name:value. The first 100 tags of a workspace are counted, and the first 1,000 values of each; what is not seen for 31 days makes room.
	Tag []string
}

func (p GetStatsDeliverabilityParams) values() url.Values {
	q := query{}
	q.number("days", p.Days)
	q.time("start", p.Start)
	q.time("end", p.End)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.texts("broadcast_id", p.BroadcastID)
	q.texts("template_id", p.TemplateID)
	q.texts("tag", p.Tag)
	return url.Values(q)
}

// GetStatsOverviewParams are the parameters of GET /v1/stats/overview; what is empty is not asked for.
type GetStatsOverviewParams struct {
	// The last days, today included: 1 to 365. Instead of start and end.
	Days int
	// From this time on.
	Start time.Time
	// Before this time; now, if it is missing.
	End time.Time
	// Only mail of these domains. One kind of filter at a time.
	DomainID []string
	// Only mail of these managed customers.
	ManagedTenantID []string
	// Only mail of these broadcasts.
	BroadcastID []string
	// Only mail made from these templates.
	TemplateID []string
	// Only mail with this one tag, as name:value. The first 100 tags of a workspace are counted, and the first 1,000 values of each; what is not seen for 31 days makes room.
	Tag []string
}

func (p GetStatsOverviewParams) values() url.Values {
	q := query{}
	q.number("days", p.Days)
	q.time("start", p.Start)
	q.time("end", p.End)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.texts("broadcast_id", p.BroadcastID)
	q.texts("template_id", p.TemplateID)
	q.texts("tag", p.Tag)
	return url.Values(q)
}

// GetStatsTimeseriesParams are the parameters of GET /v1/stats/timeseries; what is empty is not asked for.
type GetStatsTimeseriesParams struct {
	// The last days, today included: 1 to 365. Instead of start and end.
	Days int
	// From this time on.
	Start time.Time
	// Before this time; now, if it is missing.
	End time.Time
	// Only mail of these domains. One kind of filter at a time.
	DomainID []string
	// Only mail of these managed customers.
	ManagedTenantID []string
	// Only mail of these broadcasts.
	BroadcastID []string
	// Only mail made from these templates.
	TemplateID []string
	// Only mail with this one tag, as name:value. The first 100 tags of a workspace are counted, and the first 1,000 values of each; what is not seen for 31 days makes room.
	Tag []string
	// hour, day, week or month; hours of at most 14 days.
	Interval string
	// Names of totals.
	Metrics []string
	// Name of the time zone whose hours, days, weeks and months are meant.
	Timezone string
}

func (p GetStatsTimeseriesParams) values() url.Values {
	q := query{}
	q.number("days", p.Days)
	q.time("start", p.Start)
	q.time("end", p.End)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.texts("broadcast_id", p.BroadcastID)
	q.texts("template_id", p.TemplateID)
	q.texts("tag", p.Tag)
	q.text("interval", p.Interval)
	q.texts("metrics", p.Metrics)
	q.text("timezone", p.Timezone)
	return url.Values(q)
}

// GetStatsTopParams are the parameters of GET /v1/stats/top; what is empty is not asked for.
type GetStatsTopParams struct {
	// The last days, today included: 1 to 365. Instead of start and end.
	Days int
	// From this time on.
	Start time.Time
	// Before this time; now, if it is missing.
	End time.Time
	// Only mail of these domains. One kind of filter at a time.
	DomainID []string
	// Only mail of these managed customers.
	ManagedTenantID []string
	// Only mail of these broadcasts.
	BroadcastID []string
	// Only mail made from these templates.
	TemplateID []string
	// Only mail with this one tag, as name:value. The first 100 tags of a workspace are counted, and the first 1,000 values of each; what is not seen for 31 days makes room.
	Tag []string
}

func (p GetStatsTopParams) values() url.Values {
	q := query{}
	q.number("days", p.Days)
	q.time("start", p.Start)
	q.time("end", p.End)
	q.texts("domain_id", p.DomainID)
	q.texts("managed_tenant_id", p.ManagedTenantID)
	q.texts("broadcast_id", p.BroadcastID)
	q.texts("template_id", p.TemplateID)
	q.texts("tag", p.Tag)
	return url.Values(q)
}
