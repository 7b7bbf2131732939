// Package pprof writes the waiting of a trace as a profile that go tool pprof reads: how
// often, and for how long, goroutines waited for a P, by the stack at which they had
// stopped before, or were created; docs/export.md has the labels. It is one of the writers of
// [github.com/gmpscope/gmpscope/export].
//
// The values of type wait sum to the waiting of the user's goroutines exactly, in all and
// by cause ([waits.Result]). Waits that had not ended are not among them.
package pprof

import (
	"io"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/export"
)

// Options select what the profile of a [Writer] counts. The zero value is usable.
type Options struct {
	// All adds the waits of the runtime's and the tracer's goroutines, and those after
	// runtime.Gosched.
	All bool
	// Blocked adds the time for which goroutines were blocked until something made them runnable.
	Blocked bool
	// Accounts is the number of combinations of class, stack, source and waker with a sample
	// of their own. Default 1<<13.
	Accounts int
}

// Writer sums the waits of an analysis, of which it is the [analyze.Observer], and writes
// the profile. Its memory does not depend on the length of the trace.
type Writer struct {
	out      io.Writer
	opt      Options
	lookup   analyze.Lookup
	accounts accounts
	gap      int64 // when the trace had one last, ns; -1 if it had none
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer, o Options) *Writer {
	if o.Accounts <= 0 {
		o.Accounts = 1 << 13
	}
	return &Writer{out: out, opt: o, accounts: accounts{most: o.Accounts, index: map[key]int32{}}, gap: -1}
}

// Begin stores the functions that resolve handles. It implements [analyze.Observer].
func (w *Writer) Begin(l analyze.Lookup) { w.lookup = l }

// Observe counts the waits that ended in a block. It implements [analyze.Observer].
func (w *Writer) Observe(b *ledger.Block, ended []waits.EndedWait) error {
	for i := range ended {
		e := &ended[i]
		if e.Kind != waits.KindUser && !w.opt.All {
			continue
		}
		w.accounts.at(keyOf(b, e)).add(e)
	}
	if w.opt.Blocked {
		w.addBlocked(b)
	}
	return nil
}

// Finish writes the profile, gzip'd, of the analysis that had this result.
func (w *Writer) Finish(res *analyze.Result) error {
	b := newBuilder(w.lookup, res, "waits", "wait")
	if w.opt.Blocked {
		b.profile.SampleType = append(b.profile.SampleType, &profile.ValueType{Type: "blocks", Unit: "count"}, &profile.ValueType{Type: "blocked", Unit: "nanoseconds"})
	}
	for i := range w.accounts.keys {
		b.add(&w.accounts.keys[i], &w.accounts.of[i])
	}
	return b.profile.Write(w.out)
}

type builder struct {
	profile profile.Profile
	export.View
	stacks    map[stackOf][]*profile.Location
	locations map[stacks.Frame]*profile.Location
	functions map[[2]string]*profile.Function
	labels    map[string][]string
}

type stackOf struct {
	stack int32
	place place
}

// newBuilder returns a builder of a profile whose samples are a count and a time.
func newBuilder(l analyze.Lookup, res *analyze.Result, count, value string) *builder {
	b := &builder{
		stacks:    map[stackOf][]*profile.Location{},
		locations: map[stacks.Frame]*profile.Location{},
		functions: map[[2]string]*profile.Function{},
		labels:    map[string][]string{},
	}
	b.Begin(l)
	b.profile = profile.Profile{
		SampleType:        []*profile.ValueType{{Type: count, Unit: "count"}, {Type: value, Unit: "nanoseconds"}},
		DefaultSampleType: value,
		// That it has names keeps pprof from looking for them in a binary.
		Mapping:       []*profile.Mapping{{ID: 1, File: export.Shown(res.Trace.Program), HasFunctions: true, HasFilenames: true, HasLineNumbers: true}},
		PeriodType:    &profile.ValueType{Type: value, Unit: "nanoseconds"},
		Period:        1,
		DurationNanos: res.EndNs() - res.BeginNs(),
		Comments:      export.Comments(res),
	}
	if t, err := time.Parse(time.RFC3339Nano, res.Trace.Wall); err == nil {
		b.profile.TimeNanos = t.UnixNano() + res.BeginNs()
	}
	return b
}

// add adds the samples of an account, one for each cause.
func (b *builder) add(k *key, a *account) {
	locations := b.locationsOf(stackOf{k.stack, k.place})
	class, source, waker := b.label(b.Class(k.class)), b.label(k.source.String()), b.label(export.NoWaker(k.why))
	if k.byGoroutine {
		waker = b.label(b.Class(k.waker))
	}
	if k.place == others {
		source, waker = b.label("(others)"), b.label("(others)")
	}
	sample := func(cause string, value ...int64) {
		b.profile.Sample = append(b.profile.Sample, &profile.Sample{
			Location: locations,
			Value:    append(value, make([]int64, len(b.profile.SampleType)-len(value))...),
			Label:    map[string][]string{"cause": b.label(cause), "class": class, "source": source, "waker": waker},
		})
	}
	for i, cause := range waits.Causes() {
		if a.waits[i] != 0 || a.ns[i] != 0 {
			sample(string(cause), a.waits[i], a.ns[i])
		}
	}
	if a.blockedNs > 0 {
		cause := k.reason.String()
		if k.place == others {
			cause = "(others)"
		}
		sample(cause, 0, 0, a.blocks, a.blockedNs)
	}
}

// label returns a value of a label, which samples share.
func (b *builder) label(s string) []string {
	v, ok := b.labels[s]
	if !ok {
		v = []string{s}
		b.labels[s] = v
	}
	return v
}

// locationsOf returns the frames of a stack, or one that says why there are none.
func (b *builder) locationsOf(s stackOf) []*profile.Location {
	if l, ok := b.stacks[s]; ok {
		return l
	}
	var out []*profile.Location
	for _, f := range b.Frames(s.stack) {
		out = append(out, b.location(f))
	}
	if len(out) == 0 {
		why := "(stack not recorded)"
		if s.place == others {
			why = "(other stacks)"
		}
		out = append(out, b.location(stacks.Frame{Function: why}))
	}
	b.stacks[s] = out
	return out
}

func (b *builder) location(f stacks.Frame) *profile.Location {
	l, ok := b.locations[f]
	if !ok {
		l = &profile.Location{ID: uint64(len(b.locations) + 1), Mapping: b.profile.Mapping[0], Line: []profile.Line{{Function: b.function(f), Line: f.Line}}}
		b.locations[f] = l
		b.profile.Location = append(b.profile.Location, l)
	}
	return l
}

func (b *builder) function(f stacks.Frame) *profile.Function {
	name, file := export.Function(f.Function), export.Shown(f.File)
	k := [2]string{name, file}
	fn, ok := b.functions[k]
	if !ok {
		fn = &profile.Function{ID: uint64(len(b.functions) + 1), Name: name, SystemName: name, Filename: file}
		b.functions[k] = fn
		b.profile.Function = append(b.profile.Function, fn)
	}
	return fn
}
