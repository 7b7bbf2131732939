package requests

import (
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/waits"
)

// Result is what the package hands on. Both lists begin with the type of the most time.
type Result struct {
	Tasks   []Type
	Regions []Type
	// Omitted is how many tasks and regions are in no type, because too many were open
	// at once.
	Omitted int64
}

// Type is what all tasks, or all regions, of one type have in common. Times are in ns.
type Type struct {
	Name    string // as the program calls it; "(other types)" for all beyond the first 200
	Count   int64  // that began, and ended
	Open    int64  // that began, and had not ended when the trace did
	Before  int64  // that ended, and had begun before the trace did
	TotalNs int64  // their lengths, summed
	P50Ns   int64  // half of them are at most so long
	P99Ns   int64  // 99 % of them are at most so long
	MaxNs   int64  // the longest
	Spent
	Slowest []Request // the longest ones, longest first
}

// Spent is what goroutines did for a request.
type Spent struct {
	breakdown.TimeByState
	Causes [waits.NumCauses]int64 // RunnableNs by cause, in the order of waits.Causes; a wait that was not over is in none
}

// Request is one task or region.
type Request struct {
	Task   int64 // number of the task; 0 for a region without one
	G      int64 // goroutine that began it
	Class  int32 // handle of its class
	FromNs int64
	ToNs   int64
	Spent
	Goroutines int64 // how many worked for it
	Logs       []Log // in its order; at most 32
	MoreLogs   int64 // further ones
	Parts      []Part
	MoreParts  int64 // further ones
}

// Log is a message that the program logged for a task.
type Log struct {
	AtNs int64
	G    int64
	Text string // category and message; "" if it was not kept
}

// Part is a region of a task.
type Part struct {
	FromNs int64
	ToNs   int64
	G      int64
	Name   string
}
