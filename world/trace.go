package world

import "context"

// Tracer follows a piece of work through the program, for an operator who wants to see where its time goes. A world without one
// follows nothing, which costs a look at a nil pointer.
type Tracer interface {
	// Begin starts a span below that of the context, if it has one.
	Begin(ctx context.Context, name string, kind SpanKind) (context.Context, Span)
	// Join returns a context whose spans belong to the trace that a caller names (W3C traceparent and tracestate). What is not
	// well-formed is as good as nothing.
	Join(ctx context.Context, parent, state string) context.Context
	// Carry names the trace of the context for somebody we call; parent is empty if there is none.
	Carry(ctx context.Context) (parent, state string)
}

// SpanKind says which side of a call a span is.
type SpanKind int

const (
	// Inside is a part of other work; without a span above it is not recorded.
	Inside SpanKind = iota
	// Serving is an answer to somebody's request.
	Serving
	// Calling is a request of ours to somebody else.
	Calling
	// Working is work that nobody waits for.
	Working
)

// Span is a piece of work with a beginning and an end. Names and values must not hold what a log may not.
type Span interface {
	// Name gives it another name, once it is known what it is about.
	Name(name string)
	Text(key, value string)
	Number(key string, value int64)
	// Fail marks it as failed, and says why.
	Fail(reason string)
	End()
}

// Span starts a span if anybody wants to see it.
func (w World) Span(ctx context.Context, name string, kind SpanKind) (context.Context, Span) {
	if w.Tracer == nil {
		return ctx, unseen{}
	}
	return w.Tracer.Begin(ctx, name, kind)
}

// unseen is a span that nobody looks at.
type unseen struct{}

func (unseen) Name(string)          {}
func (unseen) Text(string, string)  {}
func (unseen) Number(string, int64) {}
func (unseen) Fail(string)          {}
func (unseen) End()                 {}
