package waits

// Cause says why a runnable goroutine did not run at some instant. The package
// comment defines each exactly, after detectors.md, "the decomposition behind
// all of them".
type Cause string

// The causes, in the order in which they are tried: the first that holds at an
// instant owns it.
const (
	CauseSTW         Cause = "stw"           // the world is stopped, or its P already is
	CauseUnavailable Cause = "p-unavailable" // its P is in a system call, or in a hand-over to a locked thread
	CauseGC          Cause = "gc"            // its P runs a mark worker
	CauseIdlePWaking Cause = "idle-p/waking" // the P that then ran it had been started and looked for work
	CauseIdlePMissed Cause = "idle-p/missed" // a P was idle and did not take it
	CauseBehind      Cause = "behind"        // goroutines that became runnable earlier ran
	CauseOvertaken   Cause = "overtaken"     // goroutines that became runnable later ran
	CauseTracer      Cause = "tracer"        // the tracer's own goroutines ran
	CauseResidue     Cause = "residue"       // between goroutines: scheduler, thread wake-up, operating system
)

// Causes lists all causes in their order.
func Causes() []Cause {
	return []Cause{
		CauseSTW, CauseUnavailable, CauseGC, CauseIdlePWaking, CauseIdlePMissed,
		CauseBehind, CauseOvertaken, CauseTracer, CauseResidue,
	}
}

// CauseTime is the waiting time that one cause owns.
type CauseTime struct {
	Cause Cause `json:"cause"`
	Ns    int64 `json:"ns"`
}

// Quantiles of waits. The plain ones count every wait once; the time-weighted
// ones count every nanosecond of waiting once, so they say what a goroutine
// lives through that is waiting at a random instant.
type Quantiles struct {
	P50 int64 `json:"p50_ns"`
	P90 int64 `json:"p90_ns"`
	P99 int64 `json:"p99_ns"`
}

// Summary is the account of a set of waits. Causes sum to TotalNs exactly.
// Quantiles carry the error of the histogram: at most 0.1 % (in a [Class] 1 %);
// waits of more than an hour count as one hour there, and only there.
type Summary struct {
	Count        int64              `json:"count"`
	TotalNs      int64              `json:"total_ns"`
	P50          int64              `json:"p50_ns"`
	P90          int64              `json:"p90_ns"`
	P99          int64              `json:"p99_ns"`
	P999         int64              `json:"p999_ns"`
	MaxNs        int64              `json:"max_ns"`
	TimeWeighted Quantiles          `json:"time_weighted"`
	TailMass     map[string]float64 `json:"tail_mass"` // "1ms", "10ms": share of TotalNs in waits longer than that
	Causes       []CauseTime        `json:"causes"`
	BehindLongNs int64              `json:"behind_long_ns"` // part of behind and overtaken spent under one run interval longer than a time slice, open waits included
	OpenCount    int64              `json:"open_count"`     // still runnable when the trace ended; not in Count
	OpenNs       int64              `json:"open_ns"`
	CutNs        int64              `json:"cut_ns,omitempty"` // of waits whose end a gap or damage hides, as far as they were seen; not in TotalNs
	Histogram    []Bucket           `json:"histogram,omitempty"`
}

// SeenNs is all waiting that the trace shows: also that which was not over when
// it ended, or whose end it does not show.
func (s *Summary) SeenNs() int64 { return s.TotalNs + s.OpenNs + s.CutNs }

// Bucket is one bar of the distribution of waits: those in [FromNs, ToNs), a
// power of two. Count and SumNs are exact. Empty bars are left out.
type Bucket struct {
	FromNs int64 `json:"from_ns"`
	ToNs   int64 `json:"to_ns"`
	Count  int64 `json:"count"`
	SumNs  int64 `json:"sum_ns"`
}

// Result is what the package hands on.
type Result struct {
	All     Summary `json:"all"`     // every wait
	User    Summary `json:"user"`    // without the runtime's and tracer's goroutines and self-inflicted waits
	Self    Summary `json:"self"`    // after runtime.Gosched: the goroutine asked for it
	System  Summary `json:"system"`  // the runtime's and the tracer's goroutines
	Classes []Class `json:"classes"` // by total wait, longest first
	Worst   []Story `json:"worst"`   // the longest waits that count in User, longest first
	// OverTime is User by cause over time.
	OverTime OverTime `json:"over_time"`
}

// Class is the set of goroutines with equal start function and creator. The one
// with ID [ClassOthers] stands for all that have no account of their own.
type Class struct {
	ID          int32        `json:"id"`
	Name        string       `json:"name"`    // start function; "" if the trace does not show it
	Creator     string       `json:"creator"` // function that executed the go statement
	System      bool         `json:"system,omitempty"`
	Goroutines  int64        `json:"goroutines"`
	Starts      int64        `json:"starts"`
	RunningNs   int64        `json:"running_ns"`
	Waits       Summary      `json:"waits"`
	Causes      []CauseTime  `json:"causes"`
	Antagonists []Antagonist `json:"antagonists"`     // who held the P while this class waited in its queue, most first
	Held        []Held       `json:"held"`            // what kept Ps from running anyone meanwhile, most first; at most 32
	Worst       []Story      `json:"worst,omitempty"` // its longest waits, user goroutines only
	// Tasks and Regions are the types of the user tasks and regions that its
	// goroutines began, those begun most often first. Not all, if they are many.
	Tasks   []string `json:"tasks,omitempty"`
	Regions []string `json:"regions,omitempty"`
}

