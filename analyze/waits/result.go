package waits

// Cause specifies why a runnable goroutine did not run at some instant. The package
// comment defines each exactly; gmpscope explain has more.
type Cause string

// The causes, in the order in which they are tried: the first that holds at an
// instant owns it.
const (
	CauseSTW         Cause = "world-stopped"      // the world is stopped, or its P already is
	CauseUnavailable Cause = "p-unavailable"      // its P is in a system call, or in a hand-over to a locked thread
	CauseGC          Cause = "garbage-collector"  // its P runs a mark worker
	CauseIdlePWaking Cause = "p-waking-up"        // the P that then ran it had been started and looked for work
	CauseIdlePMissed Cause = "idle-p-available"   // a P was idle and did not take it
	CauseBehind      Cause = "queueing"           // goroutines that became runnable earlier ran
	CauseOvertaken   Cause = "overtaken"          // goroutines that became runnable later ran
	CauseTracer      Cause = "tracer"             // the tracer's own goroutines ran
	CauseResidue     Cause = "scheduler-overhead" // between goroutines: scheduler, thread wake-up, operating system
)

// Causes lists all causes in their order.
func Causes() []Cause {
	return []Cause{
		CauseSTW, CauseUnavailable, CauseGC, CauseIdlePWaking, CauseIdlePMissed,
		CauseBehind, CauseOvertaken, CauseTracer, CauseResidue,
	}
}

// NumCauses is how many there are.
const NumCauses = numCauses

// CauseTime is the waiting time that one cause owns.
type CauseTime struct {
	Cause Cause `json:"cause"` // who owns it
	Ns    int64 `json:"ns"`    // waiting time that it owns
}

// CauseNs is the time, ns, that a cause owns.
func CauseNs(cs []CauseTime, c Cause) int64 {
	for _, e := range cs {
		if e.Cause == c {
			return e.Ns
		}
	}
	return 0
}

// Quantiles of waits. The plain ones count every wait once; the time-weighted
// ones count every nanosecond of waiting once, so they say what a goroutine
// lives through that is waiting at a random instant.
type Quantiles struct {
	P50 int64 `json:"p50_ns"` // half of them are at most this
	P90 int64 `json:"p90_ns"` // 90 % of them are at most this
	P99 int64 `json:"p99_ns"` // 99 % of them are at most this
}

// Summary is the account of a set of waits. Causes sum to TotalNs exactly.
// Quantiles carry the error of the histogram: at most 0.1 % (in a [Class] 1 %);
// waits of more than an hour count as one hour there, and only there.
type Summary struct {
	Count        int64              `json:"count"`         // waits that ended
	TotalNs      int64              `json:"total_ns"`      // their sum
	P50          int64              `json:"p50_ns"`        // half of the waits are at most this: each counts once
	P90          int64              `json:"p90_ns"`        // 90 % of the waits are at most this
	P99          int64              `json:"p99_ns"`        // 99 % of the waits are at most this
	P999         int64              `json:"p999_ns"`       // 99.9 % of the waits are at most this
	MaxNs        int64              `json:"max_ns"`        // the longest
	TimeWeighted Quantiles          `json:"time_weighted"` // percentiles: each nanosecond of waiting counts once
	TailMass     map[string]float64 `json:"tail_mass"`     // share of TotalNs in waits longer than "1ms" and "10ms"
	Causes       []CauseTime        `json:"causes"`        // all causes, in a fixed order
	// BehindLongNs is the part of behind and overtaken spent under one run interval
	// longer than a time slice, open waits included.
	BehindLongNs int64 `json:"behind_long_ns"`
	OpenCount    int64 `json:"open_count"` // waits not over when the trace ended; not in Count
	OpenNs       int64 `json:"open_ns"`    // for how long those had lasted; not in TotalNs
	// CutNs is for how long those waited whose end a gap or damage hides, as far as
	// they were seen: not in Count and TotalNs. Absent if none.
	CutNs     int64    `json:"cut_ns,omitempty"`
	Histogram []Bucket `json:"histogram,omitempty"` // distribution by powers of two; absent in classes
	// Levels are the distribution that the quantiles were taken of, shortest first: what
	// adds up over traces.
	Levels []FilledBucket `json:"-"`
}

// FilledBucket is a bucket of a distribution that is not empty.
type FilledBucket struct {
	Ns    int64 // a wait of it: of a [Class] the least, else the middle
	Count int64 // waits in it
}

// SeenNs is all waiting that the trace shows: also that which was not over when
// it ended, or whose end it does not show.
func (s *Summary) SeenNs() int64 { return s.TotalNs + s.OpenNs + s.CutNs }

