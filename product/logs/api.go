package logs

import (
	"net/http"

	"postrider/platform/api"
)

// Routes returns the endpoints of the tape.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/logs", Scope: "logs:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrDomainNotAllowed},
			Summary: "List what happened, newest first, by words, time, status and more.", Handler: api.Handle(s.handleList)},
		{Method: http.MethodGet, Path: "/logs/_counts", Scope: "logs:read", Bucket: api.BucketRead, Errors: []*api.Error{api.ErrDomainNotAllowed},
			Summary: "Count what happened, in groups.", Handler: api.Handle(s.handleCounts)},
		{Method: http.MethodGet, Path: "/logs/{id}", Scope: "logs:read", Bucket: api.BucketRead, Errors: []*api.Error{ErrNotFound},
			Summary: "Get an entry with everything that happened to what it is about.", Handler: api.Handle(s.handleGet)},
	}
}
