package stats

import (
	"net/http"

	"postrider/platform/api"
)

// Routes returns the endpoints of statistics.
func (s *Service) Routes() []api.Route {
	refusals := []*api.Error{api.ErrDomainNotAllowed}
	return []api.Route{
		{Method: http.MethodGet, Path: "/stats/overview", Scope: "analytics:read", Bucket: api.BucketRead, Errors: refusals,
			Summary: "Tell what became of mail, in totals and rates, beside the time before.", Handler: api.Handle(s.handleOverview)},
		{Method: http.MethodGet, Path: "/stats/daily", Scope: "analytics:read", Bucket: api.BucketRead, Errors: refusals,
			Summary: "Tell what happened day by day; days without mail are there, too.", Handler: api.Handle(s.handleDaily)},
		{Method: http.MethodGet, Path: "/stats/timeseries", Scope: "analytics:read", Bucket: api.BucketRead, Errors: refusals,
			Summary: "Tell how totals went by hour, day, week or month of a time zone.", Handler: api.Handle(s.handleTimeseries)},
		{Method: http.MethodGet, Path: "/stats/top", Scope: "analytics:read", Bucket: api.BucketRead, Errors: refusals,
			Summary: "Tell to whom most mail goes, and where its recipients stand now.", Handler: api.Handle(s.handleTop)},
		{Method: http.MethodGet, Path: "/stats/deliverability", Scope: "analytics:read", Bucket: api.BucketRead, Errors: refusals,
			Summary: "Grade how well mail arrives, and tell what to do about it.", Handler: api.Handle(s.handleDeliverability)},
	}
}
