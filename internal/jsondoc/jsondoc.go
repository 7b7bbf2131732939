// Package jsondoc holds the shapes of what gmpscope writes for programs: the
// JSON documents of analyze, diff, check, replay and fleet, and a line of dump.
//
// docs/json.md and the JSON Schemas in docs/schema are generated from these types
// and from those that they refer to: the comments of the fields are the
// descriptions. The names of Go fields in them become those of JSON keys.
package jsondoc

import (
	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/fairness"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/kernel"
	"github.com/gmpscope/gmpscope/analyze/procs"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/timeline"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/compare"
	"github.com/gmpscope/gmpscope/compare/budget"
	"github.com/gmpscope/gmpscope/reference"
	"github.com/gmpscope/gmpscope/replay"
)

//go:generate ../../scripts/lab jsondoc

// Analysis is what analyze writes with --format json: one JSON object, in a line
// for each key, and for each element of the lists of objects.
type Analysis struct {
	Schema         int                    `json:"schema"`         // version of this schema
	Tool           string                 `json:"tool"`           // gmpscope and its version
	Verdict        Verdict                `json:"verdict"`        // the answer in words
	Trace          Trace                  `json:"trace"`          // what was read
	Reconstruction analyze.Reconstruction `json:"reconstruction"` // how far hidden decisions could be explained
	Program        analyze.Program        `json:"program"`        // what kind of program it is judged as
	Waits          Waits                  `json:"waits"`          // how long goroutines waited for a P, and why
	Ps             []procs.Proc           `json:"ps"`             // what each P did
	Steals         *procs.Steals          `json:"steals"`         // work taken from other Ps
	Handoffs       *procs.Counts          `json:"handoffs"`       // Ps given to another thread
	Retakes        *procs.Counts          `json:"retakes"`        // Ps taken from threads in system calls
	Preemptions    procs.Counts           `json:"preemptions"`    // goroutines made to yield
	Queues         *Queues                `json:"queues"`         // lengths of run queues
	Pressure       fairness.Pressure      `json:"pressure"`       // for how much of the time work waited
	Fairness       Fairness               `json:"fairness"`       // how evenly running time was shared
	TimeInStates   TimeInStates           `json:"lives"`          // what goroutines did while they existed
	Work           work.Units             `json:"work"`           // requests, jobs and tests: units of work, by kind
	Span           analyze.Span           `json:"span"`           // how much of the work had to be done one after the other
	Classes        []Class                `json:"classes"`        // waiting by class of goroutines, longest first
	Stacks         stacks.Result          `json:"stacks"`         // where in the program they had stopped before they waited
	Findings       []findings.Finding     `json:"findings"`       // what the detectors found, by severity, then cost
	Doubts         []findings.Doubt       `json:"doubts"`         // what holds for the whole trace and makes some of them milder
	Detectors      []analyze.Detector     `json:"detectors"`      // the detectors that ran
	// Focus is which part of the trace it is about; only with --from, --to, --class,
	// --goroutine or --task.
	Focus *analyze.Focused `json:"focus,omitempty"`
	// Kernel is what the kernel's records show: who had the CPUs; only with --kernel.
	Kernel *kernel.Machine `json:"kernel,omitempty"`
	// Reference is waiting held against the reference scheduler; only with
	// --reference, and not for a trace of Go 1.21 or before.
	Reference *replay.Decomposition `json:"reference,omitempty"`
	// Suppressed holds the findings that the configuration accepts; only if there are
	// any.
	Suppressed []findings.Suppressed `json:"suppressed,omitempty"`
	// LeftOut is what package testing did that no finding is about; only if there is any.
	LeftOut *findings.LeftOut `json:"left_out,omitempty"`
	// Timeline is the picture over time; only with --timeline.
	Timeline *timeline.Result `json:"timeline,omitempty"`
}

// Verdict is the answer in words.
type Verdict struct {
	// Status is "ok", "note", "warning" or "critical": the severity of the finding that leads; a
	// note if none does but there are some, or if no detector judged.
	Status   string `json:"status"`
	Label    string `json:"label"`    // what kind of trouble there is, and how much, such as Scheduling delays: warning
	Headline string `json:"headline"` // who does what, in some 90 characters
	// Lines are sentences: the headline in full, what to try first, what the waiting was
	// for, who suffers, who runs meanwhile, how sure.
	Lines []string `json:"lines"`
}

