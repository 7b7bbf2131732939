package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/findings/glossary"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// WhatIsAWait says what counts, for those who compare the totals with those of
// "go tool trace". cmd/trace's makeComputePprofFunc counts the part of a wait
// that lies in the goroutine's life, which pprofMatchingGoroutines begins at its
// first run (Go 1.26).
const WhatIsAWait = "A wait lasts from the event that makes a goroutine runnable, its creation among them, to its start. The profile of go tool trace -pprof=sched is smaller: it leaves out what a new goroutine waits before it runs for the first time. The goroutine tables of go tool trace count that too."

// Cause is how a cause of waiting is told. What it means is in package glossary.
type Cause struct {
	Title string // in a table
	Lost  string // "was lost …"
	Do    string // what to try where no finding says it better
}

var causes = map[waits.Cause]Cause{
	waits.CauseSTW:         {"world stopped", "while the runtime had stopped the world", "see what stops the world, and what delays the last P in stopping"},
	waits.CauseUnavailable: {"P tied up", "in queues of Ps that a system call or a locked thread tied up", "move blocking calls away from goroutines that share a P with urgent work"},
	waits.CauseGC:          {"garbage collector", "behind mark workers of the garbage collector", "allocate less, or raise GOGC or GOMEMLIMIT"},
	waits.CauseIdlePWaking: {"P waking up", "while an idle P that had been called was waking up", "fewer and larger pieces of work; waking a thread takes microseconds"},
	waits.CauseIdlePMissed: {"idle P missed it", "while a P stood idle and did not take the work", "check whether the machine wakes threads late: other programs, a CPU quota, power saving; and compare with a newer Go version"},
	waits.CauseBehind:      {"waiting in line", "in line behind goroutines that had become runnable earlier", "less work at once, more Ps if the machine has the cores, or shorter runs"},
	waits.CauseOvertaken:   {"overtaken", "behind goroutines that became runnable later", "look at who overtook: pairs that wake one another without end, or producers that fill local queues"},
	waits.CauseTracer:      {"tracer", "to the tracer itself", "nothing: without tracing it would not have been"},
	waits.CauseResidue:     {"in between", "between goroutines: in the scheduler, in waking threads, or in the operating system", "check whether the machine has fewer free cores than GOMAXPROCS"},
}

// CauseOf returns the words for a cause. A cause without words, which a newer
// document may hold, keeps its name.
func CauseOf(c waits.Cause) Cause {
	if w, ok := causes[c]; ok {
		return w
	}
	return Cause{Title: Cut(Visible(string(c)), maxName)}
}

// Meaning is the glossary's sentence for a cause or a source; "" if it has none.
func Meaning(kind glossary.Kind, name string) string {
	for _, t := range glossary.Of(kind) {
		if t.Term == name {
			return t.Short
		}
	}
	return ""
}

// BySize returns the causes that own any time, largest first.
func BySize(cs []waits.CauseTime) []waits.CauseTime {
	var out []waits.CauseTime
	for _, c := range cs {
		if c.Ns > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b waits.CauseTime) int { return cmp.Compare(b.Ns, a.Ns) })
	return out
}

// CauseNs is the time, ns, that a cause owns.
func CauseNs(cs []waits.CauseTime, c waits.Cause) int64 {
	for _, e := range cs {
		if e.Cause == c {
			return e.Ns
		}
	}
	return 0
}

// State is how a part of a P's account is told.
type State struct {
	Title  string
	Column string // the same as the head of a narrow column
	What   string
	JSON   string // its key in an element of "ps"
}

// States returns the parts of a P's account, in the order in which they are
// shown.
func States() []State { return slices.Clone(states) }

var states = []State{
	{"program", "program", "Goroutines of the program ran.", "running_ns"},
	{"runtime", "runtime", "The runtime's own goroutines ran, mark workers and the tracer's left out.", "system_ns"},
	{"GC", "GC", "A mark worker of the garbage collector ran.", "gc_ns"},
	{"tracer", "tracer", "The tracer's own goroutines ran.", "tracer_ns"},
	{"system call", "syscall", "The P's goroutine was in a system call, and the P was not taken away.", "syscall_ns"},
	{"scheduler", "sched", "The P had a thread, but ran no goroutine: it searched for work, or switched.", "sched_ns"},
	{"stopped", "stopped", "The world was stopped.", "stopped_ns"},
	{"idle", "idle", "The P had no thread: there was nothing to do for it, as far as the scheduler knew.", "idle_ns"},
	{"unused", "unused", "GOMAXPROCS was too low for this P to exist.", "unused_ns"},
	{"not recorded", "not rec.", "Nobody knows: a part of the trace is missing, or has not shown the P again since. Shares of P-time are of the rest.", "not_recorded_ns"},
}

// Source says where a started goroutine was taken from, to follow "Pn".
func Source(s string) string { return worded(sources, s) }

var sources = map[string]string{
	"unknown":       "took it, it is not known from where",
	"runnext":       "took it from its runnext slot",
	"local":         "took it from its own queue",
	"global":        "took it from the global queue",
	"global-tick":   "took it from the global queue, which it looks at first every 61st time",
	"steal":         "stole it from another P's queue",
	"steal-runnext": "stole it from another P's runnext slot",
	"netpoll":       "got it straight from the network poller",
	"gc-worker":     "ran it as a mark worker",
	"trace-reader":  "ran it to read trace buffers",
	"syscall-exit":  "ran it as it came back from a system call",
	"coroutine":     "switched to it as a coroutine",
	"direct":        "ran it directly",
}

