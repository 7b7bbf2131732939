package analyze_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

func focusOn(t testing.TB, name string, f focus.Focus) (*analyze.Result, error) {
	t.Helper()
	src, err := input.Open(t.Context(), name, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return analyze.Run(t.Context(), src, analyze.Options{Focus: f})
}

// sums are what the results of parts of a trace add up to.
func sums(ps bool, rs ...*analyze.Result) map[string]int64 {
	out := map[string]int64{}
	add := func(name string, s *waits.Summary) {
		out[name+" count"] += s.Count
		out[name+" total"] += s.TotalNs
		out[name+" open"] += s.OpenNs
		out[name+" cut"] += s.CutNs
		for _, c := range s.Causes {
			out[name+" "+string(c.Cause)] += c.Ns
		}
	}
	for _, r := range rs {
		add("all", &r.Waits.All)
		add("user", &r.Waits.User)
		add("self", &r.Waits.Self)
		add("system", &r.Waits.System)
		for i := range r.Waits.Classes {
			c := &r.Waits.Classes[i]
			add(c.Name, &c.Waits)
			out[c.Name+" starts"] += c.Starts
			out[c.Name+" running"] += c.RunningNs
			for _, x := range c.Causes {
				out[c.Name+" by "+string(x.Cause)] += x.Ns
			}
		}
		for i := range r.Breakdown.Classes {
			c := &r.Breakdown.Classes[i]
			out[c.Name+" life"] += c.LifeNs()
			out[c.Name+" life runnable"] += c.RunnableNs
			out[c.Name+" life running"] += c.RunningNs
			out[c.Name+" life in system calls"] += c.SyscallNs
			for reason, ns := range c.BlockedNs {
				out[c.Name+" blocked by "+breakdown.Reason(reason).String()] += ns
			}
		}
		for i := range r.Work.Kinds {
			k := &r.Work.Kinds[i]
			out["units "+k.Name] += k.Count
			out["units time "+k.Name] += k.TotalNs
		}
		if !ps {
			continue
		}
		for _, p := range r.Procs.Ps {
			for name, ns := range map[string]int64{"program": p.RunningNs, "system": p.SystemNs, "gc": p.GCNs, "tracer": p.TracerNs, "syscall": p.SyscallNs, "sched": p.SchedNs, "idle": p.IdleNs, "stopped": p.StoppedNs, "starts": p.Starts} {
				out["P "+name] += ns
			}
		}
		out["steals"] += r.Procs.Steals.Count
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	return out
}

// TestWindowsAddUp cuts traces into windows: they add up to the whole.
func TestWindowsAddUp(t *testing.T) {
	for _, name := range someTraces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			whole, err := focusOn(t, name, focus.Focus{})
			if err != nil {
				t.Fatal(err)
			}
			end := whole.Trace.DurationNs
			edges := []int64{0, end / 7, end / 7 * 2, end / 7 * 5, end - 1, 0}
			var parts []*analyze.Result
			for i, from := range edges[:len(edges)-1] {
				f := focus.Focus{From: from, To: edges[i+1]}
				r, err := focusOn(t, name, f)
				if err != nil {
					t.Fatal(err)
				}
				if i < len(edges)-2 && r.Waits.All.OpenCount > 0 && whole.Waits.All.OpenCount == 0 {
					t.Errorf("%+v: %d waits are open", f, r.Waits.All.OpenCount)
				}
				for _, x := range r.Findings {
					if x.ToNs > r.EndNs() || x.FromNs < from && x.ID != "trace-quality" {
						t.Errorf("%+v: %s from %d to %d", f, x.ID, x.FromNs, x.ToNs)
					}
				}
				if got := r.Timeline.EndNs; got != r.EndNs() || r.Timeline.FromNs != from {
					t.Errorf("%+v: the picture goes from %d to %d", f, r.Timeline.FromNs, got)
				}
				parts = append(parts, r)
			}
			if d := cmp.Diff(sums(true, whole), sums(true, parts...)); d != "" {
				t.Errorf("the windows differ (-whole +windows):\n%s", d)
			}
		})
	}
}

// TestSelectionsAddUp divides traces by classes and by goroutines.
func TestSelectionsAddUp(t *testing.T) {
	for _, name := range someTraces(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			whole, err := focusOn(t, name, focus.Focus{})
			if err != nil {
				t.Fatal(err)
			}
			var parts []*analyze.Result
			names := map[string]bool{}
			for _, c := range whole.Waits.Classes {
				names[c.Name] = true
			}
			for name1 := range names {
				r, err := focusOn(t, name, focus.Focus{Classes: []string{name1}})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(r.Focus.Classes, name1) {
					t.Errorf("%q is about %q", name1, r.Focus.Classes)
				}
				checkStacks(t, r)
				parts = append(parts, r)
			}
			if d := cmp.Diff(sums(false, whole), sums(false, parts...)); d != "" {
				t.Errorf("the classes differ (-whole +classes):\n%s", d)
			}
		})
	}
}

// TestNothingInFocus checks what there is where nothing matches.
func TestNothingInFocus(t *testing.T) {
	name := someTraces(t)[0]
	for want, f := range map[string]focus.Focus{
		`no goroutines of a class "nobody*": there are "`:  {Classes: []string{"main.*", "nobody*"}},
		"goroutine 123456789 neither ran nor waited":       {Goroutines: []int64{123456789}},
		"nothing comes after 100.0000 s":                   {From: 100e9},
		"a window from 2.0000 ms to 1.0000 ms has no time": {From: 2e6, To: 1e6},
	} {
		_, err := focusOn(t, name, f)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
}

// someTraces are small ones of different kinds.
func someTraces(t testing.TB) []string {
	var out []string
	for _, glob := range []string{"mutex-go1.2[26]-p*", "network-go1.26-p4*", "gc-go1.25-p4*", "pingpong-starve-go1.26*", "blocking-syscalls-go1.26-p2*", "real/annot-go1.26*"} {
		found, err := filepath.Glob(filepath.Join("..", "testdata", "traces", glob))
		if err != nil || len(found) == 0 {
			t.Fatal("no trace ", glob, err)
		}
		out = append(out, found...)
	}
	if !tracetest.Long() {
		return out[:2]
	}
	return out
}
