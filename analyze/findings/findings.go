// Package findings answers: what is wrong, how do we know, and what can be
// done? It is step 6 of package analyze.
//
// It holds the scheme of the detectors; each [Detector] is a package in a
// folder below, named by its ID, with its explanation and its tests, and
// package all lists them. Their words are explained in package vocabulary.
//
//  1. [NewSet] makes the detectors' [Watcher] values, and a [View] that they
//     share, so that goroutines, Ps and queues are followed only once.
//  2. [Set.Add] gives each decision to the View, which emits events to those who
//     subscribed: run intervals, time slices, system calls and queue residencies
//     as they end, and the decisions that a filter selects; then to each Watcher
//     that wants all.
//  3. [Set.Finish] gives them the [Facts], the results of the accumulators, and
//     [Rank] sorts and merges what they found.
//
// Two findings may count the same waiting: that it was long, and what made it so.
// So a detector says which symptoms it explains, and waiting is booked once.
//
// Only goroutines of the program count as victims, and only waits that they did
// not ask for; a detector that differs says so in its explanation.
//
// What a result holds is stable, the rest serves this module: see package gmpscope.
package findings

import "slices"

// Severity is how serious a finding is: [Note], [Warning] or [Critical].
type Severity string

// The severities, the least serious first. The thresholds of a detector, mostly a [Grade], decide which
// one a finding gets.
const (
	Note     Severity = "note"     // true, but no reason to do anything
	Warning  Severity = "warning"  // worth a change
	Critical Severity = "critical" // the program loses much by it
)

// Finding is one judgement with its evidence.
type Finding struct {
	ID       string   `json:"id"` // ID of the detector, for gmpscope explain
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Headline Text     `json:"headline"`  // what happened, in about 90 characters
	Title    Text     `json:"title"`     // what happened, in one sentence with numbers
	CostNs   int64    `json:"cost_ns"`   // goroutine-time lost
	CostOf   CostBase `json:"cost_of"`   // whole of which CostNs is a part
	WholeNs  int64    `json:"whole_ns"`  // size of that whole; never less than CostNs
	BookedNs int64    `json:"booked_ns"` // part of CostNs that no other finding has booked; the sum over findings never exceeds the whole
	// WorkShare is the share of the time of slow units of work, or of all if these are not
	// slow, that it explains; absent if none, or the program is neither a server nor tests.
	WorkShare float64    `json:"work_share,omitempty"`
	SymptomOf []string   `json:"symptom_of,omitempty"` // IDs of findings that explain at least half of this one
	FromNs    int64      `json:"from_ns"`              // beginning of the window in which it is worst
	ToNs      int64      `json:"to_ns"`                // end of that window
	Basis     string     `json:"basis"`                // "certain", "inferred" or "suspected"
	Doubts    []string   `json:"doubts,omitempty"`     // IDs of the doubts that soften it
	Actors    []Actor    `json:"actors"`
	Evidence  []Evidence `json:"evidence"`
	Advice    []Text     `json:"advice"` // what to do
	Remedy    Remedy     `json:"-"`      // the detector's; a [Set] fills in this, Counted, MaybeMeant and LongRuns
	Counted   bool       `json:"-"`      // as in Detector: its evidence is counts, not durations
	// MaybeMeant is as in Detector: what it notes may be by design.
	MaybeMeant bool `json:"-"`
	LongRuns   bool `json:"-"` // as in Detector: the goroutines that it blames had long run intervals
	Proven     bool `json:"-"` // the kernel's records show it
	// Feigned is what may have made its evidence although it is not true.
	Feigned   Feigned `json:"-"`
	Guessed   bool    `json:"-"` // a lack of CPUs is inferred from durations alone
	OutOfTurn bool    `json:"-"` // others overtook its victims: these did not just stand in line
	OfTest    bool    `json:"-"` // the main victim, or the culprit, is test code
	// InLine reports whether it is about waiting of goroutines that only stood in line, and no
	// goroutine waited for one of them.
	InLine bool `json:"-"`
}

// Doubt is a property of a whole trace that softens some of its findings.
type Doubt struct {
	ID       string `json:"id"`                  // "strained": threads seem to have lacked CPUs; "short": the recording is short
	Text     string `json:"text"`                // why that matters, and what to do about it
	WaitedNs int64  `json:"waited_ns,omitempty"` // least goroutine-time waited for a P while the doubt applied
}

// CostBase is the whole of which the cost of a finding is a part.
type CostBase string

// The wholes. They are of goroutines of the program, and of all Ps.
const (
	OfWaiting CostBase = "waiting"             // runnable, up to the end of the trace
	OfIdle    CostBase = "waiting and idle Ps" // that, and P-time without a goroutine
	OfBlocked CostBase = "waiting and blocked" // runnable, or blocked until somebody, or a timer, woke them
	OfPTime   CostBase = "waiting and P-time"  // runnable, and all P-time
)

// Values of Actor.Role.
const (
	Victim = "victim" // waited
	Cause  = "cause"  // made others wait
)

// Actor is a goroutine, class or P with a part in a finding.
type Actor struct {
	Role    string   `json:"role"`              // "victim" or "cause"
	Class   string   `json:"class,omitempty"`   // start function; absent if none
	Creator string   `json:"creator,omitempty"` // function that executed the go statement; absent if none
	G       int64    `json:"g,omitempty"`       // goroutine; absent if none
	P       *int32   `json:"p,omitempty"`       // absent where no P has a part
	Stack   []string `json:"stack,omitempty"`   // innermost frame first; absent if none
	Tested  string   `json:"-"`                 // import path of the package under test; "" if none is
	// Innermost selects the innermost function of the stack as its name, even a library's: see
	// AtInnermost.
	Innermost bool `json:"-"`
}

// OnP returns a pointer to p, for Actor.P; nil if p is reference.NoP.
func OnP(p int32) *int32 {
	if p < 0 {
		return nil
	}
	return &p
}

// Cause returns the first actor of the finding with role [Cause]; nil if there is none.
func (f *Finding) Cause() *Actor {
	if i := slices.IndexFunc(f.Actors, func(a Actor) bool { return a.Role == Cause }); i >= 0 {
		return &f.Actors[i]
	}
	return nil
}

// Names reports whether the finding has an actor with a role, [Victim] or [Cause], whose goroutines
// run a function; never for "".
func (f *Finding) Names(role, function string) bool {
	return function != "" && slices.ContainsFunc(f.Actors, func(a Actor) bool { return a.Role == role && Short(a.Class) == function })
}

// At reports whether the finding names a function in brief, or an actor of it was in that, or in what it calls.
func (f *Finding) At(function string) bool {
	return slices.Contains(f.InBrief().Names(), Name(function)) || slices.ContainsFunc(f.Actors, func(a Actor) bool { return a.Through(Name(function)) })
}
