// Package otel makes spans of OpenTelemetry tasks of runtime/trace, with their trace IDs, so that gmpscope
// --trace-id finds the request in an execution trace that a tracing system shows.
//
//	otel.SetTracerProvider(captureotel.NewTracerProvider(provider, r, 200*time.Millisecond))
package otel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"

	"github.com/gmpscope/gmpscope/capture"
)

// NewTracerProvider returns a TracerProvider whose spans are those of p, and tasks. A span of kind server or
// consumer that takes longer than limit, or one without a parent, has the trace of the last seconds
// written (see [capture.Recorder.OnSlow]); r may be nil: then nothing is.
//
// Spans should have few names, since these are kept in the trace. A span's End ends its task; its
// methods are those of the span of p, of which type assertions do not hold.
func NewTracerProvider(p trace.TracerProvider, r *capture.Recorder, limit time.Duration) trace.TracerProvider {
	return &provider{inner: p, r: r, limit: limit}
}

type provider struct {
	embedded.TracerProvider
	inner trace.TracerProvider
	r     *capture.Recorder
	limit time.Duration
}

func (p *provider) Tracer(name string, o ...trace.TracerOption) trace.Tracer {
	return &tracer{inner: p.inner.Tracer(name, o...), p: p}
}

type tracer struct {
	embedded.Tracer
	inner trace.Tracer
	p     *provider
}

func (t *tracer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	parent := trace.SpanContextFromContext(ctx)
	ctx, inner := t.inner.Start(ctx, name, o...)
	id := ""
	if c := inner.SpanContext(); c.HasTraceID() {
		id = c.TraceID().String()
	}
	ctx, end := capture.Task(ctx, name, id)
	s := &span{Span: inner, p: t.p, end: sync.OnceFunc(end)}
	config := trace.NewSpanStartConfig(o...)
	if kind := config.SpanKind(); !parent.IsValid() || config.NewRoot() || kind == trace.SpanKindServer || kind == trace.SpanKindConsumer {
		done := t.p.r.OnSlow(ctx, t.p.limit)
		s.end = sync.OnceFunc(func() { end(); done() })
	}
	return trace.ContextWithSpan(ctx, s), s
}

type span struct {
	trace.Span
	p   *provider
	end func()
}

func (s *span) End(o ...trace.SpanEndOption) {
	s.Span.End(o...)
	s.end()
}

func (s *span) TracerProvider() trace.TracerProvider { return s.p }
