// Package truth records what the Go scheduler really decided, and scores what
// gmpscope reconstructed from the trace alone against it.
//
//  1. [Instrument] reads the runtime of a toolchain and finds, in its syntax
//     tree, the places where a goroutine enters or leaves a run queue; an overlay
//     puts one call there. Nothing of the Go tree is kept in this repository.
//  2. [Builder.Workload] builds the workload programs against that runtime;
//     [Run] runs one with the execution tracer and the recording on.
//  3. [ReadRecords] reads the recording. Its order is that of an atomic counter:
//     for each goroutine it is exact, because a record is written before a
//     goroutine becomes visible in a queue and after it has left one.
//  4. [Join] brings recording and trace together. A start record is written
//     inside the function that writes the trace's start event, so the n-th start
//     of a goroutine in one is the n-th in the other, and P and thread must agree.
//     The result is a list of [Line] in the vocabulary of gmpscope dump.
//  5. [Check] replays the records as queues and reports whether they contradict
//     themselves.
//  6. [Compare] scores a dump against the truth; [FindOpen] and [FindOpenTicks]
//     tell which queue lengths and ticks no dump could know.
//
// The package lab/truth/commands does all of this.
package truth