// Trace describes what was read.
type Trace struct {
	analyze.Trace
	Changes []procs.Procs `json:"gomaxprocs_changes"` // all values of GOMAXPROCS, at most 1,024
}

// Waits holds all waits. A wait is one interval of one goroutine from the event
// that made it Runnable, or first showed it so, to its start.
type Waits struct {
	waits.Summary
	User     waits.Summary      `json:"user"`      // waits of the program, those in Self left out
	Self     waits.Summary      `json:"self"`      // waits after runtime.Gosched: the goroutine asked for them
	System   waits.Summary      `json:"system"`    // waits of the runtime's and the tracer's goroutines
	Worst    []waits.WaitDetail `json:"worst"`     // the longest waits of the program
	OverTime waits.OverTime     `json:"over_time"` // User by cause over time
}

// Queues holds the lengths of the run queues over time.
type Queues struct {
	procs.Queues
	Overflows   int64 `json:"overflows"`    // puts on a full local queue
	GlobalTakes int64 `json:"global_takes"` // takes from the global queue; a batch counts once
}

// Fairness reports how evenly running time was shared. Within a class it is a
// statement about the scheduler, between classes one about the program.
type Fairness struct {
	Jain        float64           `json:"jain"`         // Jain's index of service received over ideal service; 1 is even
	Judged      int64             `json:"judged"`       // goroutines in that index
	MaxLagNs    int64             `json:"max_lag_ns"`   // most running time owed to one goroutine
	P99LagNs    int64             `json:"p99_lag_ns"`   // 99 of 100 goroutines were never owed more
	Slowdown    fairness.Slowdown `json:"slowdown"`     // (waiting + running) / running, of single activations
	Bypass      fairness.Bypass   `json:"bypass"`       // how far starts kept the order in which goroutines became runnable
	LittleError float64           `json:"little_error"` // self-check: gap between mean queue length and rate × mean wait
	Classes     []fairness.Class  `json:"classes"`      // the same within each class
}

// Class is the goroutines with equal start function and creator.
type Class struct {
	ID          int32              `json:"id"`                   // its handle in this document
	Name        string             `json:"name"`                 // start function as it is written, with the path of its package; where that calls a function that it is given, "FUNCTION, started by START"; where it is unknown, what else is known, or empty
	Short       string             `json:"short"`                // the name for short: without the path, but for as much of it as tells it from other names in this document, and without the library's function that started it
	Creator     string             `json:"creator"`              // function that executed the go statement
	StartedBy   string             `json:"started_by,omitempty"` // the start function, where classes are told apart by the function that it is given; absent else
	System      bool               `json:"system"`               // it belongs to the runtime
	Goroutines  int64              `json:"goroutines"`           // how many
	Starts      int64              `json:"starts"`               // how often they started
	RunningNs   int64              `json:"running_ns"`           // how long they ran
	Life        *Life              `json:"life,omitempty"`       // what they did while they existed; absent for a class without a life
	Waits       waits.Summary      `json:"waits"`                // how long they waited
	Causes      []waits.CauseTime  `json:"causes"`               // the causes of Waits once more
	Antagonists []waits.Antagonist `json:"antagonists"`          // who held the P while they stood in its queue, most first
	Held        []waits.PHold      `json:"held"`                 // what else kept the P, or all, meanwhile, most first, at most 32
	WokenBy     []waits.Waker      `json:"woken_by"`             // who made them runnable, by the waiting that followed, most first
	// BlockedBefore is what they were blocked on before, likewise.
	BlockedBefore []waits.BlockedBefore `json:"blocked_before"`
	Worst         []waits.WaitDetail    `json:"worst"` // their longest waits
	// Tasks are the types of the user tasks that they began, most often first; not
	// all if they are many.
	Tasks   []string `json:"tasks"`
	Regions []string `json:"regions"` // the types of the user regions that they began
}

