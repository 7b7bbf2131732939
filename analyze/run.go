package analyze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/events"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/all"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/ledger"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/reconstruct"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/reference"
)

// Options of Run. The zero value is usable.
type Options struct {
	// Workers is the number of generations decoded at once; 0 means GOMAXPROCS.
	// It does not change the result.
	Workers int
	// Rules are the rules of the scheduler that wrote the trace; the zero value means those
	// of its format, by ChooseRules.
	Rules reference.Rules
	// MaxMemory limits the memory of the analysis, in bytes, at least MinMemory; 0 means no
	// limit. First fewer generations are decoded at once, then the result loses detail, as
	// Trace.Warnings reports. What is alive at one time in the trace cannot be lowered: where
	// it is too much the analysis ends, with an error, or with Partial as if it was
	// interrupted.
	MaxMemory int64
	// Thresholds are the thresholds of the detectors; the zero value means [all.Default].
	// Package config reads them from a file. Those beyond [all.BoundsOf] are an error.
	Thresholds all.Thresholds
	// CPUs is how many CPUs the process had on average, which a trace does not show: a
	// quota's fraction, the CPUs of its affinity mask, or the machine's. 0 means the value in
	// the sidecar, if there is one. Values that CheckCPUs rejects are an error.
	CPUs float64
	// Kernel, if set, is the source of the kernel scheduler's records from the time of the
	// trace, for Result.Kernel. With a trace of Go 1.21 or older it is an error.
	Kernel *kernel.Reader
	// CgroupStat, if set, is the cpu.stat of the process's control group.
	CgroupStat *kernel.CgroupStat
	// Focus selects the part of the trace that is measured and judged; the zero value selects
	// all of it.
	Focus focus.Focus
	// Anonymize, if set, replaces the names of packages, functions, files and
	// annotations that are not Go's own by numbers, and the trace's by "trace".
	Anonymize *Pseudonyms
	// OnEvents, if set, is called with the number of events read since its last call, some
	// thousands at a time.
	OnEvents func(n int)
	// Partial treats a cancelled context as the end of the trace, once there were events: the
	// result covers what was read, and reports that.
	Partial bool
	// OnStacks, if set, is called once, before the first decision: frames reads
	// the handle of a decision's stack as lines, innermost frame first, each a
	// function followed by its place. It may be called in OnDecision, and after Run.
	OnStacks func(frames func(stack int32) []string)
	// OnClasses, if set, is called once, before the first decision: name returns the
	// name of the class with the handle of a decision, as it was known when the class
	// came up; empty if it was not. It may be called in OnDecision, and after Run.
	OnClasses func(name func(class int32) string)
	// OnDecision, if set, is called with every decision, in order, annotations left
	// out. The decision is valid during the call only. An error ends the analysis; a panic
	// in it is reported as one of the caller's.
	OnDecision func(d *reference.Decision) error
	// Observer, if set, sees the decisions and waits as they are measured.
	Observer Observer
	// DecisionsOnly omits all measurements: the result has only Trace and Reconstruction, and
	// Observer is not called. Without OnStacks, OnDecision is called from a goroutine of its
	// own, some thousands of decisions behind; its last call is over when Run returns.
	DecisionsOnly bool
	// NoTimeline omits the timeline: Result.Timeline has only its bounds and the gaps. This
	// saves a tenth of the time, and 30 MB. Pages of package report/html, and comparisons of
	// single traces, need it.
	NoTimeline bool
	// NoWork omits the units of work, to measure their cost.
	NoWork bool
	// NoDetail omits what neither findings nor a replay need: timeline, units of work,
	// breakdowns by class, and stacks.
	NoDetail bool
	// NoFindings omits the detectors.
	NoFindings bool
	// Homes override the functions in which goroutines wait for the next unit of work: each is
	// CLASS@FUNCTION, a start function and the function of the wait, both patterns as in
	// focus.Focus.Classes.
	Homes []string
	// Program overrides the inferred kind of program; empty means inferred. Values that
	// CheckProgramKind rejects are an error.
	Program ProgramKind
	// OnUnit, if set, is called with each whole unit of work, in the order in which they are
	// found. It is called from a goroutine of its own; its last call is over when Run
	// returns.
	OnUnit func(work.Unit)
	// TraceID is an ID of a distributed trace, as in FocusOnTraceID: the log messages by which the
	// program gave it to tasks are kept, however many messages there are. The category of such a
	// message is "trace_id", as package capture writes it.
	TraceID string
	// Without is the set of hypotheses that the reconstruction does not use: see
	// lab/docs/hypotheses.md.
	Without reconstruct.Set
	// Answered, if set, is called with each answer of a hypothesis.
	Answered func(reconstruct.Answer)
}

