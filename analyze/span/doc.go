// Package span answers: how much of the work had to be done one after the
// other, and how fast could it have been at best? It is one of the accumulators
// of step 5 of package analyze.
//
// The program's run intervals are a graph: pieces of running, an edge from each
// piece to the next of its goroutine, and from the piece in which a goroutine
// wakes or creates another to the first piece of that one afterwards. The work
// T1 is the length of all pieces, the span Tinf that of the longest chain of
// them, the critical path: what no number of Ps makes shorter.
//
//   - On P Ps the work takes at least max(T1/P, Tinf), and a greedy scheduler
//     needs at most T1/P + Tinf (Brent, The parallel evaluation of general
//     arithmetic expressions, 1974; Blumofe and Leiserson, Scheduling
//     multithreaded computations by work stealing, 1999).
//   - Where only Pa Ps are there on average, work stealing needs a time of the
//     order of T1/Pa + Tinf·P/Pa (Arora, Blumofe and Plaxton, Thread scheduling
//     for multiprogrammed multiprocessors, 1998).
//
// An edge is seen only where a goroutine waited: a value that lay in a channel
// before its receiver came leaves none, nor does a lock that was free. So Tinf is
// a lower bound of the true span, and T1/Tinf an upper one of the parallelism.
// What a goroutine waits for outside the program (time, network, system calls)
// is no part of either.
//
// It serves this module and is not stable: see package gmpscope.
package span