// Bucket is one bar of the distribution of waits: those in [FromNs, ToNs), a
// power of two. Count and SumNs are exact. Empty bars are left out.
type Bucket struct {
	FromNs int64 `json:"from_ns"` // waits of at least this
	ToNs   int64 `json:"to_ns"`   // and of less than this
	Count  int64 `json:"count"`   // how many, exactly
	SumNs  int64 `json:"sum_ns"`  // their sum, exactly
}

// Result is what the package hands on.
type Result struct {
	All     Summary      `json:"all"`     // every wait
	User    Summary      `json:"user"`    // without the runtime's and tracer's goroutines and self-inflicted waits
	Self    Summary      `json:"self"`    // after runtime.Gosched: the goroutine asked for it
	System  Summary      `json:"system"`  // the runtime's and the tracer's goroutines
	Classes []Class      `json:"classes"` // by total wait, longest first
	Worst   []WaitDetail `json:"worst"`   // the longest waits that count in User, longest first
	// OverTime is User by cause over time.
	OverTime OverTime `json:"over_time"`
}

// Class is the set of goroutines with equal start function and creator. The one
// with ID [ClassOthers] stands for all that have no account of their own.
type Class struct {
	ID          int32        `json:"id"`
	Name        string       `json:"name"`                 // start function, or what it was given and what it is; "" if unknown
	Creator     string       `json:"creator"`              // function that executed the go statement
	StartedBy   string       `json:"started_by,omitempty"` // start function, where classes are told apart by what it was given; "" else
	System      bool         `json:"system,omitempty"`
	Goroutines  int64        `json:"goroutines"`
	Starts      int64        `json:"starts"`
	RunningNs   int64        `json:"running_ns"`
	Waits       Summary      `json:"waits"`
	Unasked     *Summary     `json:"-"` // of Waits, those that it did not ask for; nil for all
	Causes      []CauseTime  `json:"causes"`
	Antagonists []Antagonist `json:"antagonists"`     // who held the P while this class waited in its queue, most first
	Held        []PHold      `json:"held"`            // what kept Ps from running anyone meanwhile, most first; at most 32
	Worst       []WaitDetail `json:"worst,omitempty"` // its longest waits, user goroutines only
	// WokenBy reports who made its goroutines runnable, and BlockedBefore what they were
	// blocked on before, both by the waiting that followed, most first.
	WokenBy       []Waker         `json:"woken_by"`
	BlockedBefore []BlockedBefore `json:"blocked_before"`
	// Tasks and Regions are the types of the user tasks and regions that its
	// goroutines began, those begun most often first. Not all, if they are many.
	Tasks   []string `json:"tasks,omitempty"`
	Regions []string `json:"regions,omitempty"`
	// Series are those of its waits that count in [Result.User] over time, for drawings; nil if there
	// are none.
	Series *Series `json:"-"`
}

// User are the waits of a class that count in [Result.User]: without those after runtime.Gosched.
// Where it has such, the summary has no quantiles.
func (c *Class) User() *Summary {
	if c.Unasked != nil {
		return c.Unasked
	}
	return &c.Waits
}

// PHold is what a class, or one goroutine, waited for where no goroutine ran ahead of
// it. In a [Class], Ns sums to the causes stw, p-unavailable, gc and
// idle-p-available over all, with these exceptions: open waits count in Ns already;
// what is left after the first 32; a stop-the-world, for those in no queue; Ps
// that never had a thread, while the world stops; p-waking-up includes what
// happened to the other Ps, for those in the global queue; where more than 16 classes wait in one queue,
// some are charged to class [ClassOthers]; and for the last of the causes, a
// goroutine is charged when it leaves a queue. Of a single wait it is what its P, or
// for the global queue that on which it ran in the end, did meanwhile.
type PHold struct {
	Cause Cause `json:"cause"` // "world-stopped", "p-unavailable", "garbage-collector" or "idle-p-available"
	// Reason is, for "world-stopped", the runtime's reason; for "p-unavailable", "system call",
	// or "locked" for a hand-over to a locked thread; for "garbage-collector", "mark worker".
	Reason  string   `json:"reason"`
	Class   int32    `json:"class"`   // whose system call it was, or the mark worker's; 0 else
	Name    string   `json:"name"`    // start function of that class; empty if none
	Creator string   `json:"creator"` // function that executed the go statement; empty if none
	Stack   []string `json:"stack"`   // where the longest such system call was made, innermost frame first, at most 8
	// P is, for "idle-p-available", the P that had been idle longest when the wait
	// ended; -1 if that one never had a thread, and for other causes.
	P  int32 `json:"p"`
	Ns int64 `json:"ns"` // goroutine-time of waiting
}

