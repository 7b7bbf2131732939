package waits

// Cause is a reason why a runnable goroutine did not run at some instant. The package
// comment defines each exactly.
type Cause string

// The causes, in the order in which they are tried: the first that holds at an
// instant owns it.
const (
	CauseSTW            Cause = "world-stopped"      // the world is stopped, or its P already is
	CauseUnavailable    Cause = "p-unavailable"      // its P is in a system call, or in a hand-over to a locked thread
	CauseGC             Cause = "garbage-collector"  // its P runs a mark worker
	CausePWakingUp      Cause = "p-waking-up"        // the P that then ran it had been started and looked for work
	CauseIdlePAvailable Cause = "idle-p-available"   // a P was idle and did not take it
	CauseQueueing       Cause = "queueing"           // goroutines that became runnable earlier ran
	CauseOvertaken      Cause = "overtaken"          // goroutines that became runnable later ran
	CauseTracer         Cause = "tracer"             // the tracer's own goroutines ran
	CauseOverhead       Cause = "scheduler-overhead" // between goroutines: scheduler, thread wake-up, operating system
)

// Causes returns all causes, in the order in which they are tried and in which results list them.
func Causes() []Cause {
	return []Cause{
		CauseSTW, CauseUnavailable, CauseGC, CausePWakingUp, CauseIdlePAvailable,
		CauseQueueing, CauseOvertaken, CauseTracer, CauseOverhead,
	}
}

// NumCauses is the number of causes of waiting: the length of [Causes].
const NumCauses = numCauses

// CauseTime is the waiting time due to one cause, summed over goroutines.
type CauseTime struct {
	Cause Cause `json:"cause"`
	Ns    int64 `json:"ns"` // goroutine-time
}

// CauseNs returns the waiting time due to cause c in cs, in ns; 0 if cs does not have it.
func CauseNs(cs []CauseTime, c Cause) int64 {
	for _, e := range cs {
		if e.Cause == c {
			return e.Ns
		}
	}
	return 0
}

// Quantiles are percentiles of waits. The plain ones count each wait once; the time-weighted
// ones count each nanosecond of waiting once: the wait in progress at a random instant of
// waiting.
type Quantiles struct {
	P50 int64 `json:"p50_ns"` // median
	P90 int64 `json:"p90_ns"` // 90th percentile
	P99 int64 `json:"p99_ns"` // 99th percentile
}

// Summary summarizes a set of waits. Causes sum to TotalNs exactly. Quantiles are within 0.1
// % (in a [Class] 1 %), with waits of more than an hour counted as one hour.
type Summary struct {
	Count        int64              `json:"count"`               // waits that ended
	TotalNs      int64              `json:"total_ns"`            // sum
	P50          int64              `json:"p50_ns"`              // median
	P90          int64              `json:"p90_ns"`              // 90th percentile
	P99          int64              `json:"p99_ns"`              // 99th percentile
	P999         int64              `json:"p999_ns"`             // 99.9th percentile
	MaxNs        int64              `json:"max_ns"`              // longest
	TimeWeighted Quantiles          `json:"time_weighted"`       // each nanosecond of waiting counts once
	TailMass     map[string]float64 `json:"tail_mass"`           // share of TotalNs in waits longer than "1ms" and "10ms"
	Causes       []CauseTime        `json:"causes"`              // in a fixed order
	BehindLongNs int64              `json:"behind_long_ns"`      // part of queueing and overtaken under one run interval longer than a time slice, open waits included
	OpenCount    int64              `json:"open_count"`          // waits still open at the end of the trace; not in Count
	OpenNs       int64              `json:"open_ns"`             // time waited in these; not in TotalNs
	CutNs        int64              `json:"cut_ns,omitempty"`    // observed part of waits whose end a gap hides; not in Count and TotalNs; absent if none
	Histogram    []Bucket           `json:"histogram,omitempty"` // absent in classes
	// Levels are the distribution behind the quantiles, shortest first, for sums over traces.
	Levels []FilledBucket `json:"-"`
}

// FilledBucket is a bucket, which is not empty, of the distribution of waits in Summary.Levels.
type FilledBucket struct {
	Ns    int64 // length of its waits, ns: the least in the summary of a Class, else the middle
	Count int64 // number of waits in it
}

// SeenNs returns all waiting that the trace shows, in ns: TotalNs, OpenNs and CutNs.
func (s *Summary) SeenNs() int64 { return s.TotalNs + s.OpenNs + s.CutNs }

