package jsondoc

import "github.com/gmpscope/gmpscope/analyze/waits"

// Fleet is the output of fleet --format json: many traces in groups. Each trace counts once,
// by its content, and once in each group that its labels name. Sums are exact, but saturate
// at 63 bits. Quantiles, medians and deviations are within 3 %.
type Fleet struct {
	Schema  int      `json:"schema"`   // version of the schema
	Tool    string   `json:"tool"`     // gmpscope and its version
	GroupBy []string `json:"group_by"` // labels by which traces are grouped; all traces have "gomaxprocs" and "go"
	FleetSums
	Groups     []FleetGroup   `json:"groups"`        // most waiting first
	Outliers   []FleetOutlier `json:"outliers"`      // groups, then traces, each by excess, most first; at most 200
	OutlierN   int64          `json:"outlier_count"` // number of all outliers
	Findings   []FleetFinding `json:"findings"`      // new ones first, then by cost; at most 1,000
	Classes    []FleetClass   `json:"classes"`       // of the program, longest waiting first; at most 200
	Work       []FleetKind    `json:"work"`          // by kind and user labels, most time first, those of one name by version; at most 200
	Versions   []FleetTrend   `json:"versions"`      // by service and version; empty without a label "version"
	Times      []FleetTrend   `json:"times"`         // by hour or day, UTC; of traces that have a time
	Worst      []FleetWait    `json:"worst"`         // longest waits, at most 20
	Unread     []FleetUnread  `json:"unread"`
	Conflicts  []FleetTrace   `json:"conflicts"`      // traces with different summaries, of which one counts; at most 100
	ConflictN  int64          `json:"conflict_count"` // number of all conflicts
	OtherGroup bool           `json:"other_group"`    // there are more than 2,000 groups: those whose first trace came late are one
}

// FleetSums is what some traces did together. WaitingNs and Causes are about finished
// waits of the program, without those after runtime.Gosched; Causes sum to WaitingNs.
type FleetSums struct {
	Traces            int64             `json:"traces"`              // number of traces
	Incomplete        int64             `json:"incomplete"`          // traces with lost or damaged parts
	DurationNs        int64             `json:"duration_ns"`         // sum
	RunningNs         int64             `json:"running_ns"`          // running time of goroutines of the program
	Waits             int64             `json:"waits"`               // how many
	WaitingNs         int64             `json:"waiting_ns"`          // sum of the waits
	WaitingPerRunning float64           `json:"waiting_per_running"` // WaitingNs / RunningNs
	P50Ns             int64             `json:"p50_ns"`              // median
	P99Ns             int64             `json:"p99_ns"`              // 99th percentile
	TimeP50Ns         int64             `json:"time_p50_ns"`         // median by waiting time
	MaxNs             int64             `json:"max_ns"`              // longest
	Causes            []waits.CauseTime `json:"causes"`              // in a fixed order
	IdleNs            int64             `json:"idle_ns"`             // idle P-time
	PNs               int64             `json:"p_ns"`                // recorded P-time
	Starts            int64             `json:"starts"`              // transitions from Runnable to Running
	Unexplained       int64             `json:"unexplained"`         // starts that no rule explains
	Steals            int64             `json:"steals"`              // how many
	Handoffs          int64             `json:"handoffs"`            // Ps handed to another thread
	Retakes           int64             `json:"retakes"`             // Ps taken from threads in system calls
	Preemptions       int64             `json:"preemptions"`         // goroutines made to yield
	Jain              FleetSpread       `json:"jain"`                // Jain's index
	Parallelism       FleetSpread       `json:"parallelism"`         // work / critical path
	Pressure          FleetSpread       `json:"pressure"`            // share of the time with a runnable goroutine
}

// FleetSpread is a distribution over traces.
type FleetSpread struct {
	P10 float64 `json:"p10"` // 10th percentile
	P50 float64 `json:"p50"` // median
	P90 float64 `json:"p90"` // 90th percentile
}

// FleetGroup is the traces with equal labels.
type FleetGroup struct {
	Labels []FleetLabel `json:"labels"` // as GroupBy
	FleetSums
	Median     float64    `json:"median"`      // median over its traces of waiting per running time
	MAD        float64    `json:"mad"`         // median distance of its traces from that
	OutlierN   int64      `json:"outliers"`    // its traces among the outliers
	FindingN   int64      `json:"findings"`    // its traces with a finding of warning or worse
	Finding    string     `json:"finding"`     // most frequent finding; empty for none
	Class      string     `json:"class"`       // class that waited longest; empty for none
	ClassNs    int64      `json:"class_ns"`    // waiting of that class
	WorstTrace FleetTrace `json:"worst_trace"` // most waiting per running time
}

// FleetLabel is a label and its value; empty where a trace has none.
type FleetLabel struct {
	Name  string `json:"name"`  // such as service
	Value string `json:"value"` // such as payments
}

// FleetTrace identifies a trace, and a window in it.
type FleetTrace struct {
	Key    string `json:"key"`     // SHA-256 of its bytes, uncompressed
	Trace  string `json:"trace"`   // base name; the first if there are several
	FromNs int64  `json:"from_ns"` // beginning of the window to look at
	ToNs   int64  `json:"to_ns"`   // end of the window; 0 for the whole trace
}

