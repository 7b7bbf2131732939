// Package requests answers: what did the program's own requests spend their time on? It
// is one of the accumulators of step 5 of [github.com/gmpscope/gmpscope/analyze], and
// tells of the tasks and regions of runtime/trace by type. A program without such
// annotations has none.
//
// A region lies on one goroutine: its split is what that goroutine did between its begin
// and its end, and adds up to its length.
//
// A task is followed across goroutines. At each instant those work for it that are in one
// of its regions; while none of the others is, the goroutine that began the task does
// too. Its split is that of all of them together, goroutine-time, which can be more than
// the task's length, and less if the one that began the task ended before it did. What a
// goroutine does for a task without a region on it is not known to be for the task.
package requests
