package analyze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of Run. The zero value is usable.
type Options struct {
	// Workers is the number of generations decoded at once; 0 means GOMAXPROCS.
	// It does not change the result.
	Workers int
	// MaxMemory is how much memory the analysis should get by with, in bytes, not
	// less than MinMemory; 0 means that there is no limit. First fewer generations
	// are decoded at once, then the result loses detail, which Trace.Warnings says.
	// What is alive at one time in the trace cannot be lowered: where it is too much
	// the analysis ends, with an error, or with Partial as if it was interrupted.
	MaxMemory int64
	// Thresholds are those of the detectors; the zero value means [all.Default].
	// Package config reads them from a file.
	Thresholds all.Thresholds
	// Anonymize, if set, replaces the names of packages, functions, files and
	// annotations that are not Go's own by numbers, and the trace's by "trace".
	Anonymize *Names
	// OnEvents, if set, is called with the number of events that have been read
	// since it was called last: some thousands at a time.
	OnEvents func(n int)
	// Partial makes a cancelled context the end of the trace, once there were
	// events: the result is that of what was read until then, and says so.
	Partial bool
	// OnStacks, if set, is called once, before the first decision: frames reads
	// the handle of a decision's stack as lines, innermost frame first, each a
	// function followed by its place. It may be called in OnDecision, and after Run.
	OnStacks func(frames func(stack int32) []string)
	// OnDecision, if set, is called with every decision, in order. The decision
	// is valid during the call only. An error ends the analysis.
	OnDecision func(d *reference.Decision) error
	// DecisionsOnly leaves out all that measures the decisions: the result has but
	// Trace and Reconstruction. OnDecision is called from a goroutine of its own,
	// some thousands of decisions behind; its last call is over when Run returns.
	DecisionsOnly bool
}

// errDamaged stands for errors that may quote the trace.
var errDamaged = errors.New("it is damaged")

// ErrNoEvents says that a trace holds nothing that could be analysed.
var ErrNoEvents = errors.New("no events")

