package jsondoc

import "github.com/gmpscope/gmpscope/analyze/waits"

// Requests are the tasks and regions of runtime/trace, by type. A program without such
// annotations has none.
type Requests struct {
	Tasks   []RequestType `json:"tasks"`             // types of tasks, that of the most time first; at most 200, and one for the others
	Regions []RequestType `json:"regions"`           // types of regions, likewise
	Omitted int64         `json:"omitted,omitempty"` // tasks and regions in no type, because too many were open at once; absent if none
}

// RequestType is what all tasks, or all regions, of one type have in common. The life is
// that of the goroutines while they worked for them: of a region, its own; of a task,
// those in its regions, and the one that began it while no other is in one.
type RequestType struct {
	Name    string `json:"name"`     // as the program calls it
	Count   int64  `json:"count"`    // how many began and ended
	Open    int64  `json:"open"`     // how many began and did not end before the trace did, or their goroutine
	Before  int64  `json:"before"`   // how many ended that had begun before the trace did
	TotalNs int64  `json:"total_ns"` // their lengths, summed
	P50     int64  `json:"p50_ns"`   // half of them are at most so long
	P99     int64  `json:"p99_ns"`   // 99 % of them are at most so long
	MaxNs   int64  `json:"max_ns"`   // the longest
	Life
	// Causes split RunnableNs, of the waits that were over in time.
	Causes  []waits.CauseTime `json:"causes"`
	Slowest []Request         `json:"slowest"` // the longest ones, longest first; at most 5
}

// Request is one task or region.
type Request struct {
	Task   int64  `json:"task,omitempty"` // number of the task; absent for a region without one
	G      int64  `json:"g"`              // goroutine that began it
	Class  string `json:"class"`          // its class
	FromNs int64  `json:"from_ns"`        // when it began
	ToNs   int64  `json:"to_ns"`          // when it ended
	Life
	Causes     []waits.CauseTime `json:"causes"`               // they split RunnableNs
	Goroutines int64             `json:"goroutines"`           // how many worked for it
	Logs       []RequestLog      `json:"logs"`                 // what was logged for it, in its order; at most 32
	MoreLogs   int64             `json:"more_logs,omitempty"`  // further ones; absent if none
	Parts      []RequestPart     `json:"parts"`                // regions of the task, in the order of their ends; at most 32
	MoreParts  int64             `json:"more_parts,omitempty"` // further ones; absent if none
}

// RequestLog is a message that the program logged for a task.
type RequestLog struct {
	AtNs int64  `json:"at_ns"` // when
	G    int64  `json:"g"`     // goroutine
	Text string `json:"text"`  // category and message; empty if it was not kept
}

// RequestPart is a region of a task.
type RequestPart struct {
	Name   string `json:"name"`    // its type
	G      int64  `json:"g"`       // goroutine
	FromNs int64  `json:"from_ns"` // when it began
	ToNs   int64  `json:"to_ns"`   // when it ended
}