// Why says how a goroutine came into a queue.
func Why(s string) string { return worded(whys, s) }

var whys = map[string]string{
	"unknown":           "for a reason that the trace does not show",
	"create":            "when a go statement created it",
	"unblock":           "when another goroutine woke it",
	"timer":             "when its timer fired",
	"network":           "when the network poller woke it",
	"syscall-exit":      "when it came back from a system call and found no free P",
	"system":            "when the runtime woke it",
	"gosched":           "when it called runtime.Gosched",
	"slice":             "when it was preempted at the end of its time slice",
	"stw":               "when it was preempted for a stop-the-world",
	"gc":                "when it was preempted for the garbage collector",
	"generation-switch": "when it was preempted by the tracer",
	"goyield":           "when it yielded to the goroutine that it handed a lock to",
	"suspend":           "when it was suspended for a stack scan",
	"coroutine":         "in a coroutine switch",
	"steal":             "in a stolen batch",
	"overflow":          "because the local queue was full",
	"global-batch":      "in a batch from the global queue",
	"displaced":         "when a newcomer pushed it out of the runnext slot",
	"gomaxprocs":        "when GOMAXPROCS changed",
	"locked":            "because of a locked thread",
	"corrected":         "as a correction: later events show that it was there",
	"block":             "after it had blocked",
}

// Decision names a cause of handoffs, retakes and preemptions.
func Decision(s string) string { return worded(decisions, s) }

var decisions = map[string]string{
	"unknown":           "not shown by the trace",
	"syscall":           "in a system call",
	"sysmon":            "system call too long (sysmon)",
	"returning-syscall": "by a thread back from a system call",
	"slice":             "time slice used up",
	"stw":               "stop-the-world",
	"gc":                "garbage collector",
	"generation-switch": "the tracer's generation switch",
	"goyield":           "yield to a waiter that got a lock",
	"gosched":           "runtime.Gosched",
	"suspend":           "stack scan",
	"locked":            "locked thread",
	"block":             "goroutine blocked",
	"idle":              "no work found",
	"gomaxprocs":        "GOMAXPROCS changed",
	"system":            "the runtime itself",
}

// End says why a run interval ended, to follow "it".
func End(s string) string { return worded(ends, s) }

var ends = map[string]string{
	"block": "blocked", "exit": "ended", "gosched": "yielded", "slice": "was preempted for its slice", "stw": "was stopped with the world",
	"gc": "was preempted for the GC", "generation-switch": "was preempted for the tracer", "goyield": "yielded to a waiter", "syscall": "went into a system call",
	"suspend": "was suspended", "coroutine": "switched to a coroutine", "sysmon": "lost its P in a system call", "returning-syscall": "lost its P in a system call",
}

// Basis explains how something is known: a level, or level:rule.
func Basis(b string) string {
	level, rule, _ := strings.Cut(b, ":")
	s := worded(levels, level)
	if rule != "" {
		s += " (" + worded(rules, rule) + ")"
	}
	return s
}

var levels = map[string]string{
	"observed":  "seen in the trace",
	"inferred":  "inferred from the rules of the scheduler",
	"ambiguous": "one of several explanations that fit",
	"assumed":   "assumed",
	"unknown":   "unknown",
	"certain":   "certain: the trace shows it",
	"suspected": "suspected: the trace cannot prove it",
}

var rules = map[string]string{
	"queue":     "the queue model had it just there",
	"passed":    "those in front had left unseen",
	"phase":     "the phase of the 61st tick decides",
	"repair":    "the model had it elsewhere and was corrected",
	"reorder":   "two puts at nearly the same time",
	"tick":      "tick or empty local queue, either fits",
	"initial":   "already runnable when the trace began",
	"lookahead": "what happened next decides",
	"doubt":     "the model was corrected there shortly before",
}

// Queue names a queue, of P p where it has one.
func Queue(q string, p int32) string {
	switch {
	case q == "runnext" && p >= 0:
		return fmt.Sprintf("the runnext slot of P%d", p)
	case q == "local" && p >= 0:
		return fmt.Sprintf("the queue of P%d", p)
	case q == "global" || q == "local" && p < 0:
		return "the global queue"
	case q == "direct":
		return "no queue, to be run directly"
	default:
		return "a queue that is not known"
	}
}

// Status is the badge of a verdict's status; ok is false if there is none.
func Status(s string) (badge string, ok bool) {
	badge, ok = statuses[s]
	return badge, ok
}

var statuses = map[string]string{
	"ok":       "Nothing wrong",
	"note":     "Worth knowing",
	"warning":  "Problem",
	"critical": "Serious problem",
}

// worded is the word for key; a key without one stands for itself.
func worded(m map[string]string, key string) string {
	if w, ok := m[key]; ok {
		return w
	}
	return Cut(Visible(key), maxName)
}

// wholes says of what the cost of a finding is a part.
var wholes = map[findings.Whole]string{
	findings.OfWaiting: "the program's waiting",
	findings.OfIdle:    "the program's waiting and idle P-time",
	findings.OfBlocked: "the time that the program's goroutines waited or were blocked",
	findings.OfPTime:   "the program's waiting and all P-time",
}

// CostPart says what part of which whole the cost of a finding is; "" if there
// is no whole.
func CostPart(f *findings.Finding) string {
	of, ok := wholes[f.CostOf]
	if !ok || f.WholeNs <= 0 {
		return ""
	}
	return quantity.Part(f.CostNs, f.WholeNs) + " of " + of
}
