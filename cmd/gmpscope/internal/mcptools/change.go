package mcptools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/diagnosis"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference/sim"
	"github.com/gmpscope/gmpscope/replay"
	"github.com/gmpscope/gmpscope/report"
)

type diffIn struct {
	Before []string `json:"before" jsonschema:"traces from before the change"`
	After  []string `json:"after" jsonschema:"traces from after it"`
	Offset int      `json:"offset,omitempty" jsonschema:"the next of an answer, of its changes"`
}

type diffOut struct {
	Verdict  string   `json:"verdict" jsonschema:"better, worse, mixed, no significant change, or inconclusive"`
	Headline string   `json:"headline"`
	Basis    string   `json:"basis" jsonschema:"what times of waiting are put in relation to"`
	Lines    []string `json:"lines"`
	Caveats  []string `json:"caveats" jsonschema:"what cannot be concluded, and how the sides differ besides"`
	Changes  []change `json:"changes" jsonschema:"metrics, units of work, classes and findings that differ"`
	page
}

type change struct {
	Of          string `json:"of"`
	What        string `json:"what"`
	Before      string `json:"before"`
	After       string `json:"after"`
	Significant bool   `json:"significant,omitempty" jsonschema:"chance alone would hardly do it"`
}

const mostTraces = 20

func (s *Server) diff(ctx context.Context, in diffIn) (out diffOut, err error) {
	if len(in.Before) == 0 || len(in.After) == 0 || len(in.Before) > mostTraces || len(in.After) > mostTraces {
		return out, fmt.Errorf("name up to %d traces before and after", mostTraces)
	}
	if err := s.store.lock(ctx); err != nil {
		return out, err
	}
	defer s.store.unlock()
	var sides [2][]*analyze.Result
	for i, names := range [][]string{in.Before, in.After} {
		for _, name := range names {
			file, err := s.openFile(name)
			if err != nil {
				return out, err
			}
			res, err := s.run(ctx, file, analyze.Options{NoTimeline: true})
			file.Close()
			if err != nil {
				return out, err
			}
			sides[i] = append(sides[i], res)
		}
	}
	c, err := compare.Compare(sides[0], sides[1])
	if err != nil {
		return out, err
	}
	m := newMarker(report.Build(sides[1][0], "gmpscope"), report.Build(sides[0][0], "gmpscope"))
	out = diffOut{Verdict: string(c.Verdict), Headline: m.sentence(c.Headline), Basis: string(c.Basis), Lines: m.sentences(c.Lines), Caveats: m.sentences(c.Caveats)}
	list := []change{}
	decided := func(what string, ms []compare.Metric) {
		for i := range ms {
			if x := &ms[i]; x.Primary {
				list = append(list, change{"metric", what + x.Title, compare.Value(x.Before.Value, x.Unit), compare.Value(x.After.Value, x.Unit), x.Significant})
			}
		}
	}
	decided("", c.Metrics)
	for i := range c.Work {
		decided(marked(c.Work[i].Name)+": ", c.Work[i].Metrics)
	}
	for i := range c.Findings {
		if x := &c.Findings[i]; x.Change != compare.Same {
			list = append(list, change{"finding", x.ID + ": " + string(x.Change) + ": " + m.finding(x.Title), quantity.Duration(x.BeforeCostNs), quantity.Duration(x.AfterCostNs), false})
		}
	}
	for _, x := range c.Work[:min(len(c.Work), 10)] {
		what := marked(x.Name) + " (" + x.In + "), mean"
		if len(x.Path) > 0 {
			what += "; most of the difference: " + x.Path[0].What
			if x.Path[0].Where != "" {
				what += " in " + marked(x.Path[0].Where)
			}
		}
		list = append(list, change{"units of work", what, quantity.Duration(x.Before.MeanNs), quantity.Duration(x.After.MeanNs), false})
	}
	for _, x := range c.Classes[:min(len(c.Classes), 10)] {
		list = append(list, change{"waiting of a class", marked(x.Short) + " (" + x.In + ")", quantity.Duration(x.BeforeNs), quantity.Duration(x.AfterNs), false})
	}
	out.Changes, out.page, err = paged(list, in.Offset, maxAnswer*2/3)
	return out, err
}