// Run analyses the trace that src gives. A damaged trace gives a result for
// what could be read, with warnings; an error means that there is no result. A
// panic of the analysis is a [Bug].
func Run(ctx context.Context, src *input.Source, o Options) (_ *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Caught(v)
		}
		if bug := (*Bug)(nil); errors.As(err, &bug) {
			err = fmt.Errorf("analysing %s: %w", src.Name(), bug)
		}
	}()
	limits := lower(&o)
	stream := events.New(ctx, src, events.Options{Workers: limits.workers})
	defer stream.Close()

	words := o.Anonymize
	reason := func(h int32) string { return words.reason(stream.Tables.Name(events.Handle(h))) }
	var (
		tracker = procs.NewTracker()
		ps      = procs.Following(tracker)
		fair    = fairness.New(fairness.Options{Ps: tracker})
		cur     *block // that waits gets
		at      int    // of which decision
	)
	limits.timeline.Ps = tracker
	tl := timeline.New(limits.timeline)
	onPs := accounts{tracker, ps, fair, tl}
	limits.waits.OnWorst = func(from, to, g int64) { cur.marked = append(cur.marked, mark{at, from, to, g}) }
	limits.waits.Text, limits.waits.Frames = reason, stackLines(stream.Tables, words)
	ws := waits.New(limits.waits)
	if o.OnStacks != nil {
		o.OnStacks(stackLines(stream.Tables, words))
	}
	thresholds := cmp.Or(o.Thresholds, all.Default())
	detectors := all.Detectors(thresholds)
	found := findings.NewSet(detectors, findings.Env{})
	chains := []chain{
		{
			func(b *block) {
				cur, at = b, 0
				rest := b.decisions
				var others, calls []reference.Decision
				for _, part := range b.parts {
					others, calls, rest = part.of(rest)
					for i := range others {
						ws.Add(&others[i])
						at++
					}
					if len(calls) > 0 {
						ws.AddCalls(calls)
						at += len(calls)
					}
				}
			},
			onPs.take,
		},
		{
			func(b *block) {
				rest := b.decisions
				var others, calls []reference.Decision
				for _, part := range b.parts {
					others, calls, rest = part.of(rest)
					for i := range others {
						found.Add(&others[i])
					}
					if len(calls) > 0 {
						found.AddCalls(calls)
					}
				}
			},
		},
	}
	var failed failure
	onDecision := o.OnDecision
	if o.DecisionsOnly {
		chains, onDecision = nil, nil
		if o.OnDecision != nil {
			chains = []chain{{func(b *block) {
				for i := range b.decisions {
					failed.call(o.OnDecision, &b.decisions[i])
				}
			}}}
		}
	}
	accumulators := newFanout(chains...)
	defer accumulators.wait() // they do not outlive Run
	rec := reconstruct.New(stream.Tables, reconstruct.Options{
		Rules:   reference.RulesFor(src.Header().Minor),
		Reduced: src.Header().V1,
		Emit: func(ds []reference.Decision) []reference.Decision {
			if onDecision != nil {
				for i := range ds {
					failed.call(onDecision, &ds[i])
				}
			}
			return accumulators.add(ds)
		},
	})
	interrupted, full := false, "" // why it was, if not by the caller
	for {
		evs, err := stream.Next()
		if err == io.EOF {
			toEnd(src)
			break
		}
		if err != nil && o.Partial && ctx.Err() != nil {
			interrupted = true
			stream.Close() // src must rest before it is asked how far it came
			break
		}
		if err != nil {
			return nil, err
		}
		if o.OnEvents != nil {
			o.OnEvents(len(evs))
		}
		rec.Add(evs)
		if bug := accumulators.bug.Load(); bug != nil {
			return nil, bug
		}
		if failed.seen.Load() {
			return nil, failed.err
		}
		if full = limits.full(rec.Held(), stream.Tables.Memory(), src.Memory(stream.Stored())); full != "" {
			if !o.Partial {
				return nil, fmt.Errorf("reading %s: %s", src.Name(), full)
			}
			interrupted = true
			stream.Close()
			toEnd(src)
			break
		}
	}
	sum := rec.Finish()
	accumulators.wait()
	if bug := accumulators.bug.Load(); bug != nil {
		return nil, bug
	}
	if failed.seen.Load() {
		return nil, failed.err
	}
	st := stream.Stats()
	if st.Events <= st.Count(events.Sync) {
		if interrupted {
			return nil, context.Cause(ctx)
		}
		return nil, nothing(src, &st)
	}
	end := st.End
	class := func(id int32) (name, creator string) {
		name, creator = rec.Class(id)
		return words.Function(name), words.Function(creator)
	}
	res := &Result{
		Trace: describe(src, &st, &sum, words, interrupted, full),
		Reconstruction: Reconstruction{
			Starts: sum.Starts, Explained: sum.Explained, Ambiguous: sum.Ambiguous, Unexplained: sum.Unexplained,
			BySource: sum.BySource, ByBasis: sum.ByBasis, Corrections: sum.Corrections,
		},
	}
	warnings := res.Trace.Warnings
	res.Trace.Warnings = append(limits.said, warnings...)
	if o.DecisionsOnly {
		return res, nil
	}
	res.Waits, res.Procs = ws.Finish(end, namer(class)), ps.Finish(end)
	tasks, regions := rec.Annotated()
	for i := range res.Waits.Classes {
		c := &res.Waits.Classes[i]
		c.Tasks, c.Regions = words.annotations(tasks[c.ID]), words.annotations(regions[c.ID])
	}
	res.Fairness, res.Pressure = fair.Finish(end, class)
	facts := &findings.Facts{
		EndNs: end, GOMAXPROCS: res.Trace.GOMAXPROCS, Bytes: res.Trace.Bytes, LostBytes: res.Trace.LostBytes,
		Warnings: warnings, Reduced: res.Trace.Reduced, Incomplete: res.Trace.Incomplete,
		Starts: sum.Starts, Explained: sum.Explained, Ambiguous: sum.Ambiguous, Unexplained: sum.Unexplained,
		TracerNs: sum.TracerNs, Events: res.Trace.Events, Annotations: res.Trace.Tasks + res.Trace.Regions + res.Trace.Logs,
		Waits: res.Waits, Procs: res.Procs, Fairness: res.Fairness, Pressure: res.Pressure,
		ClassName: class, Stack: stackLines(stream.Tables, words),
		Label: reason,
	}
	res.Findings = found.Finish(facts)
	for _, f := range res.Findings {
		tl.Keep(f.FromNs, f.ToNs, f.ID)
	}
	res.Timeline = tl.Finish(end)
	res.Span = spanOf(&facts.Span, class, facts.Stack)
	for i, n := range found.Found() {
		d := detectors[i]
		res.Detectors = append(res.Detectors, Detector{ID: d.ID, Kind: d.Kind, Title: d.Title, Found: n, Configured: configured(thresholds, d.ID)})
	}
	return res, nil
}