// Antagonist is a class that ran while another waited. Over all antagonists, Ns
// sums to the causes behind and overtaken of the class, with two exceptions:
// open waits count in Ns already; and where more than 16 classes wait in one
// queue, some are charged to class [ClassOthers] instead.
type Antagonist struct {
	Class   int32  `json:"class"`   // who ran
	Name    string `json:"name"`    // start function of the class
	Creator string `json:"creator"` // function that executed the go statement
	Ns      int64  `json:"ns"`      // goroutine-time of waiting spent under its run intervals
}

// WaitDetail describes one wait from beginning to end.
type WaitDetail struct {
	G       int64       `json:"g"`       // the goroutine
	Class   int32       `json:"class"`   // its class
	Name    string      `json:"name"`    // start function of the class
	Creator string      `json:"creator"` // function that executed the go statement
	FromNs  int64       `json:"from_ns"` // beginning of the wait
	ToNs    int64       `json:"to_ns"`   // its end
	WaitNs  int64       `json:"wait_ns"` // how long it was
	P       int32       `json:"p"`       // where it ran in the end
	Source  string      `json:"source"`  // where it was taken from, as "src" of dump
	Basis   string      `json:"basis"`   // how that is known, as "basis" of dump
	Causes  []CauseTime `json:"causes"`  // they sum to WaitNs
	Path    []Step      `json:"path"`    // the queues that it stood in, at most 16
	Ahead   []RanAhead  `json:"ahead"`   // who ran on its P meanwhile, most first, at most 8
	// MoreSteps is the number of stations after the last in Path; absent if none.
	MoreSteps int `json:"more_steps,omitempty"`
	// AheadFromNs is the time from which on Ahead, Runs and Held are complete;
	// FromNs, unless the wait reaches back further than what is kept of the P's past.
	AheadFromNs int64 `json:"ahead_from_ns"`
	// Runs are the run intervals behind Ahead in order, at most the 32 longest.
	Runs     []Run   `json:"runs"`
	MoreRuns int     `json:"more_runs,omitempty"` // number of the others; absent if none
	Held     []PHold `json:"held"`                // what else kept its P meanwhile, most first; at most 8
	Victim   int32   `json:"victim"`              // the P that it was stolen from; -1 if it was not
	Batch    int32   `json:"batch"`               // how many were taken together; 0 if it was no batch
	// By is who made it runnable; absent if it was no goroutine.
	By *By `json:"by,omitempty"`
	// BlockedOn is what it was blocked on before, as in "blocked" of a life; absent if it
	// was not, or that is not known.
	BlockedOn string `json:"blocked_on,omitempty"`
	BlockedNs int64  `json:"blocked_ns,omitempty"` // for how long; absent as BlockedOn is
	// After is why the goroutine before stopped on the P that ran it, as "why" of
	// dump; "p-start" if the P had just got a thread.
	After string `json:"after"`
}

// By is a goroutine that made another runnable.
type By struct {
	G     int64    `json:"g"`     // its number
	Class int32    `json:"class"` // its class; 0 if it is not known
	Name  string   `json:"name"`  // start function of the class; empty if it is not known
	Stack []string `json:"stack"` // where it did so, innermost frame first, at most 8
}

// Run is a run interval of a goroutine, as far as it lies within a wait.
type Run struct {
	G      int64  `json:"g"`       // who ran
	Class  int32  `json:"class"`   // its class
	Name   string `json:"name"`    // start function of the class
	FromNs int64  `json:"from_ns"` // when, as far as the wait overlaps it
	ToNs   int64  `json:"to_ns"`   // until when
	End    string `json:"end"`     // why it stopped, as "why" of dump; empty if it had not yet
	Later  bool   `json:"later"`   // it became runnable after the goroutine that waits
}

// Step is one station of a waiting goroutine.
type Step struct {
	AtNs  int64  `json:"at_ns"` // when it came there
	Queue string `json:"queue"` // "runnext", "local", "global", "direct" or "unknown"
	P     int32  `json:"p"`     // whose queue; -1 for the global one
	Why   string `json:"why"`   // what brought it there, as "why" of dump
}

// RanAhead is a class that ran while one goroutine waited.
type RanAhead struct {
	Class int32  `json:"class"` // who ran
	Name  string `json:"name"`  // start function of the class
	Ns    int64  `json:"ns"`    // for how long
	Runs  int64  `json:"runs"`  // in how many run intervals
}
