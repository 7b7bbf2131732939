// Package focus answers: what is it like in this part of the trace? It is beside step 4
// of [github.com/gmpscope/gmpscope/analyze]: a [Clipper] makes of a stream of decisions one
// that has but a window [From, To) of it, for the accumulators that judge what is
// inside. Those that sum durations up take the whole stream and count the part inside,
// so that neighbouring windows add up to the whole.
package focus