// accounts are the accumulators that follow the Ps by one tracker.
type accounts struct {
	tracker *procs.Tracker
	ps      *procs.Accumulator
	fair    *fairness.Accumulator
	tl      *timeline.Accumulator
}

// take takes a block that waits has seen.
func (x *accounts) take(b *block) {
	n, rest, marked := 0, b.decisions, b.marked // n are taken
	var others, calls []reference.Decision
	for _, part := range b.parts {
		others, calls, rest = part.of(rest)
		for ; len(marked) > 0 && marked[0].at < n+len(others); marked = marked[1:] {
			m := &marked[0]
			k := max(0, m.at+1-n)
			x.add(others[:k])
			others, n = others[k:], n+k
			x.tl.Mark(m.from, m.to, fmt.Sprintf("goroutine %d waits %v", m.g, time.Duration(m.to-m.from)))
		}
		x.add(others)
		if len(calls) > 0 && !x.addCalls(calls) {
			x.add(calls)
		}
		n += len(others) + len(calls)
	}
}

func (x *accounts) add(ds []reference.Decision) {
	for i := range ds {
		d := &ds[i]
		x.tracker.Apply(d)
		x.ps.Add(d)
		x.fair.Add(d)
		x.tl.Add(d)
	}
}

// addCalls takes brief system calls, if the tracker does.
func (x *accounts) addCalls(ds []reference.Decision) bool {
	if !x.tracker.Calls(ds[0].P) {
		return false
	}
	x.ps.AddCalls(ds)
	x.fair.AddCalls(ds)
	x.tl.AddCalls(ds)
	return true
}

// failure is the first error of Options.OnDecision, which may be called from
// another goroutine than the one that looks.
type failure struct {
	seen atomic.Bool
	err  error // good once seen
}

// call calls f, unless it has failed before.
func (x *failure) call(f func(*reference.Decision) error, d *reference.Decision) {
	if x.seen.Load() {
		return
	}
	if err := f(d); err != nil {
		x.err = err
		x.seen.Store(true)
	}
}

// namer is a function that knows the names of classes.
type namer func(id int32) (name, creator string)

// Class returns the start function and the creator of a class.
func (f namer) Class(id int32) (name, creator string) { return f(id) }

// stackLines renders a stack for people, innermost frame first.
func stackLines(t *events.Tables, words *Names) func(int32) []string {
	return func(h int32) []string {
		var out []string
		for _, f := range t.Frames(events.Handle(h)) {
			out = append(out, words.frame(f))
		}
		return out
	}
}

// toEnd reads what is left of a trace, if the stream ended before: how far it was
// read by then is chance.
func toEnd(src *input.Source) {
	for err := error(nil); err == nil; {
		_, err = src.Next()
	}
}
