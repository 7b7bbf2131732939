package html

import (
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
)

// causeWord is how a cause of waiting is shown. Key names its colour; the
// colours are those of the states of a P where the two speak of the same
// thing.
type causeWord struct {
	Key   string
	Title string
	What  string // one sentence, ends in a period
	Do    string // what follows from it
}

var causeWords = map[waits.Cause]causeWord{
	waits.CauseSTW: {"stopped", "world stopped",
		"The runtime had stopped all goroutines: for a phase of the garbage collector, a profile, a change of GOMAXPROCS or the tracer itself.",
		"Look at which pauses they were, and how long the last P took to stop."},
	waits.CauseUnavailable: {"syscall", "P tied up",
		"The P in whose queue it stood was held by a system call, or was being handed to a locked thread.",
		"Move blocking calls away from goroutines that share a P with urgent work; unlock threads."},
	waits.CauseGC: {"gc", "garbage collector",
		"Its P ran a mark worker of the garbage collector.",
		"Allocate less, or raise GOGC or GOMEMLIMIT."},
	waits.CauseIdlePWaking: {"waking", "P waking up",
		"An idle P had been called to take it, and was on its way: a thread had to wake up.",
		"Short by nature. If it is not, the operating system is slow to wake threads."},
	waits.CauseIdlePMissed: {"missed", "idle P missed it",
		"A P stood idle and could have run it, but did not take it.",
		"The scheduler left capacity unused. Compare with a newer Go version, and see the findings."},
	waits.CauseBehind: {"behind", "waiting in line",
		"Goroutines that had become runnable earlier ran first. All Ps had work.",
		"Plain queueing: less work, more Ps if the machine has the cores, or shorter runs."},
	waits.CauseOvertaken: {"overtaken", "overtaken",
		"Goroutines that became runnable later ran first: through runnext, or local queues served before the global one.",
		"Look at who overtook: pairs that wake one another without end, or producers that fill local queues."},
	waits.CauseTracer: {"tracer", "tracer",
		"The tracer's own goroutines ran. Without tracing this would not have been.",
		"Nothing, unless it is much: then trace less."},
	waits.CauseResidue: {"sched", "in between",
		"No goroutine ran on its P: the scheduler was searching, a thread was waking up, or the operating system ran something else.",
		"If it is much, the machine is oversubscribed, or runs are so short that scheduling itself costs."},
}

func causeWordOf(c waits.Cause) causeWord {
	if w, ok := causeWords[c]; ok {
		return w
	}
	return causeWord{Key: "sched", Title: name(string(c)).Short}
}

// causeTerm is the glossary's entry for a cause.
func causeTerm(c waits.Cause) string { return "c-" + strings.ReplaceAll(string(c), "/", "-") }

// stateWord is how a part of a P's account is shown.
type stateWord struct {
	Key, Title, What string
}

var stateWords = []stateWord{
	{"user", "program", "Goroutines of the program ran."},
	{"system", "runtime", "The runtime's own goroutines ran, mark workers and the tracer's left out."},
	{"gc", "GC", "A mark worker of the garbage collector ran."},
	{"tracer", "tracer", "The tracer's own goroutines ran."},
	{"syscall", "system call", "The P's goroutine was in a system call, and the P was not taken away."},
	{"sched", "scheduler", "The P had a thread, but ran no goroutine: it searched for work, or switched."},
	{"stopped", "stopped", "The world was stopped."},
	{"idle", "idle", "The P had no thread: there was nothing to do for it, as far as the scheduler knew."},
	{"unused", "unused", "GOMAXPROCS was too low for this P to exist."},
}

