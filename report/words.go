package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
)

// causeWord is how a cause of waiting is told.
type causeWord struct {
	title string // in a table
	lost  string // "was lost …"
	do    string // what to try where no finding says it better
}

var causeWords = map[waits.Cause]causeWord{
	waits.CauseSTW:         {"world stopped", "while the runtime had stopped the world", "see what stops the world, and what delays the last P in stopping"},
	waits.CauseUnavailable: {"P tied up", "in queues of Ps that a system call or a locked thread tied up", "move blocking calls away from goroutines that share a P with urgent work"},
	waits.CauseGC:          {"garbage collector", "behind mark workers of the garbage collector", "allocate less, or raise GOGC or GOMEMLIMIT"},
	waits.CauseIdlePWaking: {"P waking up", "while an idle P that had been called was waking up", "fewer and larger pieces of work; waking a thread takes microseconds"},
	waits.CauseIdlePMissed: {"idle P missed it", "while a P stood idle and did not take the work", "compare with a newer Go version: the scheduler left capacity unused"},
	waits.CauseBehind:      {"waiting in line", "in line behind goroutines that had become runnable earlier", "less work at once, more Ps if the machine has the cores, or shorter runs"},
	waits.CauseOvertaken:   {"overtaken", "behind goroutines that became runnable later", "look at who overtook: pairs that wake one another without end, or producers that fill local queues"},
	waits.CauseTracer:      {"tracer", "to the tracer itself", "nothing: without tracing it would not have been"},
	waits.CauseResidue:     {"in between", "between goroutines: in the scheduler, in waking threads, or in the operating system", "check whether the machine has fewer free cores than GOMAXPROCS"},
}

func causeTitle(c waits.Cause) string {
	if w, ok := causeWords[c]; ok {
		return w.title
	}
	return visible(string(c))
}

// bySize returns the causes that own any time, largest first.
func bySize(cs []waits.CauseTime) []waits.CauseTime {
	var out []waits.CauseTime
	for _, c := range cs {
		if c.Ns > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b waits.CauseTime) int { return cmp.Compare(b.Ns, a.Ns) })
	return out
}

func causeNs(cs []waits.CauseTime, c waits.Cause) int64 {
	for _, e := range cs {
		if e.Cause == c {
			return e.Ns
		}
	}
	return 0
}

// sourceWords say where a started goroutine was taken from, to follow "Pn".
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

func worded(m map[string]string, key string) string {
	if w, ok := m[key]; ok {
		return w
	}
	return visible(key)
}

// queueWord names a queue.
func queueWord(q string, p int32) string {
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

// moved tells a step of a wait that is not the first.
func moved(st waits.Step) string {
	if st.Queue == "direct" {
		return "taken out " + worded(whyWords, st.Why)
	}
	return fmt.Sprintf("moved to %s %s", queueWord(st.Queue, st.P), worded(whyWords, st.Why))
}

// storyText tells one wait in sentences.
func storyText(s waits.Story) string {
	var b strings.Builder
	name := ", " + className(s.Name) + ","
	if s.Name == "" {
		name = ""
	}
	fmt.Fprintf(&b, "Goroutine %d%s waited %s. ", s.G, name, duration(s.WaitNs))
	fmt.Fprintf(&b, "At %s it", instant(s.FromNs))
	if len(s.Path) == 0 {
		b.WriteString(" became runnable.")
	} else {
		st := s.Path[0]
		fmt.Fprintf(&b, " was put into %s %s", queueWord(st.Queue, st.P), worded(whyWords, st.Why))
		const shown = 3
		for i, st := range s.Path[1:] {
			if i == shown {
				fmt.Fprintf(&b, ", and moved %s", plural(int64(len(s.Path)-1-i+s.MoreSteps), "more time", "more times"))
				break
			}
			fmt.Fprintf(&b, ", after %s %s", duration(st.AtNs-s.FromNs), moved(st))
		}
		b.WriteString(".")
	}
	if len(s.Ahead) > 0 {
		var who []string
		for i, a := range s.Ahead {
			if i == 2 {
				who = append(who, plural(int64(len(s.Ahead)-i), "other class", "other classes"))
				break
			}
			who = append(who, fmt.Sprintf("%s for %s in %s", className(a.Name), duration(a.Ns), plural(a.Runs, "run", "runs")))
		}
		fmt.Fprintf(&b, " Meanwhile ran %s.", list(who))
	}
	if len(s.Held) > 0 && (len(s.Ahead) == 0 || s.Held[0].Ns > s.Ahead[0].Ns) {
		fmt.Fprintf(&b, " For %s %s.", duration(s.Held[0].Ns), held(s.Held[0]))
	}
	fmt.Fprintf(&b, " Then P%d %s.", s.P, worded(sourceWords, s.Source))
	if cs := bySize(s.Causes); len(cs) > 0 && s.WaitNs > 0 {
		fmt.Fprintf(&b, " Chief cause: %s (%s).", causeTitle(cs[0].Cause), share(cs[0].Ns, s.WaitNs))
	}
	return b.String()
}

// held says what kept a P from running anyone.
func held(h waits.Held) string {
	switch h.Cause {
	case waits.CauseSTW:
		if h.Reason != "" {
			return "the world was stopped for " + cut(visible(h.Reason), 60)
		}
		return "the world was stopped"
	case waits.CauseUnavailable:
		if h.Reason == "locked" {
			return "the P was handed to a locked thread"
		}
		s := "a system call of " + className(h.Name) + " held the P"
		if len(h.Stack) > 0 {
			s += ", in " + className(h.Stack[0])
		}
		return s
	case waits.CauseGC:
		return "the P ran a mark worker"
	case waits.CauseIdlePMissed:
		if h.P < 0 {
			return "a P that never had a thread was idle"
		}
		return fmt.Sprintf("P%d was idle", h.P)
	}
	return "the reason was " + causeTitle(h.Cause)
}
