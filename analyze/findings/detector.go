package findings

import (
	"cmp"
	"embed"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/analyze/span"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Detector describes a detector, which looks for one kind of trouble, and creates its Watchers.
type Detector struct {
	ID   string // also the name of its directory; it never changes its meaning
	Kind Kind   // what its findings are about
	// Explains are the IDs of detectors whose findings its own may explain. With Delays they may
	// explain all symptoms, too.
	Explains []string
	Delays   bool
	// Remedy is the simulation that stands for its advice, or the reason why none does.
	Remedy Remedy
	// NeedsQueues reports whether it judges run queues, so that it is silent for reduced traces.
	NeedsQueues bool
	// Strains reports whether its findings of at least a warning set Facts.Strained, as those of
	// KindMachine do, so that it finishes before the others.
	Strains bool
	// Counted reports whether its evidence is counts, which a lack of CPUs cannot feign, rather
	// than durations.
	Counted bool
	// InLine are the causes of waiting for which its victims only stood in line. Where that was
	// most of their waiting, and no goroutine waited for one of them, its findings are notes.
	InLine []waits.Cause
	// MaybeMeant reports whether what it notes may be by design, such as a pace or a limit.
	MaybeMeant bool
	// AnyLength reports whether its findings hold for short recordings, too.
	AnyLength bool
	// LongRuns reports whether the goroutines that it blames had long run intervals.
	LongRuns bool
	// CostOf is the whole of which the costs of its findings are a part; OfWaiting if it is
	// empty.
	CostOf CostBase
	// New returns a Watcher for the stream that a View follows. It must not be nil.
	New func(view *View) Watcher
}

// Watcher is a detector at work on one stream. When it is made it subscribes to events of the [View],
// from which it collects what it needs.
type Watcher interface {
	// Finish returns the findings, in any order; none if nothing is wrong. It is called once, after
	// the end of the stream.
	Finish(f *Facts) []Finding
}

// Facts are the results of the other steps of the analysis, which detectors use in Finish:
// totals of the trace, its waits, classes and work. Times are ns.
type Facts struct {
	EndNs      int64           // time of the last event, since the first one
	GapsNs     int64           // time before EndNs that is not recorded. A [Set] fills it in
	GOMAXPROCS int             // largest value
	CPUs       float64         // number of CPUs that the process had, if given; else 0
	Quota      *sidecar.Quota  // CPU quota and its use during the recording; nil if unknown
	Bytes      int64           // size of the trace, uncompressed, in bytes
	Machine    *kernel.Machine // result of the kernel's records; nil without records
	LostBytes  int64           // part of Bytes that could not be read
	Warnings   []string        // what is missing in the trace, or odd, for users
	Reduced    bool            // a trace of Go 1.21 or before, of which queues are not rebuilt
	Incomplete bool            // events are missing, or may be
	Window     bool            // a window of the trace is judged

	Starts      int64 // number of transitions from runnable to running
	Unexplained int64 // of them, those that no rule of the scheduler explains
	TracerNs    int64 // P-time of the tracer's goroutines
	Events      int64 // number of events in the trace
	// Annotations is the number of regions and tasks that began, and of logs.
	Annotations int64

	Tested string // import path of the package under test; "" if none is
	Tests  Tests  // tests that the trace shows

	// Results of the accumulators.
	Waits    waits.Result      // waits for a P
	Procs    procs.Result      // what the Ps did
	Pressure fairness.Pressure // share of the time in which goroutines of the program were runnable
	Headroom timeline.Headroom // how much the heap may grow between two cycles of the garbage collector

	// ClassName returns start function and creator of the class with a handle. If it is nil,
	// no class has a name.
	ClassName func(class int32) (name, creator string)
	// Stack returns the frames of the stack with a handle, innermost first, each as
	// "func (file:line)". If it is nil, there are no stacks.
	Stack func(handle int32) []string
	// Label returns the text of a decision's Label. If it is nil, labels have no text.
	Label func(handle int32) string
	// Stopped reports whether the findings are not needed any more; nil means never.
	Stopped func() bool

	// BlockedNs is the total time, in ns, that goroutines of the program were blocked before a
	// wake-up, or in a system call that lost its P. A [Set] fills it in.
	BlockedNs int64
	// Span is the work and the critical path of the program. A [Set] fills it in.
	Span span.Result
	// Strained reports whether threads seem to have lacked CPUs: see [View.Strained] and
	// [Detector.Strains]. A [Set] fills it in.
	Strained bool
	// Stalls sum up for how long threads with a P did nothing. A [Set] fills it in.
	Stalls Stalls
	// Doubts are the doubts to which findings refer. A [Set] fills it in.
	Doubts []Doubt
	// Silent are the IDs of the detectors that could not judge this trace. A [Set] fills it
	// in.
	Silent []string

	// LeftOut counts the actions of package testing that no finding is about. A [Set] fills it in.
	LeftOut LeftOut

	owned map[int32]owned // of stacks: see Own
	parts map[int32]Part  // of stacks: see Part
}

// Class returns an actor with a role, [Victim] or [Cause], for the class with a handle. If its start
// function is unknown, Actor.Class says so in words.
func (f *Facts) Class(role string, class int32) Actor {
	a := Actor{Role: role, Tested: f.Tested}
	if f.ClassName != nil && class != 0 {
		a.Class, a.Creator = f.ClassName(class)
	}
	a.Class = cmp.Or(a.Class, "goroutines of unknown start function")
	return a
}

// Actor returns an actor with a role, [Victim] or [Cause], for the goroutine with ID g of a class, at a
// stack; class and stack are handles.
func (f *Facts) Actor(role string, class int32, g int64, stack int32) Actor {
	a := f.Class(role, class)
	a.G, a.Stack = g, f.Frames(stack)
	return a
}

// Named is [Facts.Class] with another name for the class; "" leaves it as it is.
func (f *Facts) Named(role string, class int32, name string) Actor {
	a := f.Class(role, class)
	a.Class = cmp.Or(name, a.Class)
	return a
}

// Name returns the start function of the class with a handle, or words that say that it is unknown.
func (f *Facts) Name(class int32) Name { return Name(f.Class("", class).Class) }

// Frames returns the stack with a handle as lines "function (file:line)", innermost frame first; nil
// if it is unknown, as for handle 0.
func (f *Facts) Frames(handle int32) []string {
	if f.Stack == nil || handle == 0 {
		return nil
	}
	return f.Stack(handle)
}

// RecordedNs returns the duration without gaps, in ns: the base of rates and shares.
func (f *Facts) RecordedNs() int64 { return f.EndNs - f.GapsNs }

// PT returns the recorded P-time, in ns: duration × GOMAXPROCS, without gaps. It is the base of shares
// of P-time.
func (f *Facts) PT() int64 { return f.Procs.PTime(f.GOMAXPROCS, f.EndNs) }

// BusyNs returns the P-time in which Ps were not idle, in ns: PT without the time in which a P had no
// thread.
func (f *Facts) BusyNs() int64 {
	busy := f.PT()
	for i := range f.Procs.Ps {
		busy -= f.Procs.Ps[i].IdleNs
	}
	return busy
}

// whole is how much there is in the trace of what a cost can be a part of.
func (f *Facts) whole(of CostBase) int64 {
	ns := f.Waits.User.SeenNs() + f.Waits.Self.SeenNs()
	if of == OfBlocked {
		return ns + f.BlockedNs
	}
	for i := range f.Procs.Ps {
		p := &f.Procs.Ps[i]
		if of == OfIdle || of == OfPTime {
			ns += p.IdleNs + p.SchedNs + p.StoppedNs + p.SyscallNs
		}
		if of == OfPTime {
			ns += p.RunningNs + p.SystemNs + p.GCNs + p.TracerNs
		}
	}
	return ns
}

// Share returns ns as a share of the recorded time; 0 for an empty trace.
func (f *Facts) Share(ns int64) float64 { return quantity.Ratio(ns, max(0, f.RecordedNs())) }

//go:embed */doc.md
var docs embed.FS

// Doc returns the explanation of the detector, its doc.md. Doc.Title is its second paragraph, at most
// 60 letters, without capital and period; Doc.Text is all of it, in Markdown, with the sections that the
// tests of package all name. Both are empty if there is no doc.md.
func (d *Detector) Doc() Doc {
	text, _ := docs.ReadFile(d.ID + "/doc.md") // tests have detectors without
	_, title, _ := strings.Cut(string(text), "\n\n")
	title, _, _ = strings.Cut(title, ".\n")
	if title != "" {
		title = strings.ToLower(title[:1]) + title[1:]
	}
	return Doc{d.ID, title, string(text)}
}

// Doc is the explanation of one detector, for users, as "gmpscope explain" prints it.
type Doc struct {
	ID    string `json:"id"`    // ID of the detector
	Title string `json:"title"` // what it looks for, in a few words
	Text  string `json:"text"`  // explanation, in Markdown
}

// Section returns the text, without heading, of the section with a title, such as "What to do", in an
// explanation like Doc.Text. It is not ok if there is none.
func Section(doc, title string) (text string, ok bool) {
	_, rest, ok := strings.Cut("\n"+doc, "\n## "+title+"\n")
	if !ok {
		return "", false
	}
	text, _, _ = strings.Cut(rest, "\n## ")
	return strings.TrimSpace(text), true
}