// errDamaged stands for errors that may quote the trace.
var errDamaged = errors.New("it is damaged")

// Errors for errors.Is, besides errors of the operating system such as fs.ErrNotExist, of
// the context, and of the caller's reader or OnDecision.
var (
	// ErrNoEvents reports that a trace holds nothing that could be analysed.
	ErrNoEvents = errors.New("no events")
	// ErrNotTrace reports that the input is no Go execution trace.
	ErrNotTrace = input.ErrNotTrace
	// ErrEmpty reports that the input has no byte.
	ErrEmpty = input.ErrEmpty
	// ErrUnsupported reports that the input is a trace of a format that cannot be read.
	ErrUnsupported = input.ErrUnsupported
	// ErrMemory reports that the goroutines, Ps and threads alive at one time need more
	// memory than Options.MaxMemory allows.
	ErrMemory = errors.New("too little memory")
)

// Run analyses the trace in src. For a damaged trace the result covers what could be
// read, with warnings; an error means that there is no result. A panic of the analysis is
// returned as a [Bug].
func Run(ctx context.Context, src *input.Source, o Options) (_ *Result, err error) {
	defer catch(src, &err)
	o.Thresholds = cmp.Or(o.Thresholds, all.Default())
	if err := o.Thresholds.Check(); err != nil {
		return nil, fmt.Errorf("thresholds: %w", err)
	}
	if err := CheckCPUs(o.CPUs); o.CPUs != 0 && err != nil {
		return nil, fmt.Errorf("CPUs %v: %w", o.CPUs, err)
	}
	if o.Program != "" {
		if err := CheckProgramKind(o.Program); err != nil {
			return nil, err
		}
	}
	if err := o.Focus.Check(); err != nil {
		return nil, fmt.Errorf("focus: %w", err)
	}
	if o.Kernel != nil && src.Header().V1 {
		return nil, fmt.Errorf("analysing %s: the threads of a trace of Go 1.21 or older have no numbers of the kernel's: its records cannot be used", src.Name())
	}
	o.blame()
	a := newAnalysis(ctx, src, o)
	defer a.stream.Close()
	defer a.steps.wait() // they do not outlive Run
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	if err := a.finish(); err != nil {
		return nil, err
	}
	if err := a.empty(ctx); err != nil {
		return nil, err
	}
	res, err := a.result()
	if err != nil {
		return nil, err
	}
	if err := a.focusMissing(res); err != nil {
		return nil, fmt.Errorf("analysing %s: %w", src.Name(), err)
	}
	return res, nil
}

// analysis is what Run ties together.
type analysis struct {
	Options
	ctx    context.Context // ends the analysis; with Partial it is never done, because its end is that of the trace
	limits lowered
	src    *input.Source

	stream *events.Stream
	rec    *reconstruct.Reconstructor
	steps  *pipeline

	ledger    *ledger.Ledger
	clipper   *focus.Clipper   // nil: the window is the whole trace
	chosen    *focus.Selection // nil: all goroutines
	task      *wantedTasks     // nil: none is looked for
	waits     *waits.Accumulator
	allWaits  *waits.Accumulator // of all goroutines; nil: waits is
	procs     *procs.Accumulator
	fairness  *fairness.Accumulator
	breakdown *breakdown.Accumulator
	timeline  *timeline.Accumulator     // nil: there is no picture
	gaps      *timeline.Gaps            // nil: the timeline has them
	heap      *timeline.HeapAccumulator // nil: nothing is measured
	parked    parked
	stacks    *stacks.Accumulator
	work      *work.Accumulator // nil: units of work are left out
	homes     []homeRule        // of Options.Homes
	machine   *machine          // nil: there are no records of the kernel's
	detectors []findings.Detector
	found     *findings.Set

	lines map[*events.Frame]string // of framesAgain
	texts map[int32][]string       // likewise
	named map[int32]named          // of class

	viewed      events.View // of the block that the step of the work has
	workFrame   map[*events.Frame]*work.Frame
	framed      []*work.Frame               // scratch of that step
	classNames  atomic.Pointer[[]className] // by handle
	failed      failed
	interrupted bool
	full        string // why it was, if not by the caller
	sum         reconstruct.Summary
	rules       RulesApplied // as Options.Rules, in words
}