// FleetOutlier is a group or trace that waits more than its peers. Score is its distance
// from their median in deviations, 0.6745 × (value − median) / MAD, with MAD at least 5 % of
// the median; outliers have at least 3.5 (Iglewicz and Hoaglin).
type FleetOutlier struct {
	Kind   string       `json:"kind"`   // "group" or "trace"
	Labels []FleetLabel `json:"labels"` // of the group
	FleetTrace
	Peers    string  `json:"peers"`               // for a group, the label in which its peers differ from it; for a trace "group"
	PeerN    int64   `json:"peer_count"`          // number of peers, itself included
	Value    float64 `json:"waiting_per_running"` // for a group the median
	Median   float64 `json:"median"`              // of the peers
	MAD      float64 `json:"mad"`                 // of the peers
	Score    float64 `json:"score"`               // distance from the peers
	ExcessNs int64   `json:"excess_ns"`           // waiting beyond the peers' median
	Cause    string  `json:"cause"`               // main cause of the excess
	CauseNs  int64   `json:"cause_ns"`            // excess over the median of that cause
	Finding  string  `json:"finding"`             // costliest finding; empty for none
	Class    string  `json:"class"`               // class that waited longest; empty for none
}

// FleetFinding is a finding in the traces of one group of versions.
type FleetFinding struct {
	ID       string       `json:"id"`       // ID of the detector, for gmpscope explain
	Class    string       `json:"class"`    // class that it is about; empty for none
	Severity string       `json:"severity"` // highest
	Labels   []FleetLabel `json:"labels"`   // as GroupBy, without the version
	Traces   int64        `json:"traces"`   // number of traces that have it
	CostNs   int64        `json:"cost_ns"`  // goroutine-time, summed
	Versions []string     `json:"versions"` // versions that have it, in order; at most 16
	New      bool         `json:"new"`      // an earlier version has traces, but none has the finding: earlier than the first of Versions, or than --since
	Worst    FleetTrace   `json:"worst"`    // where it cost most
}

// FleetClass is a class of goroutines in all traces.
type FleetClass struct {
	Name       string            `json:"name"`       // start function of the class
	Creator    string            `json:"creator"`    // function that executed the go statement
	Traces     int64             `json:"traces"`     // number of traces that have it
	Goroutines int64             `json:"goroutines"` // number of goroutines
	RunningNs  int64             `json:"running_ns"` // running time
	Waits      int64             `json:"waits"`      // how many
	WaitingNs  int64             `json:"waiting_ns"` // sum of the waits
	P99Ns      int64             `json:"p99_ns"`     // 99th percentile
	Causes     []waits.CauseTime `json:"causes"`     // in a fixed order
}

// FleetKind is the units of work of one kind in the traces of a service and version.
type FleetKind struct {
	Labels  []FleetLabel `json:"labels"`   // as GroupBy, only user labels
	Name    string       `json:"name"`     // handler, test function or annotation; else the class
	How     string       `json:"how"`      // as in [UnitKind]; empty for several kinds together
	Traces  int64        `json:"traces"`   // number of traces that have it
	Count   int64        `json:"count"`    // whole units
	P50Ns   int64        `json:"p50_ns"`   // median
	P95Ns   int64        `json:"p95_ns"`   // 95th percentile
	P99Ns   int64        `json:"p99_ns"`   // 99th percentile
	MaxNs   int64        `json:"max_ns"`   // slowest
	TotalNs int64        `json:"total_ns"` // sum of latencies
	Parts   []FleetPart  `json:"parts"`    // what the units' own goroutines did or waited for, most first; they add up to TotalNs
}

// FleetPart is a part of the time of units.
type FleetPart struct {
	What  string `json:"what"`            // as in [TimePart]
	Cause string `json:"cause,omitempty"` // of runnable
	Where string `json:"where,omitempty"` // function
	Ns    int64  `json:"ns"`              // sum
}

// FleetTrend is the traces of a version, or of a time.
type FleetTrend struct {
	Labels            []FleetLabel      `json:"labels"`              // of a version, as GroupBy, only user labels; empty for a time
	From              string            `json:"from"`                // beginning of the time, RFC 3339; empty for a version
	Traces            int64             `json:"traces"`              // number of traces
	RunningNs         int64             `json:"running_ns"`          // running time of goroutines of the program
	WaitingNs         int64             `json:"waiting_ns"`          // sum of the waits
	WaitingPerRunning float64           `json:"waiting_per_running"` // WaitingNs / RunningNs
	P99Ns             int64             `json:"p99_ns"`              // 99th percentile
	Causes            []waits.CauseTime `json:"causes"`              // in a fixed order
}

// FleetWait is one long wait.
type FleetWait struct {
	FleetTrace
	G      int64  `json:"g"`       // goroutine
	Class  string `json:"class"`   // start function of the class
	WaitNs int64  `json:"wait_ns"` // length of the wait
	Source string `json:"source"`  // "src" of dump
	Cause  string `json:"cause"`   // main cause
}

// FleetUnread is an input that could not be used, or not to its end.
type FleetUnread struct {
	Name string `json:"name"` // base name
	Why  string `json:"why"`  // in one line
}
