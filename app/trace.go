package app

import (
	"context"
	"time"

	"postrider/app/tracing"
	"postrider/platform/queue"
	"postrider/world"
)

// lastSpansWithin is how long a stop may wait for a collector.
const lastSpansWithin = 3 * time.Second

// openTracing lets the world follow work, if it is to be. The returned function sends the last spans.
func openTracing(ctx context.Context, w *world.World, config Config) (func(), error) {
	if config.Tracing == nil {
		return func() {}, nil
	}
	settings := *config.Tracing
	if settings.Node == "" {
		settings.Node = config.NodeName
	}
	tracer, shutdown, err := tracing.Open(ctx, w.Log, settings)
	if err != nil {
		return nil, Misconfigured{err}
	}
	w.Tracer = tracer
	return func() {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), lastSpansWithin)
		defer done()
		_ = shutdown(ctx) // what could not be sent is lost
	}, nil
}

// step runs one step of a worker. One that claimed something is told of as a span; the many that find nothing are not, and so neither
// are the transactions by which it looked.
func (a *App) step(ctx context.Context, w queue.Worker) (bool, error) {
	if a.World.Tracer == nil {
		return w.Step(ctx)
	}
	_, span := a.World.Span(ctx, "queue step", world.Working)
	busy, err := w.Step(ctx)
	if err != nil {
		span.Fail("step failed")
	}
	if busy || err != nil {
		span.Text("postrider.worker", w.Name)
		span.End()
	}
	return busy, err
}