// Bucket is one bar of the distribution of waits: those in [FromNs, ToNs), a power of two.
// Empty bars are left out.
type Bucket struct {
	FromNs int64 `json:"from_ns"` // lower bound, inclusive
	ToNs   int64 `json:"to_ns"`   // upper bound, exclusive
	Count  int64 `json:"count"`   // exact number of waits
	SumNs  int64 `json:"sum_ns"`  // exact sum of waits
}

// Result is the result of an [Accumulator].
type Result struct {
	All     Summary      `json:"all"`     // every wait: User, Self and System
	User    Summary      `json:"user"`    // waits of the program's goroutines, without those in Self
	Self    Summary      `json:"self"`    // waits of the program's goroutines just after a call of runtime.Gosched: they asked for it
	System  Summary      `json:"system"`  // waits of the runtime's and the tracer's goroutines
	Classes []Class      `json:"classes"` // by total wait, longest first
	Worst   []WaitDetail `json:"worst"`   // the longest waits that count in User, longest first
	// OverTime is User by cause over time.
	OverTime OverTime `json:"over_time"`
}

// Class is the account of the goroutines with equal start function and creator. The one
// with ID [ClassOthers] stands for all further classes.
type Class struct {
	ID          int32        `json:"id"`                   // handle of the class, or ClassOthers
	Name        string       `json:"name"`                 // start function, or what it was given and what it is; "" if unknown
	Creator     string       `json:"creator"`              // function that executed the go statement
	StartedBy   string       `json:"started_by,omitempty"` // start function, where classes are told apart by what it was given; "" else
	System      bool         `json:"system,omitempty"`     // its goroutines belong to the runtime or the tracer
	Goroutines  int64        `json:"goroutines"`           // how many there were
	Starts      int64        `json:"starts"`               // times that they went from runnable to running
	RunningNs   int64        `json:"running_ns"`           // running time, summed
	Waits       Summary      `json:"waits"`                // their waits for a P
	Unasked     *Summary     `json:"-"`                    // Waits without those after runtime.Gosched; nil if there are none of these
	Causes      []CauseTime  `json:"causes"`               // as those of Waits
	Antagonists []Antagonist `json:"antagonists"`          // classes that ran on the P while this class waited in its queue, most first
	Held        []PHold      `json:"held"`                 // what kept Ps from running anyone meanwhile, most first; at most 32
	Worst       []WaitDetail `json:"worst,omitempty"`      // its longest waits, user goroutines only
	// WokenBy is what made its goroutines runnable, and BlockedBefore what they were blocked
	// on before, both by the waiting that followed, most first.
	WokenBy       []Waker         `json:"woken_by"`
	BlockedBefore []BlockedBefore `json:"blocked_before"`
	// Tasks and Regions are the types of the user tasks and regions that its
	// goroutines began, those begun most often first. Not all, if they are many.
	Tasks   []string `json:"tasks,omitempty"`
	Regions []string `json:"regions,omitempty"`
	// Series are its waits in [Result.User] over time, for drawings; nil if there are none.
	Series *Series `json:"-"`
}

// User returns the summary of the waits of the class that its goroutines did not ask for: of a class of
// the program, those that count in Result.User. If the class has waits after runtime.Gosched, which
// are left out, the summary has no quantiles.
func (c *Class) User() *Summary {
	if c.Unasked != nil {
		return c.Unasked
	}
	return &c.Waits
}

// PHold is what a class, or one goroutine, waited for while no goroutine ran ahead of it. In
// a [Class], Ns sums to the causes world-stopped, p-unavailable, garbage-collector and
// idle-p-available, with these exceptions: open waits count already; entries beyond 32 are
// dropped; a stop-the-world counts for goroutines in no queue; Ps that never had a thread
// count while the world stops; p-waking-up includes what happened to other Ps, for the
// global queue; where more than 16 classes wait in one queue, some are charged to class
// ClassOthers; and idle-p-available is charged when a goroutine leaves a queue. For a single
// wait it is what its P, or for the global queue the P on which it started, did meanwhile.
type PHold struct {
	Cause Cause `json:"cause"` // "world-stopped", "p-unavailable", "garbage-collector" or "idle-p-available"
	// Reason is, for "world-stopped": the runtime's reason; for "p-unavailable": "system
	// call", or "locked" for a hand-over to a locked thread; for "garbage-collector": "mark
	// worker".
	Reason  string   `json:"reason"`
	Class   int32    `json:"class"`   // class in the system call, or of the mark worker; else 0
	Name    string   `json:"name"`    // start function of the class; empty if none
	Creator string   `json:"creator"` // function that executed the go statement; empty if none
	Stack   []string `json:"stack"`   // where the longest such system call was made, innermost frame first, at most 8
	// P is, for "idle-p-available", the P that had been idle longest at the end of the wait;
	// else, or if that never had a thread, -1.
	P  int32 `json:"p"`
	Ns int64 `json:"ns"` // goroutine-time
}