func newAnalysis(ctx context.Context, src *input.Source, o Options) *analysis {
	if m, _ := src.Sidecar(); m != nil {
		if o.CPUs == 0 {
			o.CPUs = m.HadCPUs()
		}
		if o.TraceID == "" && m.Request != nil {
			o.TraceID = m.Request.TraceID
		}
	}
	a := &analysis{src: src, limits: lower(&o), lines: map[*events.Frame]string{}, texts: map[int32][]string{}, named: map[int32]named{}, workFrame: map[*events.Frame]*work.Frame{}}
	o.Rules, a.rules = ChooseRules(src.Header(), o.Rules)
	a.Options, a.ctx = o, ctx
	if o.Partial {
		a.ctx = context.WithoutCancel(ctx)
	}
	a.stream = events.New(ctx, src, events.Options{Workers: a.limits.workers, Message: traceIDMessage(o.TraceID)})
	if o.OnStacks != nil {
		o.OnStacks(a.frames)
	}
	if o.OnClasses != nil {
		o.OnClasses(func(id int32) string { return a.className(id).shown })
	}
	// The tables of stacks are read by the goroutine that fills them only.
	at := o.OnDecision != nil && (!o.DecisionsOnly || o.OnStacks != nil)
	switch {
	case !o.DecisionsOnly:
		a.measure()
	case o.OnDecision != nil && !at:
		a.steps = newPipeline(a.ctx, func(b *block) { a.failed.call(o.OnDecision, b.Decisions) })
	default:
		a.steps = newPipeline(a.ctx)
	}
	a.rec = reconstruct.New(a.stream.Tables, reconstruct.Options{
		Rules:   a.Rules,
		Reduced: src.Header().V1,
		Without: o.Without, Answered: o.Answered,
		Emit: func(ds []reference.Decision) []reference.Decision {
			if a.failure() != nil {
				return ds[:0]
			}
			if o.OnClasses != nil || a.chosen != nil || o.Observer != nil || a.work != nil {
				a.nameClasses()
			}
			if at {
				a.failed.call(o.OnDecision, ds)
			}
			if a.task != nil {
				a.task.follow(ds)
			}
			return a.steps.add(ds, a.stream.Tables.View)
		},
	})
	return a
}

// measure makes the steps that measure decisions.
func (a *analysis) measure() {
	a.limits.waits.Ended = true
	a.limits.waits.Text, a.limits.waits.Frames = a.label, a.framesAgain
	a.focusOn()
	a.draw()
	a.ledger, a.waits, a.procs = ledger.New(), waits.New(a.limits.waits), procs.New()
	a.ledger.Runs = a.Observer != nil
	if !a.NoDetail {
		a.breakdown = breakdown.New(a.part())
		a.stacks = stacks.New(stacks.Options{Part: a.part()})
	}
	a.fairness = fairness.New()
	a.heap = timeline.NewHeap(a.Focus.From)
	if a.Kernel != nil {
		p := a.part()
		a.machine = &machine{Accumulator: kernel.NewAccumulator(a.Kernel, kernel.Options{From: p.From, To: p.To, Only: p.Only})}
	}
	if !a.NoFindings {
		a.detectors = all.Detectors(a.Thresholds)
	}
	a.found = findings.NewSet(a.detectors)
	steps := []func(*block){
		func(b *block) {
			a.ledger.Annotate(&b.Block)
			a.waits.Ended = b.waited
			a.waits.Add(&b.Block)
			b.waited = a.waits.Ended
			a.mark(b)
			if a.chosen != nil {
				a.allWaits.Add(&b.Block)
			}
			a.clip(b)
		},
		func(b *block) {
			a.procs.Add(b.inside)
			a.fairness.Add(b.inside)
			a.addToTimeline(b)
			if a.NoDetail {
				return
			}
			a.breakdown.Add(&b.Block)
			a.stacks.Add(&b.Block, b.waited)
		},
	}
	if !a.NoFindings {
		steps = append(steps, func(b *block) { a.found.Add(b.inside) })
	}
	if !a.NoWork && !a.NoDetail {
		a.work = work.New(a.units())
		a.heap.OnSwept = func(p int32, from, to int64) {
			a.steps.swept = append(a.steps.swept, work.Stretch{From: from, To: to, P: p})
		}
		steps = append(steps, a.addWork)
	}
	if a.machine != nil {
		steps = slices.Insert(steps, 1, a.follow)
	}
	if a.Observer != nil {
		a.Observer.Begin(a.lookup())
		steps = append(steps, a.observe)
	}
	a.steps = newPipeline(a.ctx, steps...)
}

