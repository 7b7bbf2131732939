// Package work answers: which requests, jobs, iterations and tests did the program do, and
// how long did each take? It is one of the accumulators of step 5 of
// [github.com/gmpscope/gmpscope/analyze].
//
// A unit of work is found in one of these ways (a [How]):
//
//   - task, region: the program marked it (runtime/trace). These win: what a goroutine
//     marks is not inferred again.
//   - cycle: a goroutine comes back again and again to the place where it waits for
//     something to do, its home. A unit begins when the goroutine is made runnable there.
//     It ends with its last write to the network if home is a read, else when the
//     goroutine is back.
//   - producer: a goroutine without a home that loops at a channel send.
//   - lifetime: a goroutine does one job and ends.
//   - test, benchmark, calibration: what package testing runs. The runs of a benchmark before
//     the last one are its calibration.
//   - phase: what main does, part after part.
//   - run: what a goroutine does that loops without a home, and, where nothing begins from
//     outside, what the program does.
//
// # How a home is found
//
// Goroutines belong to a class, by their start function. The class is decided when it has
// blocked 400 times, when 20 of its goroutines have ended, or at the end of the trace. Until
// then its events are kept, and replayed once it is decided. It is decided again when it has
// blocked 1,000 times, 10,000 times and so on, but home changes only where another place has
// twice the weight of it. The stacks at which
// it blocked make a tree, cut before the machinery of the standard library. A node under which
// all blocks are of one family (a read, a receive, a select, …) is a candidate. home.go says
// which candidate wins. Where goroutines go from place to place under it in turn, home is the one
// where they wait longest.
//
// # Where the time went
//
// The time of a unit is taken apart along the way by which it came about (path.go). What each
// goroutine does is kept as intervals, each of which knows the one before it. An interval in
// which a goroutine was blocked also knows what its waker had done until then. So the time of
// a wait is that of the waker, or of its waker, and so on (segments.go): of the holder of a
// lock, of those who held it before, of who answers. A waker that did another unit first has
// that in its queue. The parts of a unit add up to its length, to the nanosecond.
//
// Units that wait for the same goroutine follow the same intervals: how these were divided is kept for
// the next one.
//
// Parts are summed by kind and latency, so that slow units can be compared with typical ones
// (sums.go, typical.go).
//
// # Bounds
//
// Memory depends on the goroutines alive, and on constants: of classes, of the nodes of a
// class's tree, of the events that undecided classes may keep, of kinds and the parts of their
// time, of intervals, the horizon of paths, and of steps along them. What is beyond a bound
// belongs to no unit, or to the rest, or is unknown, or is a wait for nobody who is known; it is
// never left out of a sum. A unit over a gap, or cut by an
// end of the trace, is open: it is never invented.
package work
