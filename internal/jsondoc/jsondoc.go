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

// Analysis is the output of analyze --format json.
type Analysis struct {
	Schema         int                    `json:"schema"` // version of the schema
	Tool           string                 `json:"tool"`   // gmpscope and its version
	Verdict        Verdict                `json:"verdict"`
	Trace          Trace                  `json:"trace"`
	Reconstruction analyze.Reconstruction `json:"reconstruction"`
	Program        analyze.Program        `json:"program"`
	Waits          Waits                  `json:"waits"`
	Ps             []procs.Proc           `json:"ps"`
	Steals         *procs.Steals          `json:"steals"`
	Handoffs       *procs.Counts          `json:"handoffs"`    // Ps handed to another thread
	Retakes        *procs.Counts          `json:"retakes"`     // Ps taken from threads in system calls
	Preemptions    procs.Counts           `json:"preemptions"` // goroutines made to yield
	Queues         *Queues                `json:"queues"`
	Pressure       fairness.Pressure      `json:"pressure"`
	Fairness       fairness.Result        `json:"fairness"`
	TimeInStates   TimeInStates           `json:"lives"` // time in each state
	Work           work.Units             `json:"work"`  // units of work: requests, jobs, tests
	Span           analyze.Span           `json:"span"`
	Classes        []Class                `json:"classes"` // longest waiting first
	Stacks         stacks.Result          `json:"stacks"`
	Findings       []findings.Finding     `json:"findings"` // by severity, then cost
	Doubts         []findings.Doubt       `json:"doubts"`
	Detectors      []analyze.Detector     `json:"detectors"`
	Focus          *analyze.Focused       `json:"focus,omitempty"`      // only with --from, --to, --class, --goroutine or --task
	Kernel         *kernel.Machine        `json:"kernel,omitempty"`     // only with --kernel
	Reference      *replay.Decomposition  `json:"reference,omitempty"`  // only with --reference; absent for traces of Go 1.21 or before
	Suppressed     []findings.Suppressed  `json:"suppressed,omitempty"` // only with a configuration that suppresses some
	LeftOut        *findings.LeftOut      `json:"left_out,omitempty"`   // absent if nothing is
	Timeline       *timeline.Result       `json:"timeline,omitempty"`   // only with --timeline
}

// Verdict is the answer in words.
type Verdict struct {
	Status   string   `json:"status"`   // "ok", "note", "warning" or "critical": severity of the leading finding; "note" also if no detector judged
	Label    string   `json:"label"`    // kind and degree of the trouble, such as Scheduling delays: warning
	Headline string   `json:"headline"` // at most about 90 characters
	Lines    []string `json:"lines"`    // sentences: the headline in full, what to try first, who waits and why, how sure that is
}

// Trace describes the trace that was read.
type Trace struct {
	analyze.Trace
	Changes []procs.Procs `json:"gomaxprocs_changes"` // at most 1,024
}

// Waits holds all waits. A wait is one interval of one goroutine from the event that made it
// Runnable, or first showed it so, to its start.
type Waits struct {
	waits.Summary
	User     waits.Summary      `json:"user"`      // waits of the program, except Self
	Self     waits.Summary      `json:"self"`      // waits after runtime.Gosched
	System   waits.Summary      `json:"system"`    // waits of the runtime's and the tracer's goroutines
	Worst    []waits.WaitDetail `json:"worst"`     // longest waits of the program
	OverTime waits.OverTime     `json:"over_time"` // User by cause over time
}

// Queues holds the lengths of the run queues. Means are over time.
type Queues struct {
	procs.Queues
	Overflows   int64 `json:"overflows"`    // puts on a full local queue
	GlobalTakes int64 `json:"global_takes"` // takes from the global queue; a batch counts once
}

