// Package tracing lets OpenTelemetry collectors see the work of the program. It is the only place that knows of OpenTelemetry; the
// rest follows work by world.Tracer.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"postrider/world"
)

// Config says where spans go. What it leaves open is read by the libraries from the usual variables: OTEL_EXPORTER_OTLP_HEADERS,
// OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_TRACES_SAMPLER, OTEL_BSP_* and so on.
type Config struct {
	// Endpoint is the address of a collector that takes OTLP over HTTP (http://host:4318); empty means that the variables name one.
	Endpoint string
	// Service, Version and Node are how the collector knows this process.
	Service, Version, Node string
}

// tracesPath is where collectors take spans.
const tracesPath = "/v1/traces"

var errEndpoint = errors.New("must be an address such as http://127.0.0.1:4318")

// Open returns a tracer, and a function that sends what has not been sent yet and ends it.
func Open(ctx context.Context, log *slog.Logger, config Config) (world.Tracer, func(context.Context) error, error) {
	var options []otlptracehttp.Option
	if config.Endpoint != "" {
		endpoint, err := url.Parse(config.Endpoint)
		if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
			return nil, nil, fmt.Errorf("--otlp-endpoint %s: %w", config.Endpoint, errEndpoint)
		}
		if endpoint.Path == "" || endpoint.Path == "/" {
			endpoint.Path = tracesPath
		}
		options = append(options, otlptracehttp.WithEndpointURL(endpoint.String()))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	// The variables win over our own words: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
	described, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", config.Service), attribute.String("service.version", config.Version),
		attribute.String("service.instance.id", config.Node)), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		log.Warn("what describes this process to the collector is not all well-formed", "error", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(quietly{exporter, log}), sdk.WithResource(described))
	return tracer{provider.Tracer("postrider")}, provider.Shutdown, nil
}

// quietly tells of spans that could not be sent in our log, instead of that of the library.
type quietly struct {
	sdk.SpanExporter
	log *slog.Logger
}

// ExportSpans sends spans. Those that could not be sent are lost: nobody waits for them.
func (q quietly) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil {
		q.log.Warn("spans could not be sent to the collector", "spans", len(spans), "error", err)
	}
	return nil
}

type tracer struct{ otel trace.Tracer }

// Begin starts a span.
func (t tracer) Begin(ctx context.Context, name string, kind world.SpanKind) (context.Context, world.Span) {
	kinds := [...]trace.SpanKind{world.Inside: trace.SpanKindInternal, world.Serving: trace.SpanKindServer, world.Calling: trace.SpanKindClient, world.Working: trace.SpanKindConsumer}
	if kind == world.Inside && !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, span{trace.SpanFromContext(ctx)}
	}
	ctx, started := t.otel.Start(ctx, name, trace.WithSpanKind(kinds[kind]))
	return ctx, span{started}
}

// Join takes a trace over from a caller.
func (t tracer) Join(ctx context.Context, parent, state string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent, "tracestate": state})
}

// Carry hands the trace to somebody we call.
func (t tracer) Carry(ctx context.Context) (parent, state string) {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"], carrier["tracestate"]
}

type span struct{ otel trace.Span }

func (s span) Name(name string)               { s.otel.SetName(name) }
func (s span) Text(key, value string)         { s.otel.SetAttributes(attribute.String(key, value)) }
func (s span) Number(key string, value int64) { s.otel.SetAttributes(attribute.Int64(key, value)) }
func (s span) Fail(reason string)             { s.otel.SetStatus(codes.Error, reason) }
func (s span) End()                           { s.otel.End() }
