package jsondoc

import "github.com/gmpscope/gmpscope/analyze/waits"

// Fleet is what fleet writes with --format json: many traces in groups. Each trace counts
// once, by its content; in groups once in each that its labels name. Sums are exact, those of more than
// 63 bits stay at the most. Quantiles are within 3 %, and so are medians and
// deviations.
type Fleet struct {
	Schema  int      `json:"schema"`   // version of this schema
	Tool    string   `json:"tool"`     // gmpscope and its version
	GroupBy []string `json:"group_by"` // the labels by which traces are grouped; "gomaxprocs" and "go" traces have by themselves
	FleetSums
	Groups     []FleetGroup   `json:"groups"`         // by waiting, most first
	Outliers   []FleetOutlier `json:"outliers"`       // groups, then traces, each by excess, most first; at most 200
	OutlierN   int64          `json:"outlier_count"`  // all of them
	Findings   []FleetFinding `json:"findings"`       // those that are new first, then by cost; at most 1,000
	Classes    []FleetClass   `json:"classes"`        // of the program, by waiting, longest first; at most 200
	Work       []FleetKind    `json:"work"`           // units of work by kind and the labels of users, that of the most time first, those of one name by version; at most 200
	Versions   []FleetTrend   `json:"versions"`       // by service and version, in their order; empty without a label "version"
	Times      []FleetTrend   `json:"times"`          // by hour or day of UTC, in their order; of traces that tell it
	Worst      []FleetWait    `json:"worst"`          // the longest waits, at most 20
	Unread     []FleetUnread  `json:"unread"`         // inputs that could not be used, or not to their end
	Conflicts  []FleetTrace   `json:"conflicts"`      // traces of which there are different summaries; one of them counts; at most 100
	ConflictN  int64          `json:"conflict_count"` // all of them
	OtherGroup bool           `json:"other_group"`    // there are more than 2,000 groups: those whose first trace came late are one
}

// FleetSums is what some traces did together. WaitingNs and Causes are about finished
// waits of the program, without those after runtime.Gosched; Causes sum to WaitingNs.
type FleetSums struct {
	Traces            int64             `json:"traces"`              // how many
	Incomplete        int64             `json:"incomplete"`          // of them, those with lost or damaged parts
	DurationNs        int64             `json:"duration_ns"`         // of all, summed
	RunningNs         int64             `json:"running_ns"`          // how long goroutines of the program ran
	Waits             int64             `json:"waits"`               // how many there were
	WaitingNs         int64             `json:"waiting_ns"`          // how long they were together
	WaitingPerRunning float64           `json:"waiting_per_running"` // WaitingNs by RunningNs
	P50Ns             int64             `json:"p50_ns"`              // half of the waits are at most this
	P99Ns             int64             `json:"p99_ns"`              // 99 % of the waits are at most this
	TimeP50Ns         int64             `json:"time_p50_ns"`         // half of the waiting lies in waits of at most this
	MaxNs             int64             `json:"max_ns"`              // the longest
	Causes            []waits.CauseTime `json:"causes"`              // all causes, in a fixed order
	IdleNs            int64             `json:"idle_ns"`             // how long Ps were idle
	PNs               int64             `json:"p_ns"`                // how long there were Ps, of which the trace shows what they did
	Starts            int64             `json:"starts"`              // transitions from Runnable to Running
	Unexplained       int64             `json:"unexplained"`         // of them, those that no rule explains
	Steals            int64             `json:"steals"`              // how many
	Handoffs          int64             `json:"handoffs"`            // Ps given to another thread
	Retakes           int64             `json:"retakes"`             // Ps taken from threads in system calls
	Preemptions       int64             `json:"preemptions"`         // goroutines made to yield
	Jain              FleetSpread       `json:"jain"`                // Jain's index within a trace, over traces
	Parallelism       FleetSpread       `json:"parallelism"`         // work by critical path within a trace, over traces
	Pressure          FleetSpread       `json:"pressure"`            // share of the time in which a goroutine was runnable, over traces
}

// FleetSpread is the distribution over traces of what does not add up.
type FleetSpread struct {
	P10 float64 `json:"p10"` // a tenth of the traces have at most this
	P50 float64 `json:"p50"` // half of them
	P90 float64 `json:"p90"` // nine tenths
}

// FleetGroup is the traces with equal labels.
type FleetGroup struct {
	Labels []FleetLabel `json:"labels"` // as GroupBy
	FleetSums
	Median     float64    `json:"median"`      // over its traces, of waiting per running time
	MAD        float64    `json:"mad"`         // median distance of its traces from that
	OutlierN   int64      `json:"outliers"`    // traces of it among the outliers
	FindingN   int64      `json:"findings"`    // traces of it that have a finding of warning or worse
	Finding    string     `json:"finding"`     // the finding that most of them have; empty for none
	Class      string     `json:"class"`       // the class that waited longest; empty for none
	ClassNs    int64      `json:"class_ns"`    // how long
	WorstTrace FleetTrace `json:"worst_trace"` // the trace that waited longest by running time
}

// FleetLabel is a label and its value; empty where a trace has none.
type FleetLabel struct {
	Name  string `json:"name"`  // such as service
	Value string `json:"value"` // such as payments
}

// FleetTrace names a trace.
type FleetTrace struct {
	Key    string `json:"key"`     // SHA-256 of its bytes, uncompressed
	Trace  string `json:"trace"`   // the last part of its path; the first of them if there are several
	FromNs int64  `json:"from_ns"` // the window to look at
	ToNs   int64  `json:"to_ns"`   // its end; 0 for all of it
}

