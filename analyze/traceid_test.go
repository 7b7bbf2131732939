package analyze_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
)

// The tasks with a trace ID are found among more messages than are kept, and so is the ID itself.
func TestFocusOnTraceID(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("a trace is being recorded already")
	}
	id := func(i int) string { return fmt.Sprintf("%032x", i) }
	var recorded bytes.Buffer
	if err := trace.Start(&recorded); err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		ctx, task := trace.NewTask(context.Background(), "request")
		trace.Log(ctx, "trace_id", id(i))
		_, inner := trace.NewTask(ctx, "query")
		inner.End()
		task.End()
	}
	trace.Stop()
	read := func(id string) (*analyze.Result, error) {
		open := func() *input.Source {
			src, err := input.Open(t.Context(), "-", input.Options{Stdin: bytes.NewReader(recorded.Bytes())})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { src.Close() })
			return src
		}
		o := analyze.Options{TraceID: id}
		f, err := analyze.FocusOnTraceID(t.Context(), open(), o)
		if err != nil {
			return nil, err
		}
		o.Focus = f
		return analyze.Run(t.Context(), open(), o)
	}
	for _, i := range []int{0, 999, 2998} {
		res, err := read(id(i))
		if err != nil {
			t.Fatal(err)
		}
		kinds := 0
		for _, k := range res.Work.Kinds {
			if k.How != "task" {
				continue
			}
			kinds++
			if k.Count != 1 || k.Name == "request" && (len(k.Slowest[0].Logs) != 1 || k.Slowest[0].Logs[0].Text != "trace_id: "+id(i)) {
				t.Errorf("%d: %+v", i, k)
			}
		}
		if kinds != 2 {
			t.Errorf("%d: %d kinds of tasks", i, kinds)
		}
	}
	if _, err := read(id(3000)); err == nil || !strings.Contains(err.Error(), "no task of that trace ID begins in it: it has 6,000 tasks") {
		t.Error(err)
	}
}
