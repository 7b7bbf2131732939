package capture

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime/trace"
	"strings"
	"sync"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
)

// request is the key of a context for what Task began.
type request struct{}

// Task begins a task of runtime/trace, which end ends, and gives it the ID of a distributed
// trace: 32 hexadecimal digits, in lower case; another ID is left out. gmpscope --trace-id finds
// it by that. name is kept in each trace, its first 200 bytes, so there should be few: those of routes or
// methods.
func Task(ctx context.Context, name, traceID string) (_ context.Context, end func()) {
	name = name[:min(len(name), 200)]
	ctx, task := trace.NewTask(ctx, name)
	r := sidecar.SlowRequest{Name: name}
	if sidecar.IsTraceID(traceID) {
		r.TraceID = traceID
		trace.Log(ctx, sidecar.TraceIDKey, traceID)
	}
	return context.WithValue(ctx, request{}, r), task.End
}

// OnSlow begins to measure what done ends: if that takes longer than limit, the trace of the last
// seconds is written to a file, unless there was another within Cooldown. What has not ended after
// half of Window, or after limit if that is longer, is not waited for any more. done does not
// wait for the file. The file beside the trace has the name and the trace ID that [Task]
// gave ctx.
//
//	ctx, end := capture.Task(ctx, "charge", "")
//	done := r.OnSlow(ctx, 200*time.Millisecond)
//	defer func() { end(); done() }()
func (r *Recorder) OnSlow(ctx context.Context, limit time.Duration) (done func()) {
	if r.stopped() {
		return func() {}
	}
	began := time.Now()
	was, _ := ctx.Value(request{}).(sidecar.SlowRequest)
	var once sync.Once
	report := func(has string) {
		once.Do(func() {
			if was.Ns = int64(time.Since(began)); time.Duration(was.Ns) <= limit {
				return
			}
			was.LimitNs = int64(limit)
			name := cmp.Or(was.Name, "a request")
			took := time.Duration(was.Ns).Round(time.Millisecond / 10)
			select {
			case r.slow <- incident{fmt.Sprintf("%s %s %v; the limit is %v", name, has, took, limit), &was}:
			default: // another one is about to be captured
			}
		})
	}
	overdue := time.AfterFunc(max(limit, r.o.Window/2)+1, func() { report("has taken") })
	return func() {
		overdue.Stop()
		report("took")
	}
}

// Slow wraps a handler: each request is a task (see [Task]), and one that takes longer than limit
// has the trace of the last seconds written (see [Recorder.OnSlow]). The task is named by the
// method, and by the pattern if the handler is one of a [http.ServeMux] that has chosen it; its
// trace ID is that of the header traceparent (W3C Trace Context), which clients can choose.
//
//	mux.Handle("POST /charge", r.Slow(charge, 200*time.Millisecond))
func (r *Recorder) Slow(h http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.stopped() {
			h.ServeHTTP(w, req)
			return
		}
		ctx, end := Task(req.Context(), route(req), TraceParent(req.Header.Get("traceparent")))
		done := r.OnSlow(ctx, limit)
		defer func() { end(); done() }()
		h.ServeHTTP(w, req.WithContext(ctx))
	})
}

// route names a request by what its client cannot choose freely.
func route(req *http.Request) string {
	switch {
	case strings.Contains(req.Pattern, " "): // with its method
		return req.Pattern
	case req.Pattern != "":
		return method(req.Method) + " " + req.Pattern
	}
	return method(req.Method)
}

func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return m
	}
	return "other"
}

// TraceParent returns the trace ID in a header traceparent of W3C Trace Context; "" if there is none.
func TraceParent(header string) string {
	version, rest, _ := strings.Cut(header, "-")
	id, _, more := strings.Cut(rest, "-")
	if len(version) != 2 || version == "ff" || !more || !sidecar.IsTraceID(id) {
		return ""
	}
	return id
}