type whatIfIn struct {
	trace
	GOMAXPROCS int     `json:"gomaxprocs,omitempty"`
	Policy     string  `json:"policy,omitempty" jsonschema:"another scheduler, such as fifo"`
	Class      string  `json:"class,omitempty" jsonschema:"start function of the goroutines that speed is about"`
	Speed      float64 `json:"speed,omitempty" jsonschema:"how many times as fast they compute"`
	FreeLock   string  `json:"free_lock,omitempty" jsonschema:"function whose mutexes nobody waits for any more"`
	NoGC       bool    `json:"no_gc,omitempty"`
}

type whatIfOut struct {
	Basis     string   `json:"basis"`
	Untrusted string   `json:"untrusted,omitempty" jsonschema:"why the numbers say nothing"`
	Observed  outcome  `json:"observed"`
	Simulated outcome  `json:"simulated" jsonschema:"the same work as it was, by the model: its distance from observed is the model's error"`
	Changed   *outcome `json:"changed,omitempty" jsonschema:"with the change: to be compared with simulated"`
	Change    string   `json:"change,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

type outcome struct {
	Makespan string `json:"makespan"`
	Waited   string `json:"waited" jsonschema:"for a P, all goroutines summed"`
	P99      string `json:"p99_wait"`
}

func outcomeOf(r *replay.Run) outcome {
	return outcome{quantity.Duration(r.MakespanNs), quantity.Duration(r.Waits.TotalNs), quantity.Duration(r.Waits.P99)}
}

func (s *Server) whatIf(ctx context.Context, in whatIfIn) (out whatIfOut, err error) {
	c := replay.Change{Policy: in.Policy, Procs: in.GOMAXPROCS, Class: unmarked(in.Class), Speed: in.Speed, FreeLock: unmarked(in.FreeLock), NoGC: in.NoGC}
	switch known := sim.PolicyNames(); {
	case c == replay.Change{}:
		return out, errors.New("name a change: gomaxprocs, policy, class with speed, free_lock or no_gc")
	case (in.Class == "") != (in.Speed == 0), in.Speed < 0, in.GOMAXPROCS < 0, in.GOMAXPROCS > 1024:
		return out, errors.New("class goes with speed, a positive number; gomaxprocs is up to 1024")
	case in.Policy != "" && !slices.Contains(known, in.Policy):
		return out, fmt.Errorf("there is no policy %q; there are %q", in.Policy, known)
	}
	file, err := s.openFile(in.Trace)
	if err != nil {
		return out, err
	}
	defer file.Close()
	if err := s.store.lock(ctx); err != nil {
		return out, err
	}
	defer s.store.unlock()
	src, err := file.source(ctx, s.store.memory)
	if err != nil {
		return out, err
	}
	defer src.Close()
	r, err := replay.Simulate(ctx, src, replay.SimulateOptions{MaxMemory: s.store.memory, WhatIf: []replay.Change{c}})
	if err != nil {
		return out, err
	}
	out = whatIfOut{Basis: "a model's answer: medians of 5 simulations", Observed: outcomeOf(&r.Observed)}
	if r.Simulated == nil {
		return out, errors.New("the trace does not show enough to simulate it")
	}
	out.Simulated, out.Untrusted = outcomeOf(&r.Simulated.Simulated), shown(r.Simulated.Untrusted)
	for _, n := range r.Simulated.Notes[:min(len(r.Simulated.Notes), 6)] {
		out.Notes = append(out.Notes, cut(shown(n), 400))
	}
	for _, w := range r.Simulated.WhatIf {
		x := outcomeOf(&w.Simulated)
		out.Changed, out.Change, out.Untrusted = &x, marked(w.Change), cmp.Or(shown(w.Untrusted), out.Untrusted)
	}
	return out, nil
}

type nextOut struct {
	Record []advice `json:"record" jsonschema:"most useful first; the commands are for a person to run"`
}

type advice struct {
	Why     string `json:"why"`
	Basis   string `json:"basis"`
	Command string `json:"command"`
}

func (s *Server) recordNext(ctx context.Context, in trace) (out nextOut, err error) {
	a, err := s.analyze(ctx, in.Trace, focus.Focus{})
	if err != nil {
		return out, err
	}
	r := a.doc.Result
	d := diagnosis.Diagnose(r)
	say := func(when bool, basis, command, why string) {
		if when {
			out.Record = append(out.Record, advice{why, basis, command})
		}
	}
	_, units := unitsOf(r)
	_, computes := d.SlowBy()
	runs := d.Slow != nil && d.Slow.Bucket.Chief != nil && d.Slow.Bucket.Chief.What == "running"
	say(r.Trace.Incomplete || r.Trace.LostNs > 0, "observed", "gmpscope record URL -o whole.trace", "A part of the trace is missing: "+strings.Join(a.sentences(r.Trace.Warnings[:min(len(r.Trace.Warnings), 2)]), "; "))
	say(r.Kernel == nil && len(r.Doubts) > 0, "inferred", "sudo gmpscope record --kernel-output k.zst -o new.trace -- PROGRAM; then gmpscope report new.trace --kernel k.zst", "Threads may have lacked CPUs, which a Go trace cannot show: the kernel's records can.")
	say(r.Trace.Samples == 0 && (computes || runs), "inferred", "gmpscope record --cpu URL -o new.trace", "The time goes into running: CPU samples show in which functions.")
	say(units == 0, "observed", "ctx, task := trace.NewTask(ctx, \"request\"); defer task.End()   // in the program, runtime/trace", "No unit of work was found: a task around each request or job makes them known.")
	say(units > 0 && units < 20, "observed", "gmpscope record --seconds 30 URL -o longer.trace", "There are fewer than 20 units of work: what makes the slow ones slow takes more of them.")
	say(r.Trace.DurationNs < 1e9, "observed", "gmpscope record --seconds 10 URL -o longer.trace", "The trace is shorter than a second: what happens seldom may not be in it.")
	say(r.Reconstruction.Starts > 0 && float64(r.Reconstruction.Unexplained) > diagnosis.ManyUnsure*float64(r.Reconstruction.Starts), "observed", "gmpscope analyze TRACE --go-version 1.NN", "Many starts have no explanation: if another Go release wrote the trace than its format tells, say so.")
	say(a.doc.Verdict.Status == "ok", "observed", "package capture, docs/capture.md", "Nothing is wrong here: if the trouble comes and goes, have the program record itself when it happens.")
	say(true, "observed", "gmpscope record URL -o after1.trace   # five before a change, five after", "To tell whether a change helps, diff needs traces of both sides under the same load.")
	return out, nil
}

type explainIn struct {
	Name   string `json:"name,omitempty"`
	Offset int    `json:"offset,omitempty" jsonschema:"the next of an answer"`
}

type explainOut struct {
	Names []string `json:"names,omitempty"`
	Text  []string `json:"text,omitempty"`
	page
}

func (s *Server) explain(_ context.Context, in explainIn) (out explainOut, err error) {
	if in.Name == "" {
		out.Names, out.page, err = paged(report.Names(), in.Offset, maxAnswer)
		return out, err
	}
	var b bytes.Buffer
	if err := report.WriteExplanation(&b, in.Name, report.TextOptions{}); err != nil {
		return out, err
	}
	out.Text, out.page, err = paged(strings.Split(strings.TrimSpace(b.String()), "\n"), in.Offset, maxAnswer)
	return out, err
}
