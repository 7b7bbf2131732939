// Package analyze answers: what did the scheduler do, and was it good?
//
// It is a pipeline; each step is a package that imports none of the later
// ones.
//
//  1. [github.com/gmpscope/gmpscope/analyze/input]: trace bytes to
//     generations, from a file, a pipe or a URL, compressed or not.
//  2. [github.com/gmpscope/gmpscope/analyze/events]: generations, decoded in
//     parallel, to compact events in order; golang.org/x/exp/trace is the judge
//     of what is valid. Both know the format by
//     [github.com/gmpscope/gmpscope/analyze/wire].
//  3. [github.com/gmpscope/gmpscope/analyze/reconstruct]: events to decisions
//     ([github.com/gmpscope/gmpscope/reference.Decision]): the rules of the
//     run queues, driven by what was observed, with a bounded look-ahead.
//  4. [github.com/gmpscope/gmpscope/analyze/ledger]: decisions to notes: whose
//     decision it is and what it changed. Each goroutine, P and queue is
//     followed here, once.
//  5. The accumulators, which see each decision with its note once:
//     [github.com/gmpscope/gmpscope/analyze/waits] (how long, and why),
//     [github.com/gmpscope/gmpscope/analyze/procs] (what the Ps did),
//     [github.com/gmpscope/gmpscope/analyze/fairness] (who got what share),
//     [github.com/gmpscope/gmpscope/analyze/timeline] (the picture over time),
//     [github.com/gmpscope/gmpscope/analyze/span] (how much had to be done in a
//     row).
//  6. [github.com/gmpscope/gmpscope/analyze/findings]: the detectors, each in
//     a folder of its own, judge what the accumulators hold.
//
// [Run] ties the steps together and returns a [Result]. Memory is bounded by
// what is alive in the trace, a few generations in flight, and the result.
package analyze
