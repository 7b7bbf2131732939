package analyze_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/damage"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/reference"
)

// victims are small traces of every format and with everything that a trace can
// hold. Their order is part of the fuzz corpus: append only.
var victims = []string{
	"real/v1-context-go1.21", "retake-small-go1.22-p2", "mutex-go1.24-p4", "overflow-go1.25-p1", "steal-small-go1.26-p2",
	"real/cgo-zstd-go1.25-p4", "locked-threads-go1.27-p2", "gosched-go1.26-p2", "timers-go1.22-p4", "forever-go1.26-p4",
}

// FuzzRun damages real traces and analyses what is left: no panic, no hang, an
// error of one line or a result that adds up, and the same each time.
func FuzzRun(f *testing.F) {
	var traces [][]byte
	for i, name := range victims {
		traces = append(traces, tracetest.Recorded(f, name))
		f.Add(byte(i), []byte(nil))
	}
	for op := range byte(26) { // each operation once, on traces of all formats
		f.Add(op%byte(len(victims)), []byte{op, 0, 2, 0, 9, 2, 3})
		if !tracetest.Long() && op%2 == 1 {
			continue
		}
		f.Add((op+3)%byte(len(victims)), []byte{op, 1, 7, 1, 2, 3, 5, op, 0, 40, 0, 17, 1, 7})
	}
	for i, b := range traces {
		for k, p := range damage.Programs(b) {
			if tracetest.Long() || (i+k)%8 == 0 {
				f.Add(byte(i), p.Program)
			}
		}
	}
	f.Add(byte(1), []byte("b07b$1")) // an error that quotes a carriage return of the trace
	f.Fuzz(func(t *testing.T, which byte, program []byte) {
		if len(program) > 200 {
			return // more damage says nothing new
		}
		trace := damage.Apply(traces[int(which)%len(traces)], program)
		runDamaged(t, trace)
		if len(program)%4 == 3 { // it costs twice as much again
			if a, b := outcome(t, trace, 1), outcome(t, trace, 3); a != b {
				t.Errorf("with one worker: %s\nwith three: %s", a, b)
			}
		}
	})
}

// outcome is what analysing a trace gives: JSON, or an error.
func outcome(t *testing.T, trace []byte, workers int) string {
	src, err := input.New(bytes.NewReader(trace), "damaged")
	if err != nil {
		return err.Error()
	}
	defer src.Close()
	res, err := analyze.Run(t.Context(), src, analyze.Options{Workers: workers})
	if err != nil {
		return err.Error()
	}
	doc, err := json.Marshal(res)
	if err != nil {
		return err.Error()
	}
	return string(doc)
}

// runDamaged analyses a trace and holds the result against itself. It returns
// nil if there is none.
func runDamaged(t testing.TB, trace []byte) *analyze.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	src, err := input.New(bytes.NewReader(trace), "damaged")
	if err != nil {
		oneLine(t, err.Error())
		return nil
	}
	defer src.Close()
	last := int64(0)
	res, err := analyze.Run(ctx, src, analyze.Options{Workers: 2, OnDecision: func(d *reference.Decision) error {
		if d.Time < last {
			t.Errorf("a decision at %d, after one at %d", d.Time, last)
		}
		last = d.Time
		return nil
	}})
	if ctx.Err() != nil {
		t.Fatalf("%d bytes take more than two minutes", len(trace))
	}
	if err != nil {
		if bug := (*analyze.Bug)(nil); errors.As(err, &bug) {
			t.Fatal(err)
		}
		oneLine(t, err.Error())
		return nil
	}
	for _, w := range res.Trace.Warnings {
		oneLine(t, w)
	}
	addsUp(t, res, int64(len(trace)))
	checkStacks(t, res)
	return res
}

func oneLine(t testing.TB, s string) {
	t.Helper()
	if s == "" || strings.ContainsAny(s, "\n\r") {
		t.Errorf("not one line: %q", s)
	}
}

// addsUp checks what holds of every result.
func addsUp(t testing.TB, res *analyze.Result, size int64) {
	t.Helper()
	if _, err := json.Marshal(res); err != nil {
		t.Errorf("the result is no JSON: %v", err)
	}
	tr := &res.Trace
	if tr.Bytes != size || tr.LostBytes < 0 || tr.LostBytes > size || tr.DurationNs < 0 {
		t.Errorf("%d of %d bytes read, %d lost, in %d ns", tr.Bytes, size, tr.LostBytes, tr.DurationNs)
	}
	if tr.LostBytes > 0 && (!tr.Incomplete || len(tr.Warnings) == 0) {
		t.Errorf("%d bytes lost, and nothing says so", tr.LostBytes)
	}
	r := &res.Reconstruction
	if r.Starts != r.Explained+r.Ambiguous+r.Unexplained || min(r.Explained, r.Ambiguous, r.Unexplained) < 0 {
		t.Errorf("starts do not add up: %+v", r)
	}
	for what, by := range map[string]map[string]int64{"source": r.BySource, "basis": r.ByBasis} {
		n := int64(0)
		for _, x := range by {
			n += x
		}
		if n != r.Starts {
			t.Errorf("%d starts by %s, of %d", n, what, r.Starts)
		}
	}
	for name, s := range map[string]*waits.Summary{"all": &res.Waits.All, "user": &res.Waits.User} {
		if got := sum(s.Causes); got != s.TotalNs {
			t.Errorf("%s: the causes are %d ns of %d ns", name, got, s.TotalNs)
		}
		for _, c := range s.Causes {
			if c.Ns < 0 {
				t.Errorf("%s: %v is %d ns", name, c.Cause, c.Ns)
			}
		}
	}
	statesAddUp(t, res)
	for _, p := range res.Procs.Ps {
		parts := []int64{p.RunningNs, p.SystemNs, p.GCNs, p.TracerNs, p.SyscallNs, p.SchedNs, p.StoppedNs, p.IdleNs, p.UnusedNs, p.NotRecordedNs}
		rest := p.LifetimeNs
		for _, ns := range parts {
			rest -= ns
			if ns < 0 {
				t.Errorf("P %d: %v", p.P, parts)
				break
			}
		}
		if rest != 0 {
			t.Errorf("P %d: the times are %v of %d ns", p.P, parts, p.LifetimeNs)
		}
	}
}