// draw begins the picture over time, if there is to be one.
func (a *analysis) draw() {
	if a.NoTimeline || a.NoDetail {
		a.gaps = timeline.NewGaps(a.Focus.From)
		return
	}
	a.timeline = timeline.New(a.limits.timeline)
}

// mark has the picture over time keep detail of the longest waits that ended in a block.
func (a *analysis) mark(b *block) {
	b.marked = b.marked[:0]
	if a.timeline == nil {
		return
	}
	for _, w := range a.waits.Longest {
		title := fmt.Sprintf("goroutine %d waits %s", w.G, quantity.Duration(w.To-w.From))
		b.marked = append(b.marked, timeline.Marked{At: w.At, From: w.From, To: w.To, Title: title})
	}
}

// addToTimeline adds what of a block lies in the window to the picture.
func (a *analysis) addToTimeline(b *block) {
	if a.timeline == nil {
		a.gaps.Add(b.inside)
		return
	}
	a.timeline.Add(b.inside, b.waited, b.shift, b.marked...)
}

// picture returns the picture of what ends at end, with detail where a finding is.
func (a *analysis) picture(end int64, fs []findings.Finding) timeline.Result {
	if a.timeline == nil {
		return a.gaps.Finish(end)
	}
	for i := range fs {
		a.timeline.Keep(fs[i].FromNs, fs[i].ToNs, fs[i].ID)
	}
	process := func(name int32) string { return a.Anonymize.process(a.machine.ProcessName(name)) }
	r := a.timeline.Finish(end, timeline.Names{Frames: a.places, Process: process, Note: a.annotation})
	r.Heap = a.heap.Result(end)
	return r
}

// read has the steps take the events of the trace.
func (a *analysis) read(ctx context.Context) error {
	for {
		evs, err := a.stream.Next()
		switch {
		case err == io.EOF:
			drain(a.src)
			return a.startMachine()
		case err != nil && a.Partial && ctx.Err() != nil:
			a.interrupted = true
			a.stream.Close() // src must rest before it is asked how far it came
			return a.startMachine()
		case err != nil:
			return err
		}
		if a.OnEvents != nil {
			a.OnEvents(len(evs))
		}
		if a.heap != nil {
			followHeap(a.heap, evs, a.Focus.To)
		}
		a.parked.follow(evs)
		if err := a.feed(evs); err != nil {
			return err
		}
		a.full = a.limits.full(a.rec.Held(), a.stream.Tables.Memory(), a.src.Memory(a.stream.Stored()))
		if a.full == "" {
			continue
		}
		if !a.Partial {
			return fmt.Errorf("reading %s: %w: %s", a.src.Name(), ErrMemory, a.full)
		}
		a.interrupted = true
		a.stream.Close()
		drain(a.src)
		return a.startMachine()
	}
}

// eventsAtOnce is how many events are reconstructed between two looks whether to go on.
const eventsAtOnce = 1024

// reconstruct hands events to the reconstruction.
func (a *analysis) reconstruct(evs []events.Event) error {
	for some := range slices.Chunk(evs, eventsAtOnce) {
		if err := a.failure(); err != nil {
			return err
		}
		a.rec.Add(some)
	}
	return nil
}

// finish ends the reconstruction, and waits for the steps.
func (a *analysis) finish() error {
	for more := true; more; more = a.rec.Step(eventsAtOnce) {
		if err := a.failure(); err != nil {
			return err
		}
	}
	a.sum = a.rec.Finish()
	a.steps.wait()
	return a.failure()
}

// failure is why the analysis cannot go on, if it cannot.
func (a *analysis) failure() error {
	if bug := a.steps.bug.Load(); bug != nil {
		return bug
	}
	if err := a.failed.err.Load(); err != nil {
		return *err
	}
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	return nil
}

// empty is an error if there was nothing to analyse.
func (a *analysis) empty(ctx context.Context) error {
	st := a.stream.Stats()
	switch {
	case st.Events > st.ByKind[events.Sync]:
		return nil
	case a.interrupted:
		return context.Cause(ctx)
	}
	return nothing(a.src, &st)
}