// Class is the goroutines with equal start function and creator.
type Class struct {
	ID int32 `json:"id"` // handle in this document
	// Name is the start function with the path of its package; "FUNCTION, started by START"
	// where that calls a function that it is given; if unknown, what else is known, or empty.
	Name string `json:"name"`
	// Short is the short name: as much of the path as is unambiguous in this document,
	// without the library function that started it.
	Short         string                `json:"short"`
	Creator       string                `json:"creator"`              // function that executed the go statement
	StartedBy     string                `json:"started_by,omitempty"` // start function, where the class is named by a function given to it
	System        bool                  `json:"system"`               // it belongs to the runtime
	Goroutines    int64                 `json:"goroutines"`           // number of goroutines
	Starts        int64                 `json:"starts"`               // transitions from Runnable to Running
	RunningNs     int64                 `json:"running_ns"`           // running time
	Life          *Life                 `json:"life,omitempty"`       // absent for a class without a life
	Waits         waits.Summary         `json:"waits"`
	Causes        []waits.CauseTime     `json:"causes"`         // copy of the causes of Waits
	Antagonists   []waits.Antagonist    `json:"antagonists"`    // most first
	Held          []waits.PHold         `json:"held"`           // what else occupied the P, or all Ps, most first, at most 32
	WokenBy       []waits.Waker         `json:"woken_by"`       // by the waiting that followed, most first
	BlockedBefore []waits.BlockedBefore `json:"blocked_before"` // by the waiting that followed, most first
	Worst         []waits.WaitDetail    `json:"worst"`          // longest waits
	Tasks         []string              `json:"tasks"`          // types of the user tasks that they began, most often first; not all if there are many
	Regions       []string              `json:"regions"`        // types of the user regions that they began
}

// Decision is a line of dump: one object a line, in the order of the decisions; times never
// fall. Each transition from Runnable to Running in the trace has one "start". A key is
// absent where it does not apply.
type Decision struct {
	Time int64          `json:"t"` // ns since the first event
	Kind reference.Kind `json:"k"`
	G    int64          `json:"g,omitempty"` // goroutine
	// P is the processor that acted; for "ready" and "move", the owner of the queue that
	// received the goroutine, absent for the global one; for "syscall-exit", the one that was
	// kept.
	P      *int32           `json:"p,omitempty"`
	M      *int64           `json:"m,omitempty"`      // thread that acted
	Src    reference.Source `json:"src,omitempty"`    // "start": where the goroutine was taken from
	Locked bool             `json:"locked,omitempty"` // the P was handed to a locked thread; Src still is where the goroutine was taken from
	// Victim is, for "steal" and "start" by steal, the P stolen from; for "move", the owner
	// of the queue that the goroutine left, absent for the global one.
	Victim *int32 `json:"victim,omitempty"`
	// Batch is the number of goroutines moved by "steal", "overflow", "global-batch" and a
	// "start" that took a batch, the one that ran included; for "gomaxprocs", its new value.
	Batch  int32            `json:"batch,omitempty"`
	Wait   *int64           `json:"wait,omitempty"`   // "start": ns since the goroutine became runnable, if known; "lost": ns until the trace goes on
	To     reference.Queue  `json:"to,omitempty"`     // "ready", "move": queue
	Why    reference.Why    `json:"why,omitempty"`    // cause; always there for "stop" and "preempt"
	Reason reference.Reason `json:"reason,omitempty"` // for "stop" with the cause "block", what the goroutine waits for; for the "start" of a mark worker, its mode
	By     int64            `json:"by,omitempty"`     // "ready": goroutine that made it runnable; absent for a timer, the network poller and the runtime
	Class  string           `json:"class,omitempty"`  // name of the goroutine's class, as far as known when the class came up
	// Stack is, with --stacks only, the frames, innermost first, for "ready" of the goroutine
	// that made it runnable, for "stop" of the one that stopped.
	Stack  []string              `json:"stack,omitempty"`
	Local  *int32                `json:"ll,omitempty"`    // length of that P's local run queue afterwards, ring plus runnext
	Global *int32                `json:"gl,omitempty"`    // length of the global run queue afterwards
	Basis  reference.Basis       `json:"basis"`           // how it is known: a level, and after a colon the rule, if any
	Rules  *analyze.RulesApplied `json:"rules,omitempty"` // only in the first line: rules by which the trace was analysed
}

