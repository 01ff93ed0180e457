package api

import (
	"net/http"
	"strconv"

	"postrider/world"
)

// follow begins the span of a request, in the trace of the caller if it names one.
func (s *Server) follow(r *http.Request) (*http.Request, world.Span) {
	tracer := s.config.World.Tracer
	if tracer == nil {
		_, span := s.config.World.Span(r.Context(), "", world.Serving)
		return r, span
	}
	ctx := tracer.Join(r.Context(), r.Header.Get("Traceparent"), r.Header.Get("Tracestate"))
	ctx, span := tracer.Begin(ctx, r.Method, world.Serving)
	return r.WithContext(ctx), span
}

// tell says in the span what was asked for and how it was answered. Paths hold ids and tokens; the route does not.
func (x *exchange) tell(span world.Span) {
	if x.endpoint != nil {
		span.Name(x.r.Method + " " + x.endpoint.Path)
		span.Text("http.route", x.endpoint.Path)
	}
	span.Text("http.request.method", x.r.Method)
	span.Number("http.response.status_code", int64(x.status))
	span.Text("postrider.request_id", x.caller.RequestID)
	if x.status >= http.StatusInternalServerError {
		span.Fail("answered with " + strconv.Itoa(x.status))
	}
	span.End()
}