// result is what the steps have found out, once they have taken all. Between two parts of it
// it looks whether to go on.
func (a *analysis) result() (*Result, error) {
	st := a.stream.Stats()
	end, sum := a.windowEnd(st.End), &a.sum
	res := &Result{
		DecisionsOnly: a.DecisionsOnly,
		Trace:         describe(a.src, a.stream.Tables, &st, sum, a.Anonymize, a.interrupted, a.full),
		Reconstruction: Reconstruction{
			Starts: sum.Starts, Explained: sum.Explained, Ambiguous: sum.Ambiguous, Unexplained: sum.Unexplained,
			BySource: sum.BySource, ByBasis: sum.ByBasis, Corrections: sum.Corrections,
		},
	}
	res.Trace.Rules, res.Trace.CPUs = a.rules, a.CPUs
	warnings := res.Trace.Warnings
	meta, bad := a.src.Sidecar()
	if res.Trace.Sidecar = meta; a.Anonymize != nil {
		res.Trace.Sidecar = meta.Anonymous()
	}
	res.Trace.Warnings = append(a.limits.said, warnings...)
	if bad != "" {
		res.Trace.Warnings = append(res.Trace.Warnings, bad)
	}
	if a.DecisionsOnly {
		return res, nil
	}
	open := a.ledger.Live()
	a.close(st.End)
	var err error
	part := func(add func()) {
		if err == nil {
			err = a.failure()
		}
		if err == nil {
			add()
		}
	}
	part(func() { res.Waits = a.waits.Finish(st.End, open, a.class) })
	part(func() { res.Procs = a.procs.Finish() })
	if !a.NoDetail {
		part(func() { res.Stacks = a.stacksOf(end, open, res.Waits.Classes) })
	}
	if a.clipper != nil {
		open = a.clipper.Live()
	}
	part(func() { a.describeClasses(res.Waits.Classes) })
	part(func() { res.Fairness, res.Pressure = a.fairness.Finish(end, open, a.class) })
	if !a.NoDetail {
		part(func() { res.Breakdown = a.breakdown.Finish(st.End, a.ledger.Live(), a.class) })
	}
	part(func() { err = a.finishMachine(res, st.End) })
	all := res.Waits
	if a.chosen != nil {
		part(func() { all = a.allWaits.Finish(st.End, a.ledger.Live(), a.class) })
	}
	res.Procs.Host(hostNs(all.Classes))
	facts := &findings.Facts{
		EndNs: end, GOMAXPROCS: res.Trace.GOMAXPROCS, CPUs: a.CPUs, Machine: res.Kernel, Bytes: res.Trace.Bytes, LostBytes: res.Trace.LostBytes,
		Warnings: warnings, Reduced: res.Trace.Reduced, Incomplete: res.Trace.Incomplete, Window: a.clipper != nil,
		Starts: sum.Starts, Unexplained: sum.Unexplained,
		TracerNs: sum.TracerNs, Events: res.Trace.Events, Annotations: res.Trace.Tasks + res.Trace.Regions + res.Trace.Logs,
		Waits: all, Procs: res.Procs, Pressure: res.Pressure, Headroom: a.heap.Headroom(),
		ClassName: a.class, Stack: a.framesAgain,
		Label:   a.label,
		Stopped: func() bool { return a.failure() != nil },
	}
	facts.Tested, facts.Tests = testsOf(a.stream.Tables.AllFrames(), a.Anonymize)
	if meta != nil && a.clipper == nil {
		facts.Quota = meta.Quota
	}
	part(func() { res.Findings = a.found.Finish(facts) })
	res.Doubts, res.LeftOut = facts.Doubts, facts.LeftOut
	part(func() { res.Parked = a.parked.finish(facts) })
	part(func() { a.focused(res, facts) })
	part(func() { res.Work = a.workOf(st.End, res.RecordedNs()) })
	part(func() {
		res.Program = a.program(res, facts)
		res.scale()
	})
	res.Trace.Warnings = append(res.Trace.Warnings, a.unusedHomes()...)
	part(func() { res.Timeline = a.picture(end, res.Findings) })
	part(func() { res.Span = spanOf(&facts.Span, a.class, facts.Stack) })
	if err == nil {
		err = a.failure()
	}
	if err != nil {
		return nil, err
	}
	set := configured(a.Thresholds)
	for i, n := range a.found.Found() {
		d := &a.detectors[i]
		res.Detectors = append(res.Detectors, Detector{ID: d.ID, Kind: d.Kind, Title: d.Doc().Title, Found: n, Configured: set[d.ID]})
	}
	return res, nil
}