// Held is what a class, or one goroutine, waited for where nobody ran ahead of
// it. In a [Class], Ns sums to the causes stw, p-unavailable, gc and
// idle-p/missed over all, with these exceptions: open waits count in Ns already;
// what is left after the first 32; a stop-the-world, for those in no queue; Ps
// that never had a thread, while the world stops; idle-p/waking includes what
// happened to the other Ps, for those in the global queue; where more than 16 classes wait in one queue,
// some are charged to class [ClassOthers]; and for the last of the causes, a
// goroutine is charged when it leaves a queue. In a [Story] it is what its P, or
// for the global queue that on which it ran in the end, did meanwhile.
type Held struct {
	Cause   Cause    `json:"cause"`
	Reason  string   `json:"reason"`  // stw: the runtime's reason; p-unavailable: system call, or locked for a hand-over to a locked thread; gc: mark worker
	Class   int32    `json:"class"`   // whose system call, or the mark worker's; else 0
	Name    string   `json:"name"`    // of that class
	Creator string   `json:"creator"` // of that class
	Stack   []string `json:"stack"`   // of the longest such system call, innermost frame first; at most 8
	P       int32    `json:"p"`       // idle-p/missed: the P that had been idle longest when the wait ended; -1: one that never had a thread
	Ns      int64    `json:"ns"`      // goroutine-ns of waiting
}

// Antagonist is a class that ran while another waited. Over all antagonists, Ns
// sums to the causes behind and overtaken of the class, with two exceptions:
// open waits count in Ns already; and where more than 16 classes wait in one
// queue, some are charged to class [ClassOthers] instead.
type Antagonist struct {
	Class   int32  `json:"class"`
	Name    string `json:"name"`
	Creator string `json:"creator"`
	Ns      int64  `json:"ns"` // goroutine-ns of waiting spent under its run intervals
}

// Story tells one wait from beginning to end.
type Story struct {
	G       int64       `json:"g"`
	Class   int32       `json:"class"`
	Name    string      `json:"name"`
	Creator string      `json:"creator"`
	FromNs  int64       `json:"from_ns"`
	ToNs    int64       `json:"to_ns"`
	WaitNs  int64       `json:"wait_ns"`
	P       int32       `json:"p"`      // where it ran in the end
	Source  string      `json:"source"` // taken from
	Basis   string      `json:"basis"`
	Causes  []CauseTime `json:"causes"`
	Path    []Step      `json:"path"`  // at most 16
	Ahead   []Ahead     `json:"ahead"` // who ran on its P meanwhile, most first; at most 8
	// MoreSteps is the number of stations after the last in Path.
	MoreSteps int `json:"more_steps,omitempty"`
	// AheadFromNs is the time from which on Ahead is complete; FromNs, unless the
	// wait reaches back further than what is kept of the P's past.
	AheadFromNs int64 `json:"ahead_from_ns"`
	// Runs are the run intervals of Ahead in order, at most the 32 longest, and
	// MoreRuns the number of the others.
	Runs     []Run  `json:"runs"`
	MoreRuns int    `json:"more_runs,omitempty"`
	Held     []Held `json:"held"` // what else kept the P, most first; at most 8
	// What ended the wait: a start from Source; by a steal from Victim, else -1;
	// the first of Batch, 0 if it was no batch; After is why P's goroutine before
	// stopped, or p-start if P had just got a thread.
	Victim int32  `json:"victim"`
	Batch  int32  `json:"batch"`
	After  string `json:"after"`
}

// Run is a run interval of a goroutine, as far as it lies within a wait.
type Run struct {
	G      int64  `json:"g"`
	Class  int32  `json:"class"`
	Name   string `json:"name"`
	FromNs int64  `json:"from_ns"`
	ToNs   int64  `json:"to_ns"`
	End    string `json:"end"`   // why it stopped; "" if it had not yet
	Later  bool   `json:"later"` // it became runnable after the goroutine that waits
}

// Step is one station of a waiting goroutine.
type Step struct {
	AtNs  int64  `json:"at_ns"`
	Queue string `json:"queue"` // runnext, local, global, direct, unknown
	P     int32  `json:"p"`     // whose queue; -1: the global one
	Why   string `json:"why"`
}

// Ahead is a class that ran while one goroutine waited.
type Ahead struct {
	Class int32  `json:"class"`
	Name  string `json:"name"`
	Ns    int64  `json:"ns"`
	Runs  int64  `json:"runs"`
}
