package replay

// AuditResult is how many starts and puts of goroutines the rules of the scheduler explain, by
// the audit of a trace, and which of them they do not.
type AuditResult struct {
	Starts      int64            `json:"starts"`      // Explained + Ambiguous + Unexplained
	Explained   int64            `json:"explained"`   // a rule holds exactly
	Ambiguous   int64            `json:"ambiguous"`   // a rule holds up to a race
	Unexplained int64            `json:"unexplained"` // no rule holds
	ByRule      map[string]Tally `json:"by_rule"`     // starts by where the goroutine was taken from, such as "local" or "steal" ("src" of dump)
	Races       map[Race]int64   `json:"races"`       // ambiguous starts by race
	// Puts counts puts by receiving queue: "runnext", "local", "global", "direct", "unknown",
	// "initial" (first shown), and "overflow".
	Puts            map[string]Tally    `json:"puts"`
	Corrections     int64               `json:"corrections"`      // moves that are no operation of the scheduler: corrections by the reconstruction
	Violations      map[Invariant]int64 `json:"violations"`       // breaches of invariants, by kind: errors of gmpscope, not of the program; kinds that did not occur are absent
	Divergences     []Divergence        `json:"divergences"`      // first unexplained decisions, in order, at most --divergences in all and a tenth of that of one sort
	MoreDivergences int64               `json:"more_divergences"` // number left out
}

// Tally counts the starts, or the puts, of one sort by whether the rules of the scheduler
// explain them.
type Tally struct {
	Explained   int64 `json:"explained"`   // a rule holds exactly
	Ambiguous   int64 `json:"ambiguous"`   // a rule holds up to a race
	Unexplained int64 `json:"unexplained"` // no rule holds
}

// Verdict is whether the rules explain a start.
type Verdict string

// The verdicts on a start.
const (
	Explained   Verdict = "explained"   // the rule holds exactly
	Ambiguous   Verdict = "ambiguous"   // it holds up to a race
	Unexplained Verdict = "unexplained" // it does not hold
	Violation   Verdict = "violation"   // the stream contradicts itself
)

// Race is the reason why a judgement is ambiguous.
type Race string

// Why a judgement is ambiguous.
const (
	RacePutOrder  Race = "put-order" // two puts on the global queue were under way at once
	RacePut       Race = "put"       // a put was under way when the queue was looked at
	RaceCorrected Race = "corrected" // the reconstruction corrected itself: the place within the queue is not known
	RaceInitial   Race = "initial"   // it was runnable before the trace began: the place within the queue is not known
	RaceTick      Race = "tick"      // it depends on the phase of the 61st tick
)

// Invariant is what must hold in every stream of decisions.
type Invariant string

// The invariants, by what breaks them.
const (
	Malformed     Invariant = "malformed"      // a decision lacks what its kind needs
	TimeBack      Invariant = "time-back"      // a decision is older than the one before it
	TwoPlaces     Invariant = "two-places"     // a goroutine is queued, or runs, while it is somewhere else
	WrongQueue    Invariant = "wrong-queue"    // a goroutine leaves a queue that it is not in
	NotRunnable   Invariant = "not-runnable"   // a goroutine starts that is not runnable
	NotRunning    Invariant = "not-running"    // a goroutine stops, or enters a system call, that does not run there
	TwoOnP        Invariant = "two-on-p"       // a goroutine starts on a P on which another one runs
	NoThread      Invariant = "no-thread"      // a goroutine starts on a P that has no thread
	RingTooLong   Invariant = "ring-too-long"  // a ring holds more than fit in
	BadLength     Invariant = "bad-length"     // a queue length is negative
	LengthDiffers Invariant = "length-differs" // a queue length is not that of the decisions
	BrokenBatch   Invariant = "broken-batch"   // a steal, batch or overflow is not followed by its moves, or moves lack it
	IdleWithWork  Invariant = "idle-with-work" // a P finds no work although its own queue holds some
	TimeLost      Invariant = "time-lost"      // the running time of a P is not the sum of its run intervals
)

// Invariants returns all invariants that an [Auditor] checks.
func Invariants() []Invariant {
	return []Invariant{
		Malformed, TimeBack, TwoPlaces, WrongQueue, NotRunnable, NotRunning, TwoOnP, NoThread,
		RingTooLong, BadLength, LengthDiffers, BrokenBatch, IdleWithWork, TimeLost,
	}
}

// Divergence is an unexplained decision, with its evidence.
type Divergence struct {
	Time     int64   `json:"t"`    // ns since the first event
	N        int64   `json:"n"`    // number of the decision, from 1: its line in the output of dump
	Kind     string  `json:"k"`    // kind of the decision, such as "start" ("k" of dump)
	G        int64   `json:"g"`    // goroutine; -1: none
	P        int32   `json:"p"`    // P; -1: none
	Rule     string  `json:"rule"` // source of a start, queue of a put, or the invariant
	Verdict  Verdict `json:"verdict"`
	Race     Race    `json:"race,omitempty"` // absent unless ambiguous
	Expected string  `json:"expected"`       // what the rules require
	Found    string  `json:"found"`          // what the decision has
}
