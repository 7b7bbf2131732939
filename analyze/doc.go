// Package analyze answers: what did the scheduler do, and was it good?
//
// [File] analyses a trace by its path or URL, and [Reader] what a reader gives, such as
// the buffer of a runtime/trace.FlightRecorder. Both return a [Result]: what the trace
// is ([Trace]), how far its hidden decisions could be explained ([Reconstruction]), how
// long goroutines waited for a P and why (package waits), what the Ps did (procs), how
// evenly running time was shared (fairness), what goroutines did with their life
// (breakdown), where in the program they had stopped (stacks), which requests, jobs and
// tests there were, and where their time went (work), what had to be done in a row ([Span]),
// and what is wrong with it (findings): what is worth a warning before notes, and what
// costs more before what costs less. What a verdict is about, which need not be the first of
// them, says diagnosis.Diagnose; package report puts it into words (report.Build). The zero [Options] are usable; with Options.Focus the result
// is that of a window, or of some goroutines.
//
// All times are int64, in nanoseconds; those that name an instant count from the first
// event of the trace. The same trace and options give the same result, whatever the
// number of workers. A result shares nothing with what it was made from, and may be read
// by several goroutines at once.
//
// A trace that is damaged, or cut off, gives the result of what could be read, and
// Trace.Warnings says what is missing. Traces need not be trusted: memory is bounded, by
// Options.MaxMemory if it is set.
//
// # Errors
//
// All name the trace. For errors.Is and errors.As:
//
//   - no such file, no right to read it: those of package io/fs
//   - an input without a byte: [ErrEmpty]
//   - something else than a trace, or a directory: [ErrNotTrace]
//   - a trace of a format that no Go release writes, or a newer one: [ErrUnsupported]
//   - a trace of which nothing could be read: [ErrNoEvents]
//   - a damaged or truncated one: none, but Trace.Warnings and Trace.Incomplete
//   - an error of the reader given to [Reader]: that error; no result without Options.Partial
//   - more alive at one time than memory allows: [ErrMemory]; no error with Options.Partial
//   - a cancelled context: its error; no error with Options.Partial, once there were events
//   - an error of Options.OnDecision: that error
//   - a panic of this module, or of a function in Options: [Bug]
//
// By example:
//
//	res, err := analyze.File(ctx, name, analyze.Options{MaxMemory: 512 << 20})
//	if err != nil {
//		return err // which names the trace
//	}
//	for _, w := range res.Trace.Warnings {
//		log.Print(w)
//	}
//
// Package gmpscope says which of the packages below are stable.
//
// # How it works
//
// It is a pipeline; each step is a package that imports none of the later
// ones.
//
//  1. input: trace bytes to generations, from a file, a pipe or a URL, compressed or not.
//  2. events: generations, decoded in parallel, to compact events in order;
//     golang.org/x/exp/trace is the judge of what is valid. Both know the format by wire.
//  3. reconstruct: events to decisions ([reference.Decision]): the rules of the run queues,
//     driven by what was observed, with a bounded look-ahead.
//  4. ledger: decisions to notes and intervals: whose decision it is and what it changed. Each
//     goroutine, P and queue is followed here, once.
//  5. The accumulators, which see each decision with its note once: waits, stacks, procs,
//     fairness, breakdown, work, timeline, span, and, if there are records of the kernel's
//     scheduler, kernel. Of a window of the trace, those that sum durations up take all of it
//     and count the part inside; focus cuts it out for the others. With Options.Observer,
//     somebody else sees the same notes and each wait by itself: package export hands them
//     on to other tools.
//  6. findings: the detectors, each in a folder of its own. They see the same notes, and in
//     the end judge what they and the accumulators hold.
//  7. diagnosis, of a finished result: which finding leads, and what kind of trouble that is.
//
// [Run] ties the first six steps together, for those who open the trace themselves, and
// returns a [Result]. Memory is bounded by what is alive in the trace, a few
// generations in flight, and the result.
package analyze
