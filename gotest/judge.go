package gotest

import (
	"regexp"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// Verdict is what a test that failed lacked.
type Verdict string

// The verdicts on a failed test: what it lacked, and who had that instead.
const (
	StarvedByMachine Verdict = "starved-by-machine" // CPUs, which the machine did not give its process
	StarvedByProgram Verdict = "starved-by-program" // Ps, which other goroutines had, or CPUs, which other threads of the program had
	NotScheduling    Verdict = "not-scheduling"     // nothing that scheduling could give
	NotKnown         Verdict = "unknown"            // it did not end, and nothing was recorded of it
)

// Judged is a run of a test that failed or was slow, and what it waited for. Times are ns.
type Judged struct {
	*Test
	Ns      int64              // duration of the run, ns
	Found   bool               // the trace shows the test; if not, its time is that of go test's output
	Path    []jsondoc.TestPart // what its time consists of, the most first
	Wait    jsondoc.TestWait   // waiting of the one of its goroutines that waited longest
	Machine Machine            // CPU time that its process got and lacked while it ran
	Timed   bool               // a timer woke one of its goroutines

	Verdict Verdict // "" if it did not fail
	Basis   string  // "certain": the kernel counted what it lacked, or the trace shows it; "suspected"
	Why     string  // the verdict's reason, in words
	cpus    int

	workNs     int64 // for which its goroutines ran or were runnable, summed
	lateNs     int64 // by which their timers may have been late, summed
	lastLateNs int64 // by which the last one that woke the test itself may have been: often what ends its patience
	quietNs    int64 // before its last long wait ended, for which no other of its goroutines ran or was runnable, and Ps were idle
}

// A test is starved if what it lacked is at least so much of its time; a single lack may be less of it,
// if it is as long as two time slices.
const (
	starvedShare = 0.25
	starvedLeast = int64(2 * time.Millisecond)
	longLack     = int64(20 * time.Millisecond)
	longShare    = 0.05
	// ownShare is how much of the CPUs' time the process itself has when it starves itself.
	ownShare = 0.85
)

var (
	// faults are messages of errors that no time makes.
	faults = regexp.MustCompile(`WARNING: DATA RACE|concurrent map (read|write|iteration)|all goroutines are asleep|invalid memory address|index out of range|slice bounds out of range|send on closed channel|close of closed channel|close of nil channel|negative WaitGroup counter|unlock of unlocked|interface conversion|divide by zero|goroutine stack exceeds|assignment to entry in nil map`)
	// late are words of messages about time.
	late = regexp.MustCompile(`(?i)time[d ]*.?out|deadline|too (slow|long|late)|took|elapsed|expired|within|in time|latency|\bafter \d|\bslow|\bstuck\b|\bhung\b|heartbeat|lease|\d(ns|µs|us|ms|s)\b|never (arrived|received|came|happened|fired|started|finished|completed)|did(n't| not) (arrive|finish|start|complete|respond|fire|happen|run|return|stop)|not (yet|done|ready|finished|completed|started)|\b(missed|stale|starved)\b`)
)

// measured are messages with a time that the test measured, and patience are words of one that gave up.
var measured = regexp.MustCompile(`(?i)took|elapsed|\d(ns|µs|us|ms|s)\b`)
var patience = regexp.MustCompile(`(?i)time[d ]*.?out|deadline|never|not (yet|done|ready)|did(n't| not)|gave up`)

// judge decides what a failed test lacked. runs compares its runs that failed with those that passed.
func (t *Judged) judge(runs comparison) {
	if t.Outcome == "pass" || t.Outcome == "skip" {
		return
	}
	out := t.out.String()
	if m := faults.FindString(out); m != "" {
		t.Verdict, t.Basis, t.Why = NotScheduling, "certain", "its output has an error that no delay makes: "+m
		return
	}
	if t.Ns == 0 {
		t.Ns = max(1, int64(t.ended.Sub(t.began)))
	}
	words := late.FindString(withoutFrames(out))
	if !t.Found && (words == "" || !t.Machine.Counted) {
		t.Verdict, t.Why = NotKnown, "it is not in its trace"
		if t.Outcome == "" {
			t.Why = "it ended the process before the trace of it was written"
		}
		return
	}
	machine, program := t.lacks()
	least := starvedLeast
	if words == "" {
		least = longLack
	}
	switch {
	case runs == othersLackNothing && (machine.starves(t.Ns, least) || program.starves(t.Ns, least)):
		t.Verdict, t.Basis, t.Why = NotScheduling, "suspected", "other runs of it failed that lacked neither CPUs nor Ps for long"
	case words == "" && !t.Timed && runs != failuresLackMore:
		t.Verdict, t.Basis, t.Why = NotScheduling, "suspected", "it waits for no timer, and its output is not about time"
	case patience.MatchString(withoutFrames(out)) && t.Machine.childNs == 0 && t.quietNs-t.Machine.StoppedNs-t.Machine.PausedNs > max(t.Ns/2, longLack):
		t.Verdict, t.Basis, t.Why = NotScheduling, "certain", "before it gave up, none of its goroutines had anything to do for "+quantity.Duration(t.quietNs)
	case !machine.starves(t.Ns, least) && !program.starves(t.Ns, least):
		t.Verdict, t.Basis, t.Why = NotScheduling, "certain", "it lacked neither CPUs nor Ps for long"
	case machine.starves(t.Ns, least) && (machine.ns >= program.ns/2 || !program.starves(t.Ns, least)):
		t.Verdict, t.Basis, t.Why = StarvedByMachine, machine.basis, machine.why
	default:
		t.Verdict, t.Basis, t.Why = StarvedByProgram, program.basis, program.why
	}
}

// lack is time for which something did not run that could have.
type lack struct {
	ns, longest int64
	basis, why  string
}

func (l lack) starves(whole, least int64) bool {
	share := float64(l.ns) / float64(whole)
	return l.ns >= least && (share >= starvedShare || l.longest >= longLack && share >= longShare)
}

// lacks returns what the machine kept from the test's process, and what the program kept from the test.
func (t *Judged) lacks() (machine, program lack) {
	m, w := &t.Machine, &t.Wait
	program = lack{ns: w.Ns - w.MachineNs, longest: w.LongestNs, basis: "certain", why: "a goroutine of it was runnable while others had the Ps"}
	if !m.Counted {
		machine = lack{ns: w.MachineNs, longest: min(w.LongestNs, w.MachineNs), basis: "suspected", why: "a goroutine of it was runnable while Ps were idle, or their threads late"}
		return machine, program
	}
	// Threads that lack CPUs together do so at one time.
	atOnce := max(1, float64(m.CPUNs+m.DelayNs)/float64(t.Ns))
	machine = lack{ns: int64(float64(m.DelayNs) / atOnce), longest: m.LongestNs, basis: "certain", why: "its threads waited for a CPU"}
	if t.Found {
		// The machine delays only who has something to do, and timers.
		out := withoutFrames(t.out.String())
		hurt := t.workNs + t.lateNs + m.childNs
		if measured.MatchString(out) && !patience.MatchString(out) {
			hurt += t.lastLateNs
		}
		machine.ns, machine.longest = min(machine.ns, hurt), min(machine.longest, hurt)
	}
	if t.cpus > 0 && float64(m.CPUNs) >= ownShare*float64(t.cpus)*float64(t.Ns) {
		// The process had all CPUs itself.
		if machine.ns > program.ns {
			program.ns, program.longest, program.why = machine.ns, machine.longest, "its threads waited for a CPU, and the process had nearly all of them"
		}
		machine.ns = 0
	}
	switch {
	case m.StoppedNs > machine.ns:
		machine = lack{ns: m.StoppedNs, longest: m.StoppedNs, basis: "certain", why: "its process was stopped by a signal"}
	case m.PausedNs > machine.ns:
		machine = lack{ns: m.PausedNs, longest: m.PausedNs, basis: "suspected", why: "neither its process nor gmpscope ran for " + quantity.Duration(m.PausedNs) + ", nor waited for a CPU: stopped, or frozen"}
	}
	if m.ThrottledNs > machine.ns/2 && m.ThrottledNs > 0 {
		machine.why = "its CPU quota was used up"
		machine.ns = max(machine.ns, m.ThrottledNs)
	}
	return machine, program
}

// comparison is what the runs of a test say together.
type comparison int

const (
	notComparable comparison = iota
	failuresLackMore
	othersLackNothing
)

// compare finds how what runs lacked goes with their failing. Where a quarter of those that failed, and two,
// lacked nothing, it is not that. Where those that failed lacked more than those that passed, it is: by how often
// one did (the statistic of Mann and Whitney, as a share).
func compare(tests, passes []*Judged) comparison {
	var failed, passed []int64
	nothing := 0
	for _, t := range tests {
		if t.Outcome != "fail" || !t.Found {
			continue
		}
		machine, program := t.lacks()
		failed = append(failed, max(machine.ns, program.ns))
		if !machine.starves(t.Ns, starvedLeast) && !program.starves(t.Ns, starvedLeast) {
			nothing++
		}
	}
	for _, t := range passes {
		if t.Found {
			machine, program := t.lacks()
			passed = append(passed, max(machine.ns, program.ns))
		}
	}
	if nothing >= 2 && 4*nothing >= len(failed) {
		return othersLackNothing
	}
	more := 0
	for _, f := range failed {
		for _, p := range passed {
			if f > p {
				more++
			}
		}
	}
	if len(failed) >= 2 && len(passed) >= 2 && len(failed)+len(passed) >= 6 && float64(more) >= 0.85*float64(len(failed)*len(passed)) {
		return failuresLackMore
	}
	return notComparable
}

// withoutFrames returns an output without stacks, whose lines are about anything.
func withoutFrames(s string) string {
	return linesBut(s, func(line string) bool {
		return strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(strings.TrimLeft(line, " "), "--- ")
	})
}
