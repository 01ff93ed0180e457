package webhook

import (
	"context"
	"net/http"

	"postrider/world"
)

// carry lets the endpoint go on with the trace of a post, if there is one (W3C Trace Context).
func carry(ctx context.Context, tracer world.Tracer, header http.Header) {
	if tracer == nil {
		return
	}
	parent, state := tracer.Carry(ctx)
	if parent == "" {
		return
	}
	header.Set("Traceparent", parent)
	if state != "" {
		header.Set("Tracestate", state)
	}
}

// tell says in a span what came of a post. The address of the endpoint may hold secrets and stays out.
func tell(span world.Span, d Delivery, a Attempt) {
	span.Text("postrider.webhook", string(d.Webhook))
	span.Text("postrider.event", d.EventType)
	span.Number("postrider.attempt", int64(a.Number))
	span.Number("http.response.status_code", int64(a.Status))
	if a.Error != "" {
		span.Fail(string(a.Error))
	}
	span.End()
}