// FleetOutlier is a group or trace that waits more than its peers. Score is its distance
// from their median in deviations: 0.6745 × (value − median) / MAD, with at least 5 % of the
// median for MAD; from 3.5 on it is one (Iglewicz and Hoaglin).
type FleetOutlier struct {
	Kind   string       `json:"kind"`   // "group" or "trace"
	Labels []FleetLabel `json:"labels"` // the group
	FleetTrace
	// Peers reports what it is held against: for a group the label in which its peers differ from
	// it; for a trace "group".
	Peers    string  `json:"peers"`
	PeerN    int64   `json:"peer_count"`          // how many, itself included
	Value    float64 `json:"waiting_per_running"` // of a group its median
	Median   float64 `json:"median"`              // that of the peers
	MAD      float64 `json:"mad"`                 // of the peers
	Score    float64 `json:"score"`               // the distance
	ExcessNs int64   `json:"excess_ns"`           // waiting beyond what it would be at the median
	Cause    string  `json:"cause"`               // the cause that owns most of the excess
	CauseNs  int64   `json:"cause_ns"`            // how much of it is beyond that cause's median
	Finding  string  `json:"finding"`             // its costliest finding; empty for none
	Class    string  `json:"class"`               // the class that waited longest; empty for none
}

// FleetFinding is a finding in the traces of one group of versions.
type FleetFinding struct {
	ID       string       `json:"id"`       // the detector's
	Class    string       `json:"class"`    // whom it is about; empty for none
	Severity string       `json:"severity"` // the highest
	Labels   []FleetLabel `json:"labels"`   // as GroupBy, without the version
	Traces   int64        `json:"traces"`   // that have it
	CostNs   int64        `json:"cost_ns"`  // goroutine-time, summed
	Versions []string     `json:"versions"` // that have it, in their order; at most 16
	// New is set where no trace of an earlier version has it, and there is one: earlier
	// than the first of Versions, or, with --since, than that.
	New   bool       `json:"new"`
	Worst FleetTrace `json:"worst"` // where it cost most
}

// FleetClass is a class of goroutines in all traces.
type FleetClass struct {
	Name       string            `json:"name"`       // start function
	Creator    string            `json:"creator"`    // function that executed the go statement
	Traces     int64             `json:"traces"`     // that have it
	Goroutines int64             `json:"goroutines"` // how many
	RunningNs  int64             `json:"running_ns"` // how long they ran
	Waits      int64             `json:"waits"`      // how many
	WaitingNs  int64             `json:"waiting_ns"` // how long they were
	P99Ns      int64             `json:"p99_ns"`     // 99 % of the waits are at most this
	Causes     []waits.CauseTime `json:"causes"`     // all causes, in a fixed order
}

// FleetKind is the units of work of one kind in the traces of a service and version.
type FleetKind struct {
	Labels  []FleetLabel `json:"labels"`   // as GroupBy, without labels that traces have by themselves
	Name    string       `json:"name"`     // the handler or test function, or what is annotated; else the class
	How     string       `json:"how"`      // how they were found, as in [UnitKind]; empty for many kinds together
	Traces  int64        `json:"traces"`   // that have it
	Count   int64        `json:"count"`    // units that are whole
	P50Ns   int64        `json:"p50_ns"`   // half of the units take at most this
	P95Ns   int64        `json:"p95_ns"`   // 95 % of them
	P99Ns   int64        `json:"p99_ns"`   // 99 %
	MaxNs   int64        `json:"max_ns"`   // the slowest
	TotalNs int64        `json:"total_ns"` // the latencies, summed
	Parts   []FleetPart  `json:"parts"`    // of it, by what the units' own goroutines did or waited for, most first; they add up to it
}

// FleetPart is a part of the time of units.
type FleetPart struct {
	What  string `json:"what"`            // as in [TimePart]
	Cause string `json:"cause,omitempty"` // of runnable
	Where string `json:"where,omitempty"` // function
	Ns    int64  `json:"ns"`              // how long
}

// FleetTrend is what the traces of a version, or a time, did together.
type FleetTrend struct {
	Labels            []FleetLabel      `json:"labels"`              // of a version as GroupBy, without labels that traces have by themselves; empty of a time
	From              string            `json:"from"`                // beginning of the time, RFC 3339; empty of a version
	Traces            int64             `json:"traces"`              // how many
	RunningNs         int64             `json:"running_ns"`          // how long goroutines ran
	WaitingNs         int64             `json:"waiting_ns"`          // how long they waited
	WaitingPerRunning float64           `json:"waiting_per_running"` // the one by the other
	P99Ns             int64             `json:"p99_ns"`              // 99 % of the waits are at most this
	Causes            []waits.CauseTime `json:"causes"`              // all causes, in a fixed order
}

// FleetWait is one long wait.
type FleetWait struct {
	FleetTrace
	G      int64  `json:"g"`       // the goroutine
	Class  string `json:"class"`   // its class
	WaitNs int64  `json:"wait_ns"` // how long it was
	Source string `json:"source"`  // where it was taken from, as "src" of dump
	Cause  string `json:"cause"`   // the cause that owns most of it
}

// FleetUnread is an input that could not be used, or not to its end.
type FleetUnread struct {
	Name string `json:"name"` // the last part of its path
	Why  string `json:"why"`  // one line
}
