// Package stretch answers: what would this trace be like if its program had run
// for hours? It makes a long, valid trace from a recorded one, faster than any
// program could record it, for benchmarks and tests.
//
// It repeats whole generations. Two things must fit where a repetition begins.
// The states of all goroutines, Ps and threads must be those in which the
// repeated part began: [Find] looks for two ends of generations that agree, and
// lets x/exp/trace judge. And what identifies must be new: a repetition's
// generation numbers, times, clock snapshots, GC sequence numbers, and the
// numbers of the goroutines that it creates are moved up. Sequence numbers of
// goroutines and Ps, strings and stacks belong to one generation, and stay.
//
// Only the format since Go 1.26 is understood, and neither CPU samples nor
// experimental events: the benchmark records nothing else.
package stretch