// describeClasses adds to classes what is known of them apart from their waits.
func (a *analysis) describeClasses(classes []waits.Class) {
	tasks, regions := a.rec.Annotated()
	for i := range classes {
		c := &classes[i]
		if of := a.rec.Class(c.ID); of.Wrapper {
			c.StartedBy = a.Anonymize.Function(of.Start)
		}
		for _, s := range tasks[c.ID] {
			c.Tasks = append(c.Tasks, a.Anonymize.Annotation(s))
		}
		for _, s := range regions[c.ID] {
			c.Regions = append(c.Regions, a.Anonymize.Annotation(s))
		}
	}
}

// class returns the names of a class, for the result.
func (a *analysis) class(id int32) (name, creator string) {
	n, ok := a.named[id]
	if !ok {
		c := a.rec.Class(id)
		n.name, n.creator = a.Anonymize.class(c), a.Anonymize.Function(c.Creator)
		a.named[id] = n
	}
	return n.name, n.creator
}

// named is what class returns.
type named struct{ name, creator string }

// nameClasses makes the names of the classes that came up since known to className.
func (a *analysis) nameClasses() {
	var names []className
	if known := a.classNames.Load(); known != nil {
		names = *known
	}
	from := len(names)
	for id := int32(from); id < a.rec.Classes(); id++ {
		c := a.rec.Class(id)
		names = append(names, className{a.Anonymize.class(c), (*Pseudonyms)(nil).class(c), c.Start, c.Does, c.Creator, c.Call})
	}
	if len(names) > from {
		a.classNames.Store(&names)
	}
}

// className is what a class is called as long as the analysis goes on.
type className struct {
	shown, own, start, does, creator string
	call                             int
}

func (a *analysis) className(id int32) (n className) {
	if names := a.classNames.Load(); names != nil && uint(id) < uint(len(*names)) {
		n = (*names)[id]
	}
	return n
}

// annotation returns a type of tasks or regions, logged what a log says.
func (a *analysis) annotation(h int32) string {
	return a.Anonymize.Annotation(a.stream.Tables.Name(events.Handle(h)))
}

func (a *analysis) logged(h int32) string {
	return a.Anonymize.noted(aLog, a.stream.Tables.Name(events.Handle(h)))
}

// label returns a text of the trace.
func (a *analysis) label(h int32) string {
	return a.Anonymize.reason(a.stream.Tables.Name(events.Handle(h)))
}

// frames renders a stack for people, innermost frame first.
func (a *analysis) frames(h int32) []string {
	var out []string
	for _, f := range a.stream.Tables.Frames(events.Handle(h)) {
		out = append(out, a.Anonymize.frame(f))
	}
	return out
}

// framesAgain is frames for the result: a few frames are in most of its stacks, and most
// stacks are asked for again. What it returns must not be changed. It is called by the
// goroutine of Run only.
func (a *analysis) framesAgain(h int32) []string {
	out, ok := a.texts[h]
	if ok {
		return out
	}
	for _, f := range a.stream.Tables.Frames(events.Handle(h)) {
		line, ok := a.lines[f]
		if !ok {
			line = a.Anonymize.frame(f)
			a.lines[f] = line
		}
		out = append(out, line)
	}
	a.texts[h] = out
	return out
}

// failed is the first error of Options.OnDecision or Options.Observer, which may be
// called from other goroutines than the one that looks.
type failed struct{ err atomic.Pointer[error] }

func (x *failed) fail(err error) { x.err.CompareAndSwap(nil, &err) }

// call calls f with each decision, unless it has failed before.
func (x *failed) call(f func(*reference.Decision) error, ds []reference.Decision) {
	for i := range ds {
		if x.err.Load() != nil {
			return
		}
		if ds[i].Kind.Annotates() {
			continue
		}
		if err := f(&ds[i]); err != nil {
			x.fail(err)
		}
	}
}

// drain reads what is left of a trace, if the stream ended before: how far it was
// read by then is chance.
func drain(src *input.Source) {
	for err := error(nil); err == nil; {
		_, err = src.Next()
	}
}