// Antagonist is a class that ran while another waited. Over all antagonists, Ns sums to the
// causes queueing and overtaken of the class, except that open waits count already, and that
// where more than 16 classes wait in one queue, some are charged to class ClassOthers.
type Antagonist struct {
	Class   int32  `json:"class"`   // ID of its class
	Name    string `json:"name"`    // start function of the class
	Creator string `json:"creator"` // function that executed the go statement
	Ns      int64  `json:"ns"`      // goroutine-time of waiting spent under its run intervals
}

// WaitDetail is one wait for a P from beginning to end. Times are ns since the first event of the trace.
type WaitDetail struct {
	G         int64       `json:"g"`                    // ID of the goroutine
	Class     int32       `json:"class"`                // ID of its class
	Name      string      `json:"name"`                 // start function of the class
	Creator   string      `json:"creator"`              // function that executed the go statement
	FromNs    int64       `json:"from_ns"`              // beginning of the wait
	ToNs      int64       `json:"to_ns"`                // end of the wait
	WaitNs    int64       `json:"wait_ns"`              // length of the wait
	P         int32       `json:"p"`                    // P on which it started
	Source    string      `json:"source"`               // where the P took it from in the end, such as "local" or "steal" ("src" of dump)
	Basis     string      `json:"basis"`                // how that is known: a level of certainty, with the rule if there is one ("basis" of dump)
	Causes    []CauseTime `json:"causes"`               // sum to WaitNs
	Path      []Step      `json:"path"`                 // queues in which it stood, at most 16
	Ahead     []RanAhead  `json:"ahead"`                // classes that ran on its P meanwhile, most first, at most 8
	MoreSteps int         `json:"more_steps,omitempty"` // number of further steps; absent if none
	// AheadFromNs is the time from which on Ahead, Runs and Held are complete; later than
	// FromNs if the history of the P does not reach back that far.
	AheadFromNs int64   `json:"ahead_from_ns"`
	Runs        []Run   `json:"runs"`                 // the at most 32 longest run intervals in Ahead, in order
	MoreRuns    int     `json:"more_runs,omitempty"`  // number of the others; absent if none
	Held        []PHold `json:"held"`                 // what else occupied its P meanwhile, most first; at most 8
	Victim      int32   `json:"victim"`               // P that it was stolen from; else -1
	Batch       int32   `json:"batch"`                // goroutines taken together; 0 if it was alone
	By          *By     `json:"by,omitempty"`         // goroutine that made it runnable; absent if none did
	BlockedOn   string  `json:"blocked_on,omitempty"` // reason for which it had blocked, as in the "blocked" of a life; absent if it had not, or unknown
	BlockedNs   int64   `json:"blocked_ns,omitempty"` // time blocked; absent as BlockedOn is
	After       string  `json:"after"`                // "why" of dump for the end of the previous run interval on its P; "p-start" if the P had just got a thread
}

// By is a goroutine that made another runnable.
type By struct {
	G     int64    `json:"g"`     // its ID
	Class int32    `json:"class"` // ID of its class; 0 if unknown
	Name  string   `json:"name"`  // start function of the class; empty if unknown
	Stack []string `json:"stack"` // where it did so, innermost frame first, at most 8
}

// Run is the part of a run interval that lies within a wait. Times are ns since the first event of
// the trace.
type Run struct {
	G      int64  `json:"g"`       // ID of the goroutine that ran
	Class  int32  `json:"class"`   // ID of its class
	Name   string `json:"name"`    // start function of the class
	FromNs int64  `json:"from_ns"` // beginning of the overlap
	ToNs   int64  `json:"to_ns"`   // end of the overlap
	End    string `json:"end"`     // why the run interval ended, such as "block", "slice" or "gosched" ("why" of dump); empty if it had not by the end of the wait
	Later  bool   `json:"later"`   // it became runnable after the waiting goroutine
}

// Step is one queue in which a goroutine stood during a wait.
type Step struct {
	AtNs  int64  `json:"at_ns"` // time at which it came there, ns since the first event of the trace
	Queue string `json:"queue"` // "runnext", "local", "global", "direct" or "unknown"
	P     int32  `json:"p"`     // P of the queue; -1 for the global one
	Why   string `json:"why"`   // why it came there, such as "unblock", "steal" or "overflow" ("why" of dump)
}

// RanAhead is a class that ran while one goroutine waited.
type RanAhead struct {
	Class int32  `json:"class"` // ID of its class
	Name  string `json:"name"`  // start function of the class
	Ns    int64  `json:"ns"`    // running time
	Runs  int64  `json:"runs"`  // number of run intervals
}
