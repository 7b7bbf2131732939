// Package replay answers: does a trace hold against the rules of the scheduler,
// and what would the scheduler do with the same work, now or otherwise?
//
// [Audit] holds a trace against the rules, and [Simulate] also simulates its work: as
// it was, so that [Simulated].Error says how far the model can be trusted, and with each
// [Change] that is asked for (another GOMAXPROCS, a class that computes faster, a lock
// that no goroutine waits for …). Read a what-if beside the simulation of what was, not beside
// the trace. Both take a source of package analyze/input. Times are in ns. Package report
// writes a [Result] as text and JSON; package gmpscope says what is stable.
//
// A [StreamAudit] and a [Simulation] do the same beside an analysis that is under way, so that
// the trace is read once: they take the decisions of analyze.Options.OnDecision.
//
// # Audit and simulation
//
// The simulation of the work ([Simulate]) takes the work out of a trace (package
// workload), gives it to the simulator of package reference/sim, and measures
// both runs with the accumulators of the analysis. With the trace's own rules the
// difference is the error of the model; with others, a [Change], it is a what-if.
// lab/docs/replay.md has the errors over many traces, and says why they are what they
// are; lab/accuracy makes it. A [Decomposition] holds the waiting that was observed
// against it: what an ideal scheduler would give as well, what the rules of the
// scheduler add, and what neither explains.
//
// The guided replay is an audit. [Audit] runs the analysis of a trace and hands
// every decision to an [Auditor], which steps its own run queues along the
// decisions and along nothing else. It repairs nothing, and it looks neither at
// the events nor at what comes later. So it finds where the reconstruction
// contradicts itself, and where its decisions are not those of the scheduler.
//
// # What is judged
//
// A start is explained if a rule of runtime/proc.go, findRunnable, accounts for
// it, given the queues as the decisions before it define them:
//
//   - runnext: it is the P's own runnext.
//   - local: it heads the P's own ring, and runnext is empty.
//   - global: it heads the global queue, the P's own queue is empty, and the
//     batch has the size that globrunqgetbatch gives.
//   - global-tick: it heads the global queue, and as many time slices have
//     passed on the P since the last such pick as a multiple of 61.
//   - steal: the batch is the victim's ring up to it, half of the ring, rounded
//     up; the thief's own queue and the global one are empty.
//   - steal-runnext: as steal, and the victim's ring is empty.
//   - netpoll and all others without a queue: it was in none.
//
// # Races
//
// A put follows its event, and a take precedes its own: what lies in between is
// not in the trace. A put is under way from its decision to the next decision of
// the same thread; a take happens between the last decision of the taking thread
// and the start. A start that a rule explains for some order of the operations
// within these bounds is ambiguous, and [Race] says why. There are no tolerances
// in time.
//
// # What must always hold
//
// [Invariant] lists what no race can excuse: a goroutine in two places, two
// goroutines on one P, time that goes back, queue lengths that are not those of
// the decisions. A stream of decisions that breaks one of them is wrong, whatever
// the scheduler did. Tests and fuzzers of other packages use an Auditor for this.
package replay