// Decision is a line of dump: an object a line, in the order of the decisions;
// times never fall. Every transition from Runnable to Running in the trace has one
// "start". A key is absent where it does not apply.
//
// A goroutine is "ready", perhaps moved several times ("move"), started ("start"),
// stopped ("stop"), and, where it stopped without blocking, "ready" again at the
// same time; a "preempt" comes just before the "stop" that it caused.
type Decision struct {
	Time int64          `json:"t"`           // ns since the first event
	Kind reference.Kind `json:"k"`           // kind of decision
	G    int64          `json:"g,omitempty"` // goroutine
	// P is the processor that acted; for "ready" and "move", whose queue received the
	// goroutine, absent for the global one; for "syscall-exit", the one that was kept.
	P      *int32           `json:"p,omitempty"`
	M      *int64           `json:"m,omitempty"`      // thread that acted
	Src    reference.Source `json:"src,omitempty"`    // "start": where the goroutine was taken from
	Locked bool             `json:"locked,omitempty"` // true where the P was handed to a locked thread; Src then says where the goroutine was taken from
	// Victim is for "steal", and "start" by steal, the P stolen from; for "move",
	// whose queue the goroutine left, absent for the global one.
	Victim *int32 `json:"victim,omitempty"`
	// Batch is the number of goroutines moved, by "steal", "overflow", "global-batch"
	// and a "start" that took them, the one that ran included; for "gomaxprocs", its
	// new value.
	Batch int32           `json:"batch,omitempty"`
	Wait  *int64          `json:"wait,omitempty"` // "start": ns since the goroutine became runnable, if known; "lost": ns until the trace goes on
	To    reference.Queue `json:"to,omitempty"`   // "ready", "move": the queue
	Why   reference.Why   `json:"why,omitempty"`  // cause; always there for "stop" and "preempt"
	// Reason is, for "stop" with the cause "block", what the goroutine waits for; for
	// the "start" of a mark worker, its mode.
	Reason reference.Reason `json:"reason,omitempty"`
	By     int64            `json:"by,omitempty"`    // "ready": the goroutine that made it runnable; absent for a timer, the network poller and the runtime
	Class  string           `json:"class,omitempty"` // name of the goroutine's class, as far as known when the class came up
	// Stack is, with --stacks, the frames, innermost first: for "ready" where the
	// goroutine was that made it runnable, for "stop" where it stopped.
	Stack  []string `json:"stack,omitempty"`
	Local  *int32   `json:"ll,omitempty"` // length of that P's local run queue afterwards, ring plus runnext
	Global *int32   `json:"gl,omitempty"` // length of the global run queue afterwards
	// Basis is how it is known: a level, and after a colon the rule, where there is
	// one.
	Basis reference.Basis `json:"basis"`
	// Rules is, in the first line only, the rules of the scheduler by which the trace
	// was analysed.
	Rules *analyze.RulesApplied `json:"rules,omitempty"`
}

// Replay is what replay writes with --format json: the guided replay, in which run
// queues are stepped along the rebuilt decisions and every start is held against
// the rules of the scheduler; and, with --free or a what-if, the simulation of the
// work, in which a model of the scheduler does the work of the trace.
type Replay struct {
	Schema int           `json:"schema"` // version of this schema
	Tool   string        `json:"tool"`   // gmpscope and its version
	Trace  analyze.Trace `json:"trace"`  // what was read, without its "gomaxprocs_changes"
	// Policy is the rules that were applied: "go1.22" (to 1.25) or "go1.26" (and
	// later).
	Policy     string `json:"policy"`
	GOMAXPROCS int    `json:"gomaxprocs"` // the largest, where it changes
	// Audit is the account of the guided replay; null for a trace of Go 1.21 or
	// before, where there is nothing to replay.
	Audit *replay.AuditResult `json:"guided"`
	// Observed is how the run went. With a simulation, that of the part of the trace
	// that was simulated.
	Observed replay.Run `json:"observed"`
	*replay.Simulated
}

// Diff is what diff writes with --format json: a comparison of the traces from
// before a change with those from after it.
type Diff struct {
	Schema int    `json:"schema"` // version of this schema
	Tool   string `json:"tool"`   // gmpscope and its version
	compare.Result
}

// Check is what check writes with --format json.
type Check struct {
	Schema int                    `json:"schema"` // version of this schema
	Tool   string                 `json:"tool"`   // gmpscope and its version
	OK     bool                   `json:"ok"`     // whether all is within bounds
	Traces []string               `json:"traces"` // names, as in [Trace]
	Rules  []analyze.RulesApplied `json:"rules"`  // all by which they were analysed
	// FailOn is the severity of findings from which on they fail; empty for none.
	FailOn   string             `json:"fail_on"`
	Budget   []budget.Outcome   `json:"budget"`   // what became of each rule
	Findings []findings.Finding `json:"findings"` // those that most of the traces have
	// Suppressed holds those that the configuration accepts; only if there are any.
	Suppressed []findings.Suppressed `json:"suppressed,omitempty"`
}