// sourceWords say where a started goroutine was taken from, to follow "took it".
var sourceWords = map[string]string{
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

// whyWords say how a goroutine came into a queue.
var whyWords = map[string]string{
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

// decisionWords are the causes of handoffs, retakes and preemptions.
var decisionWords = map[string]string{
	"unknown":           "not shown by the trace",
	"syscall":           "in a system call",
	"sysmon":            "system call too long (sysmon)",
	"returning-syscall": "taken by a thread that came back from a system call",
	"slice":             "time slice used up",
	"stw":               "stop-the-world",
	"gc":                "garbage collector",
	"generation-switch": "the tracer's generation switch",
	"goyield":           "yielded to a waiter that got a lock",
	"gosched":           "runtime.Gosched",
	"suspend":           "stack scan",
	"locked":            "locked thread",
	"block":             "goroutine blocked",
	"idle":              "no work found",
	"gomaxprocs":        "GOMAXPROCS changed",
	"system":            "the runtime itself",
}

func word(m map[string]string, key string) string {
	if w, ok := m[key]; ok {
		return w
	}
	return name(key).Short
}

// basisWords explain a basis, level:rule.
func basisWord(b string) string {
	level, rule, _ := strings.Cut(b, ":")
	l := map[string]string{
		"observed":  "seen in the trace",
		"inferred":  "inferred",
		"ambiguous": "one of several explanations that fit",
		"assumed":   "assumed",
		"unknown":   "unknown",
		"certain":   "certain: the trace shows it",
		"suspected": "suspected: the trace cannot prove it",
	}
	r := map[string]string{
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
	s := word(l, level)
	if rule != "" {
		s += " (" + word(r, rule) + ")"
	}
	return s
}

// term is an entry of the glossary.
type term struct {
	ID, Word, Text string
}

type glossary struct {
	Title string
	Intro string
	Terms []term
}

func glossaries() []glossary {
	words := glossary{Title: "Words", Terms: []term{
		{"g-goroutine", "goroutine (G)", "A function that runs concurrently with others. A Go program has as many as it likes; they take turns."},
		{"g-p", "P, processor", "The right to run Go code. There are GOMAXPROCS of them, by default one per core, and a goroutine runs only while it has one. P0, P1 … are their names."},
		{"g-m", "thread (M)", "A thread of the operating system. It carries a P, and the P a goroutine. A thread in a system call may lose its P to another thread."},
		{"g-runnable", "runnable", "Ready to run, but not running: it waits for a P. Time spent so is what this report calls waiting. Waiting for a channel, a lock or the network is not counted: that is the program's own business."},
		{"g-wait", "wait", "One stretch of one goroutine from runnable to running."},
		{"g-local", "local queue", "Each P's own queue, of up to 256 goroutines. Whoever makes a goroutine runnable puts it into the queue of the P on which that happens. Lengths in this report count the runnext slot too."},
		{"g-runnext", "runnext", "A slot of each P for the goroutine made runnable last. It runs next, before the queue, and within the time slice of the one before it. Good for pairs that talk to each other; unfair to everybody behind, if they never stop."},
		{"g-global", "global queue", "One queue for all Ps. Preempted goroutines and overflow go there. A P looks there when its own queue is empty, and first on every 61st time slice."},
		{"g-steal", "steal", "A P without work takes the older half of another P's queue. The thief runs one of them at once."},
		{"g-overflow", "overflow", "A put on a full local queue moves half of it, and the newcomer, to the global queue."},
		{"g-retake", "retake", "A watcher thread of the runtime (sysmon) takes the P away from a thread that stays in a system call."},
		{"g-handoff", "handoff", "A P that was given up or retaken is given to another thread."},
		{"g-preempt", "preemption", "A running goroutine is made to stop: after a time slice of 10 ms, or for a stop-the-world, the garbage collector or the tracer. sysmon looks only so often, so that slices of 20 ms are normal."},
		{"g-stw", "stop-the-world (STW)", "A moment in which the runtime lets no goroutine run."},
		{"g-class", "class", "All goroutines with the same start function and the same creator."},
		{"g-antagonist", "antagonist", "A class that ran on a P while goroutines of another stood in that P's queue."},
	}}
	causes := glossary{
		Title: "Causes of waiting",
		Intro: "Every nanosecond of every wait has exactly one cause: the first in this list that holds at that instant. So the causes add up to the waiting, with nothing left over.",
	}
	for _, c := range waits.Causes() {
		w := causeWordOf(c)
		causes.Terms = append(causes.Terms, term{causeTerm(c), w.Title + " (" + string(c) + ")", w.What + " " + w.Do})
	}
	states := glossary{Title: "What a P does"}
	for _, s := range stateWords {
		states.Terms = append(states.Terms, term{"s-" + s.Key, s.Title, s.What})
	}
	sources := glossary{
		Title: "Where a goroutine is taken from",
		Intro: "For every start the report says from where the P took the goroutine. The trace does not record that; it is inferred from the rules of the scheduler.",
	}
	for _, s := range []string{"runnext", "local", "global", "global-tick", "steal", "steal-runnext", "netpoll", "gc-worker", "trace-reader", "syscall-exit", "coroutine", "direct", "unknown"} {
		sources.Terms = append(sources.Terms, term{"q-" + s, s, "The P " + sourceWords[s] + "."})
	}
	metrics := glossary{Title: "Measures", Terms: []term{
		{"m-percentiles", "percentile, counted and time-weighted", "p99 of 5 ms, counted by wait: one wait in a hundred is longer than 5 ms. Time-weighted: of all the time spent waiting, one hundredth is spent in waits longer than that. Many short waits hide few long ones in the first kind; the second asks what a goroutine that waits right now is in for."},
		{"m-tail", "tail mass", "The share of all waiting time that lies in waits longer than 1 ms, or 10 ms."},
		{"m-cost", "cost of a finding", "Goroutine-time lost: the waiting that would not have been, summed over goroutines. Ten goroutines that wait 1 ms each lose 10 ms."},
		{"m-pressure", "pressure: some, full", "Some: the share of time in which at least one goroutine waited. Full: the share in which one waited and nothing of the program ran."},
		{"m-idle", "unclaimed idle", "The share of all P-time that was idle while a goroutine stood in a queue. A perfect scheduler has none."},
		{"m-jain", "Jain's index", "How evenly goroutines got what they should have got, given who wanted to run when. 1 is perfectly even; 1/n means that one of n got everything."},
		{"m-gini", "Gini of waits", "How unequally the waiting is spread over the goroutines of a class: 0 equal, near 1 one of them does all the waiting."},
		{"m-lag", "lag", "Running time that a goroutine was owed, against perfectly even sharing of the Ps. In a fair scheduler it stays small."},
		{"m-slowdown", "slowdown", "(waiting + running) / running, of one activation. 1 means no wait at all; 10 that running 1 ms took 10 ms."},
		{"m-behindlong", "behind one long run", "The part of waiting in line, or of being overtaken, that was spent behind a single run longer than a time slice."},
		{"m-little", "Little's check", "Mean number waiting = rate × mean wait. A self-check of the analysis: the two sides should agree."},
	}}
	return []glossary{words, causes, states, sources, metrics}
}