// Replay is the output of replay --format json: the guided replay, which steps run queues
// along the rebuilt decisions and checks each start against the rules of the scheduler; and,
// with --free or a what-if, the simulation of the work, in which a model of the scheduler
// does the work of the trace.
type Replay struct {
	Schema     int                 `json:"schema"`     // version of the schema
	Tool       string              `json:"tool"`       // gmpscope and its version
	Trace      analyze.Trace       `json:"trace"`      // without its "gomaxprocs_changes"
	Policy     string              `json:"policy"`     // rules that were applied: "go1.22" (to 1.25) or "go1.26" (and later)
	GOMAXPROCS int                 `json:"gomaxprocs"` // largest value
	Audit      *replay.AuditResult `json:"guided"`     // null for a trace of Go 1.21 or before
	Observed   replay.Run          `json:"observed"`   // with a simulation, of the simulated part of the trace
	*replay.Simulated
}

// Diff is the output of diff --format json: a comparison of traces from before a change with
// those from after it.
type Diff struct {
	Schema int    `json:"schema"` // version of the schema
	Tool   string `json:"tool"`   // gmpscope and its version
	compare.Result
}

// Check is the output of check --format json.
type Check struct {
	Schema     int                    `json:"schema"`  // version of the schema
	Tool       string                 `json:"tool"`    // gmpscope and its version
	OK         bool                   `json:"ok"`      // all is within bounds
	Traces     []string               `json:"traces"`  // names, as in [Trace]
	Rules      []analyze.RulesApplied `json:"rules"`   // all by which they were analysed
	FailOn     string                 `json:"fail_on"` // least severity that fails; empty for none
	Budget     []budget.Outcome       `json:"budget"`
	Findings   []findings.Finding     `json:"findings"`             // those of most of the traces
	Suppressed []findings.Suppressed  `json:"suppressed,omitempty"` // only with a configuration that suppresses some
}

// TimeInStates is the time that goroutines spent in each state while the trace was recorded.
// Goroutines that are only ever shown blocked are left out.
type TimeInStates struct {
	Program Life `json:"program"` // goroutines of the program
	Runtime Life `json:"runtime"` // goroutines of the runtime and the tracer
}

// Life is the life of some goroutines, summed. RunningNs, RunnableNs, BlockedNs, SyscallNs
// and UnknownNs add up to LifeNs exactly.
type Life struct {
	LifeNs     int64     `json:"life_ns"`     // time of existence
	RunningNs  int64     `json:"running_ns"`  // running on a P
	RunnableNs int64     `json:"runnable_ns"` // waiting for a P, open waits and those whose end a gap hides included
	BlockedNs  int64     `json:"blocked_ns"`  // blocked, for any reason
	Blocked    []Blocked `json:"blocked"`     // by reason, longest first; adds up to BlockedNs exactly
	SyscallNs  int64     `json:"syscall_ns"`  // in system calls, with or without a P
	UnknownNs  int64     `json:"unknown_ns"`  // not in the trace: before the first event of a goroutine, and in gaps
}

// Blocked is the time blocked for one reason.
type Blocked struct {
	Reason string `json:"reason"` // what they waited for
	Ns     int64  `json:"ns"`     // goroutine-time
}

// Unit is a line of dump --units: one object for each whole unit of work, in the order in
// which they are found.
type Unit struct {
	Class  string `json:"class"` // start function of its goroutine
	Kind   string `json:"kind"`  // handler, test function or annotation; else the class
	How    string `json:"how"`   // as in [UnitKind]
	G      int64  `json:"g"`     // goroutine
	FromNs int64  `json:"t0_ns"` // beginning, after the first event of the trace
	ToNs   int64  `json:"t1_ns"` // end
}
