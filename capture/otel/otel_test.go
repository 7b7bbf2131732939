package otel

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/gmpscope/gmpscope/capture"
)

// A span that is slow is captured, with its trace ID and its name, and the spans within it are tasks of it.
func TestSpans(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceID, err := trace.TraceIDFromHex(id)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan capture.Trace, 10)
	r, err := capture.Start(capture.Options{Dir: t.TempDir(), OnCapture: func(c capture.Trace) { written <- c }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	remote := trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: trace.SpanID{1}, Remote: true})
	p := NewTracerProvider(noop.NewTracerProvider(), r, 0)
	ctx, server := p.Tracer("test").Start(trace.ContextWithSpanContext(context.Background(), remote), "GET /charge", trace.WithSpanKind(trace.SpanKindServer))
	if trace.SpanFromContext(ctx) != server || server.TracerProvider() != p {
		t.Error("the span is not that of its context, or not of its provider")
	}
	_, query := p.Tracer("test").Start(ctx, "query")
	query.End()
	if len(written) != 0 {
		t.Error("a span within another one was captured")
	}
	server.End()
	server.End()
	c := <-written
	if !strings.HasPrefix(c.Reason, "GET /charge took ") {
		t.Error(c.Reason)
	}
	text, err := os.ReadFile(c.File + ".meta.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Request struct {
			Name    string `json:"name"`
			TraceID string `json:"trace_id"`
		} `json:"request"`
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Request.Name != "GET /charge" || m.Request.TraceID != id {
		t.Errorf("%v: %s", err, text)
	}
	b, err := os.ReadFile(c.File)
	if err != nil || !strings.Contains(string(b), "query") {
		t.Errorf("%v: the trace does not have the span within", err)
	}
}

// Without a recorder spans are tasks, and nothing is captured.
func TestNoRecorder(t *testing.T) {
	_, s := NewTracerProvider(noop.NewTracerProvider(), nil, time.Nanosecond).Tracer("test").Start(context.Background(), "job")
	s.End()
}
