// Package tracewriter writes a simulated run as an execution trace in the format
// since Go 1.22, which golang.org/x/exp/trace reads to its end: so that what the
// reconstruction says about a run can be held against what the simulator did.
//
// A Writer takes the decisions of reference/sim in order. What is observable
// becomes events, as the runtime would write them; what no trace shows (steals,
// overflows, batches, the tail of which queue) is left out. Three things are in
// the trace that the model has no goroutine for:
//
//   - who stops the world, collects garbage and states GOMAXPROCS: a goroutine on
//     a P of its own, above all others, that runs only then;
//   - sysmon: a thread without a P;
//   - arrivals: goroutines that were blocked before the trace began, and are made
//     runnable by a thread without a P, as by injectglist. After the first
//     generation no such goroutine can be introduced; then they come out of a
//     system call, without a P, as those of a cgo callback do.
//
// Events are strictly in order of time: where the simulator does several things
// at one instant, they are a ns apart.
package tracewriter
